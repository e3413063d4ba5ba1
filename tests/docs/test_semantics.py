"""Every row of every table in docs/reference/semantics.md holds, in every reader of a filter."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import thatch
from thatch.matching import reference
from thatch.model.language import expression_of

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "semantics.md"
SCHEMA = thatch.Schema(
    {"qty": thatch.Integer(0, 1000), "side": thatch.Enum("buy", "sell"), "price": thatch.Decimal(places=2)}
)


def _rows(header: str) -> list[tuple[object, ...]]:
    """The cells of all tables with that header, with the schema of the part they stand in."""
    rows, is_inside = [], False
    schema = None
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            schema = SCHEMA if line == "## Declared types" else None
        if line.startswith(header):
            is_inside = True
        elif not line.startswith("|"):
            is_inside = False
        elif is_inside and not line.startswith("|---"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
            rows.append((*(cell.strip("`") for cell in cells), schema))
    assert rows
    return rows


@pytest.mark.parametrize(("text", "event", "answer", "schema"), _rows("| filter | event |"))
def test_a_filter_matches_as_the_page_says(
    text: str, event: str, answer: str, schema: thatch.Schema | None
) -> None:
    wanted = {"yes": True, "no": False}[answer]
    read = json.loads(event)
    parsed = thatch.parse(text, schema)
    assert parsed.matches(read) is wanted
    assert bool(parsed.explain(read)) is wanted
    assert reference.matches(expression_of(text), read, schema) is wanted
    assert thatch.parse(str(parsed), schema) == parsed
    engine = thatch.Engine(schema)
    engine.subscribe("it", text)
    assert engine.match(read) == ["it"] * wanted


@pytest.mark.parametrize(("text", "reason", "schema"), _rows("| filter | reason |"))
def test_a_filter_is_refused_as_the_page_says(text: str, reason: str, schema: thatch.Schema | None) -> None:
    with pytest.raises(thatch.FilterError, match=re.escape(reason)):
        thatch.parse(text, schema)


@pytest.mark.parametrize(("first", "second", "covers", "meets", "schema"), _rows("| first | second |"))
def test_covering_and_intersection_are_as_the_page_says(
    first: str, second: str, covers: str, meets: str, schema: thatch.Schema | None
) -> None:
    outer, inner = thatch.parse(first, schema), thatch.parse(second, schema)
    assert outer.covers(inner) is (covers == "yes")
    assert outer.intersects(inner) is (meets == "yes")
    assert inner.intersects(outer) is (meets == "yes")
