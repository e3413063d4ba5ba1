"""Engines and tables of events, for the tests of batches and of pieces."""

from __future__ import annotations

from itertools import pairwise
from math import inf, nan
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import strategies as st

import thatch
from tests.strategies import EDGE_NUMBERS, NAMES, SMALL_NUMBERS, degrees, texts
from thatch.engine import batches
from thatch.errors import FilterError
from thatch.matching import growing
from thatch.matching.segments import batches as batch
from thatch.matching.segments import index as segment_index
from thatch.model.expressions import Expression
from thatch.model.filters import Filter

__all__ = [
    "MASKS",
    "WAYS",
    "accepted",
    "boxes",
    "filled",
    "large_table",
    "pairs",
    "rows_of",
    "subscriptions_of",
    "tables",
]

WAYS = ("small", "one segment", "segments and a delta", "after deaths")
MASKS = {"masked": {"_FEWEST": 1, "_PER_SIDE": -1.0}, "searched": {"_PER_BLOCK": -1.0}}


def pairs(table: pa.Table) -> list[tuple[int, str]]:
    return [*zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True)]


def subscriptions_of(filters: dict[str, Any]) -> pa.Table:
    return pa.table({"subscription": [*filters], "filter": [str(each) for each in filters.values()]})


def filled(filters: dict[str, Any], way: str, patched: pytest.MonkeyPatch) -> thatch.Engine:
    """An engine with filters by id, that came to have them in one way or another."""
    if way != "small":
        patched.setattr(growing, "FEW", 1)  # segments from the first filter on
    if way == "segments and a delta":
        patched.setattr(segment_index, "CAPACITY", 3)
    engine = thatch.Engine(background=False)
    if way == "after deaths":
        engine.subscribe("dead", "exists(x) or x is missing")
        engine.subscribe_many(subscriptions_of({f"dead {name}": each for name, each in filters.items()}))
        engine.subscribe_many(subscriptions_of(dict.fromkeys(filters, "x = 1 or lower(y) = 'a'")))
    if way == "one segment":
        assert engine.subscribe_many(subscriptions_of(filters)).num_rows == 0
    for name, each in filters.items():
        engine.subscribe(name, each)
    for name in [each for each in engine if each.startswith("dead")]:
        engine.unsubscribe(name)
    return engine


def rows_of(table: pa.Table, nulls: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.to_pylist() if table.num_columns else [{}] * table.num_rows
    if nulls == "null":
        return rows
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


# --- drawn ----------------------------------------------------------------------------------------------------

_COLUMNS: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.bool_(), st.booleans()),
    (pa.int8(), st.integers(-3, 5)),
    (pa.int64(), st.integers(-3, 5)),
    (pa.int64(), st.sampled_from([each for each in EDGE_NUMBERS if isinstance(each, int)])),
    (pa.uint64(), st.sampled_from([0, 1, 2, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1])),
    (pa.float64(), st.sampled_from([*map(float, SMALL_NUMBERS), nan, inf, -inf, 2.0**53, -(2.0**60), 5e-324])),
    (pa.float32(), st.sampled_from([0.0, -0.0, 0.5, 1.0, nan, inf])),
    (pa.string(), texts),
    (pa.large_string(), texts),
    (pa.string_view(), texts),
    (pa.null(), st.none()),
]  # fmt: skip


@st.composite
def columns(draw: st.DrawFn, rows: int, values: st.SearchStrategy[Any] | None = None) -> pa.ChunkedArray:
    """A column in one to three chunks, with nulls, as it is or by a dictionary that has null among its words."""
    kind, elements = draw(st.sampled_from(_COLUMNS))
    if values is not None:
        kind, elements = pa.float64(), values
    listed = draw(st.lists(st.one_of(elements, elements, st.none()), min_size=rows, max_size=rows))
    cuts = sorted(draw(st.lists(st.integers(0, rows), max_size=2)))
    if kind != pa.null() and draw(st.booleans()):
        words = pa.array([*dict.fromkeys(listed), None], kind)
        numbers = {value: position for position, value in enumerate(words.to_pylist()[:-1])}
        codes = [None if value is None and draw(st.booleans()) else numbers.get(value) for value in listed]
        whole: Any = pa.DictionaryArray.from_arrays(
            pa.array(codes, draw(st.sampled_from([pa.int8(), pa.uint32()]))), words
        )
    else:
        whole = pa.array(listed, kind)
    ends = [0, *cuts, rows]
    return pa.chunked_array([whole[a:b] for a, b in pairwise(ends)], whole.type)


@st.composite
def tables(draw: st.DrawFn, most: int = 6) -> pa.Table:
    """A table of plain columns, perhaps cut out of a larger one; no rows and no columns too."""
    rows = draw(st.integers(0, most))
    names = draw(st.lists(st.sampled_from([*NAMES, "nobody asks"]), unique=True, max_size=6))
    sides = st.one_of(degrees.filter(lambda each: type(each) in (int, float)).map(float))
    drawn = {
        name: draw(columns(rows, sides if name in {"lat", "lon"} and draw(st.booleans()) else None))
        for name in names
    }
    table = pa.table(drawn) if drawn else pa.table({"x": [0] * rows}).select([])
    return table.slice(draw(st.integers(0, rows)), draw(st.integers(0, rows)))


def accepted(drawn: list[Expression]) -> dict[str, tuple[Expression, Filter]]:
    held = {}
    for number, expression in enumerate(drawn):
        try:
            held[f"s{number}"] = (expression, Filter.of(expression))
        except FilterError:
            continue
    return held


# --- large ----------------------------------------------------------------------------------------------------


def boxes(count: int, seed: int) -> dict[str, str]:
    """Boxes on one to six of eight attributes of numbers and texts; some ask for what is missing, or for nothing."""
    rng = np.random.default_rng(seed)
    listed = {"all": "true", "some": "b0 is missing", "null": "n is null"}
    for number in range(count):
        sides = []
        for attribute in rng.permutation(8)[: rng.integers(1, 7)]:
            low = rng.integers(0, 60)
            if attribute < 6:
                sides.append(f"a{attribute} between {low} and {low + rng.integers(10, 90)}")
            else:
                sides.append(f"b{attribute - 6} >= 'key of many {low:02}'")
        listed[f"s{number}"] = " and ".join(sides)
    return listed


def large_table(rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    drawn: dict[str, Any] = {f"a{each}": rng.integers(0, 100, rows).astype(np.int16) for each in range(5)}
    drawn["a5"] = pa.array(rng.uniform(0, 100, rows), mask=rng.random(rows) < 0.3)
    words = [f"key of many {number:02}" for number in range(100)]
    drawn["b0"] = pa.array([words[each] for each in rng.integers(0, 100, rows)], mask=rng.random(rows) < 0.3)
    drawn["b1"] = drawn["b0"].dictionary_encode()
    drawn["n"] = pa.nulls(rows)
    return pa.table(drawn)


def forced(patched: pytest.MonkeyPatch, masks: str, room: int = 1 << 21, piece: int = 1 << 20) -> None:
    """Let batches be matched in one way, with so much room."""
    for name, value in MASKS[masks].items():
        patched.setattr(batch, name, value)
    patched.setattr(batch, "_ROOM", room)
    patched.setattr(batches, "_PIECE", piece)


def engine_of(filters: dict[str, str], **options: Any) -> thatch.Engine:
    engine = thatch.Engine(background=False, **options)
    rejects = engine.subscribe_many(pa.table({"subscription": [*filters], "filter": [*filters.values()]}))
    assert rejects.num_rows == 0
    return engine
