"""The grammar and every row of docs/reference/filters.md hold."""

from __future__ import annotations

import json
import re
from math import inf
from pathlib import Path
from textwrap import dedent

import pytest

import thatch
from thatch.model.language import patterns, text

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "filters.md").read_text(encoding="utf-8")


def _rows(header: str) -> list[list[str]]:
    """The cells of the table with that header, as code where they are."""
    table = PAGE.partition(header)[2].partition("\n\n")[0].splitlines()[2:]
    assert table
    return [[cell.strip().strip("`") for cell in re.split(r"(?<!\\)\|", row.strip("|"))] for row in table]


def test_the_grammar_is_that_of_the_parser():
    grammar = PAGE.partition("```\n")[2].partition("```")[0]
    assert text.__doc__ is not None
    written = text.__doc__.partition("\n\n")[2].partition("\n\nKey words")[0]
    assert grammar.strip() == dedent(written).strip()


@pytest.mark.parametrize(("one", "other"), _rows("| text | is the same as |"))
def test_two_texts_are_the_same_filter(one, other):
    assert thatch.parse(one) == thatch.parse(other)


@pytest.mark.parametrize(("name", "pattern", "as_text"), _rows("| EventBridge calls it |"))
def test_a_pattern_is_the_filter_that_stands_beside_it(name, pattern, as_text):
    assert name
    assert thatch.parse(pattern) == thatch.parse(json.loads(pattern)) == thatch.parse(as_text)


def test_every_operator_of_patterns_is_on_the_page():
    shown = {pattern for _, pattern, _ in _rows("| EventBridge calls it |")}
    for name in patterns.OPERATORS:
        assert any(f'"{name}"' in pattern for pattern in shown), name


@pytest.mark.parametrize(("name", "described", "declared"), _rows("| type | JSON | Python |"))
def test_a_type_is_described_as_the_page_says(name, described, declared):
    assert name
    names = {each: getattr(thatch, each) for each in ("Integer", "Number", "Decimal", "Text", "Enum")}
    made = thatch.Schema({"x": eval(declared, {**names, "inf": inf})})
    read = thatch.Schema.from_description({"x": json.loads(described)})
    assert read == made
    assert thatch.Schema.from_description(json.loads(json.dumps(made.describe(), allow_nan=False))) == made
