"""Engines made of arrays of bounds, or of a table: what they answer, and what they refuse."""

from __future__ import annotations

from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thatch
from thatch.errors import SubscriptionError, TableError, ThatchError

from_columns = thatch.Engine.from_columns

_numbers = st.one_of(
    st.integers(-3, 9),
    st.sampled_from([0.5, -0.0, 1e300, 5e-324, 2.0**53, 2.0**53 + 2]),
    st.just(inf),
    st.just(-inf),
)
_NAMES = ["x", "y", "a.b", "d-t", "lower(z)", ""]


def by_text(rows: list[dict[str, tuple[float, float]]]) -> thatch.Engine:
    engine = thatch.Engine()
    for number, sides in enumerate(rows):
        engine.subscribe(f"s{number}", _filter(sides))
    return engine


def _filter(sides: dict[str, tuple[float, float]]) -> thatch.Filter:
    """The filter that a row of closed bounds stands for; an infinite one is no bound, but asks for a number."""
    parts = []
    for name, (low, high) in sides.items():
        parts += [thatch.attr(name) >= low, thatch.attr(name) <= high]
    whole: Any = parts[0] if parts else "true"
    for each in parts[1:]:
        whole &= each
    return thatch.parse(whole)


@st.composite
def boxes(draw: st.DrawFn) -> list[dict[str, tuple[float, float]]]:
    bounds = st.tuples(_numbers, _numbers).map(sorted).filter(lambda pair: pair[0] < inf and pair[1] > -inf)
    rows = st.dictionaries(st.sampled_from(_NAMES), bounds.map(lambda pair: (pair[0], pair[1])), max_size=4)
    return draw(st.lists(rows, max_size=8))


def as_offsets(rows: list[dict[str, tuple[float, float]]]) -> dict[str, Any]:
    sides = [(_NAMES.index(name), *pair) for row in rows for name, pair in row.items()]
    return {
        "low": np.array([low for _, low, _ in sides], np.float64),
        "high": np.array([high for _, _, high in sides], np.float64),
        "offsets": np.cumsum([0, *map(len, rows)]),
        "attribute": [number for number, _, _ in sides],
    }


def as_matrix(rows: list[dict[str, tuple[float, float]]]) -> dict[str, Any]:
    low, high = np.full((2, len(rows), len(_NAMES)), nan)
    for number, row in enumerate(rows):
        for name, pair in row.items():
            low[number, _NAMES.index(name)], high[number, _NAMES.index(name)] = pair
    return {"low": low, "high": high}


# --- what they answer ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [as_offsets, as_matrix])
@given(rows=boxes(), data=st.data())
def test_bounds_answer_as_the_same_filters_do(columns: Any, rows: Any, data: st.DataObject) -> None:
    ids = [f"s{number}" for number in range(len(rows))]
    engine, other = from_columns(ids, _NAMES, **columns(rows)), by_text(rows)
    values = st.one_of(_numbers, st.sampled_from([nan, None, True, "a", 2**53 + 1]))
    for event in data.draw(
        st.lists(st.dictionaries(st.sampled_from(_NAMES), values), min_size=1, max_size=6)
    ):
        assert engine.match(event) == other.match(event)
    assert engine.subscriptions().equals(other.subscriptions())
    for identity in ids:
        assert engine.filter(identity) == other.filter(identity)
    assert list(engine) == ids


def test_dots_in_names_are_paths() -> None:
    engine = from_columns(["s"], ["a.b"], [[1]], [[2]])
    assert (
        engine.match({"a": {"b": 1}})
        == engine.match({"a.b": 2})
        == engine.match({"a": [{"b": 1.5}]})
        == ["s"]
    )
    assert str(engine.filter("s")) == "a.b between 1 and 2"


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float16, np.float32])
def test_any_kind_of_number_is_taken(kind: Any) -> None:
    engine = from_columns(["s"], ["x"], np.array([[3]], kind), np.array([[5]], kind))
    assert str(engine.filter("s")) == "x between 3 and 5"
    arrow = from_columns(
        ["s"], ["x"], pa.array([3]), pa.array([5]), offsets=pa.array([0, 1]), attribute=pa.array([0])
    )
    assert arrow.filter("s") == engine.filter("s")


@pytest.mark.parametrize(
    ("number", "kind"),
    [(2**53, np.int64), (-(2**53), np.int64), (2**53 + 2, np.int64), (2**62, np.int64), (-(2**63), np.int64),
     (2**63, np.uint64), (2**64 - 2**11, np.uint64)],
)  # fmt: skip
def test_long_integers_that_a_double_equals_are_taken(number: int, kind: Any) -> None:
    engine = from_columns(["s"], ["x"], np.array([[number]], kind), np.array([[number]], kind))
    assert engine.match({"x": float(number)}) == ["s"]
    assert engine.filter("s") == thatch.parse(thatch.attr("x") == float(number))


@pytest.mark.parametrize(
    ("number", "kind"),
    [(2**53 + 1, np.int64), (-(2**53) - 1, np.int64), (2**53 + 3, np.uint64), (2**63 - 1, np.int64),
     (2**63 - 513, np.int64), (2**64 - 1, np.uint64), (2**64 - 1024, np.uint64)],
)  # fmt: skip
@pytest.mark.parametrize("which", ["low", "high"])
def test_long_integers_that_no_double_equals_are_refused(number: int, kind: Any, which: str) -> None:
    bounds: dict[str, Any] = {"low": np.array([[-5.0]]), "high": np.array([[1e300]])}
    if which == "high" and number < 0:
        bounds["low"] = np.array([[-1e300]])
    with pytest.raises(TableError, match=f"(?s)equals no double.*{which}"):
        from_columns(["s"], ["x"], **{**bounds, which: np.array([[number]], kind)})


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
)
def test_ids_may_be_any_texts_of_arrow(kind: pa.DataType) -> None:
    ids = pa.chunked_array([pa.array(["a", "é"], kind), pa.array(["\n"], kind)])
    for given_ids in (ids, ids.combine_chunks(), np.array(ids.to_pylist(), object), iter(ids.to_pylist())):
        engine = from_columns(given_ids, ["x"], [[1], [2], [3]], [[9], [9], [9]])
        assert engine.match({"x": 2}) == ["a", "é"]


def test_subscribers_are_those_given() -> None:
    for who in (["u", None, "u"], pa.array(["u", None, "u"])):
        engine = from_columns(["a", "b", "c"], ["x"], [[1]] * 3, [[2]] * 3, subscribers=who)
        assert engine.match({"x": 1}, by="subscriber") == ["u", "b"]
        assert engine.subscriptions()["subscriber"].to_pylist() == ["u", None, "u"]


@pytest.mark.parametrize("attributes", [[], ["x", "y"]])
def test_nothing_is_a_set_of_boxes_too(attributes: list[str]) -> None:
    nothing = np.zeros((0, len(attributes)))
    for engine in (
        from_columns([], attributes, nothing, nothing),
        from_columns(pa.array([], pa.string()), attributes, [], [], offsets=[0], attribute=[]),
    ):
        assert len(engine) == 0
        assert engine.match({"x": 1}) == []
        engine.subscribe("s", "x = 1")
        assert engine.match({"x": 1}) == ["s"]
    everything = from_columns(
        ["a", "b"], attributes, np.full((2, len(attributes)), nan), np.full((2, len(attributes)), nan)
    )
    assert everything.match({}) == ["a", "b"]


@pytest.mark.slow
def test_such_an_engine_lives_on_like_any_other(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    low = rng.integers(0, 50, (2_000, 3))
    high = low + rng.integers(0, 50, (2_000, 3))
    engine = from_columns(
        [f"s{number}" for number in range(2_000)], ["x", "y", "z"], low, high, subscribers=["u"] * 2_000
    )
    engine.unsubscribe("s7")
    engine.subscribe("s8", "x = 1000")
    engine.subscribe("new", "x = 25 or w = 'a'")
    alive = [number for number in range(2_000) if number not in (7, 8)]

    def wanted(x: int, y: int, z: int) -> list[str]:
        inside: Any = ((low <= (x, y, z)) & (high >= (x, y, z))).all(axis=1)
        return [f"s{number}" for number in alive if inside[number]] + ["new"] * (x == 25)

    engine.save(tmp_path / "engine")
    engines = [engine, thatch.Engine.open(tmp_path / "engine"), thatch.Engine.open(tmp_path / "engine", "a")]
    engines[2].compact()
    for each in engines:
        assert len(each) == 2_000
        for point in [(25, 30, 40), (50, 50, 50), (0, 0, 0), (99, 99, 99)]:
            assert each.match(dict(zip("xyz", point, strict=True))) == wanted(*point)
        assert each.match({"x": 1000, "w": "a"}) == ["s8", "new"]
        assert each.subscriptions().equals(engine.subscriptions())


def test_one_box_of_more_attributes_than_a_segment_numbers_is_refused() -> None:
    count = 70_000
    names = [f"n{number}" for number in range(count)]
    with pytest.raises(TableError, match=r"60,000(?s:.*)row 0"):
        from_columns(["s"], names, np.zeros((1, count)), np.ones((1, count)))


# --- what they refuse ------------------------------------------------------------------------------------------------

MATRIX: dict[str, Any] = {
    "subscriptions": ["a", "b"],
    "attributes": ["x", "y"],
    "low": [[0, 0], [1, 1]],
    "high": [[2, 2], [3, 3]],
}
SIDES: dict[str, Any] = {
    "subscriptions": ["a", "b"], "attributes": ["x", "y"], "low": [0, 0, 1], "high": [2, 2, 3],
    "offsets": [0, 2, 3], "attribute": [0, 1, 1],
}  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "error", "match"),
    [
        ({"subscriptions": ["a", "a"]}, SubscriptionError, "once.*row 1"),
        ({"subscriptions": ["a", 5]}, SubscriptionError, "text.*row 1"),
        ({"subscriptions": ["a", None]}, SubscriptionError, "text.*row 1"),
        ({"subscriptions": ["a", "\ud800"]}, SubscriptionError, "text"),
        ({"subscriptions": pa.array([1, 2])}, SubscriptionError, "text"),
        ({"subscriptions": pa.array(["a", None])}, SubscriptionError, "row 1"),
        ({"subscriptions": pa.array(["a", "a"])}, SubscriptionError, "row 1"),
        ({"subscriptions": ["a"]}, TableError, ""),
        ({"subscriptions": None}, ThatchError, ""),
        ({"attributes": None}, ThatchError, ""),
        ({"attributes": ["x", 5]}, TableError, "names"),
        ({"attributes": ["x", "\ud800"]}, TableError, "names"),
        ({"attributes": ["x", "x"]}, TableError, "once"),
        ({"attributes": ["x"]}, TableError, ""),
        ({"attributes": ["x", "y", "z"]}, TableError, ""),
        ({"low": [[0, 0]]}, TableError, "same shape"),
        ({"low": [[0, 0], [1]]}, ThatchError, ""),
        ({"low": [["0", "0"], ["1", "1"]]}, TableError, "numbers"),
        ({"low": [[None, 0], [1, 1]]}, TableError, "numbers"),
        ({"low": [[True, False], [True, True]]}, TableError, "numbers"),
        ({"low": [[2**70, 0], [1, 1]]}, TableError, "numbers"),
        ({"low": 5, "high": 5}, TableError, "numbers"),
        ({"low": [[[0]]], "high": [[[0]]]}, TableError, "numbers"),
        ({"low": [[0, 0], [4, 1]]}, SubscriptionError, "low <= high.*row 1.*'x'"),
        ({"low": [[0, 0], [1, nan]]}, SubscriptionError, "row 1.*'y'"),
        ({"high": [[2, 2], [3, nan]]}, SubscriptionError, "row 1.*'y'"),
        ({"low": [[0, 0], [inf, 1]], "high": [[2, 2], [inf, 3]]}, SubscriptionError, "row 1.*'x'"),
        ({"low": [[-inf, 0], [1, 1]], "high": [[-inf, 2], [3, 3]]}, SubscriptionError, "row 0.*'x'"),
        ({"offsets": [0, 2, 4]}, TableError, "offsets"),
        ({"subscribers": ["u"]}, TableError, "subscribers"),
        ({"subscribers": ["u", 5]}, SubscriptionError, "subscriber"),
        ({"subscribers": ["u", "\ud800"]}, SubscriptionError, "subscriber"),
        ({"subscribers": 5}, ThatchError, ""),
    ],
)  # fmt: skip
def test_bad_matrices_are_refused(changed: dict[str, Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=f"(?s){match}"):
        from_columns(**{**MATRIX, **changed})


@pytest.mark.parametrize(
    ("changed", "error", "match"),
    [
        ({"offsets": None}, TableError, "offsets"),
        ({"attribute": None}, TableError, "attribute"),
        ({"offsets": [0, 3]}, TableError, "3 offsets"),
        ({"offsets": [0, 1, 2, 3]}, TableError, "3 offsets"),
        ({"offsets": [1, 2, 3]}, TableError, "from 0 to 3"),
        ({"offsets": [0, 2, 2]}, TableError, "from 0 to 3"),
        ({"offsets": [0, 4, 3]}, TableError, "from 0 to 3"),
        ({"offsets": [0, -1, 3]}, TableError, "from 0 to 3"),
        ({"offsets": [0.0, 2.0, 3.0]}, TableError, "integers"),
        ({"offsets": [[0, 2, 3]]}, TableError, "integers"),
        ({"offsets": [[0], [2, 3]]}, ThatchError, ""),
        ({"offsets": np.array([0, 2**64 - 1, 3], np.uint64)}, TableError, "from 0 to 3"),
        ({"attribute": [0, 1]}, TableError, "3 numbers"),
        ({"attribute": [0, 1, 2]}, TableError, "side 2"),
        ({"attribute": [0, -1, 1]}, TableError, "side 1"),
        ({"attribute": [0, 1, 2**32]}, TableError, "side 2"),
        ({"attribute": [1, 1, 1]}, TableError, "once.*row 0"),
        ({"attribute": ["x", "y", "y"]}, TableError, "integers"),
        ({"low": [0, 0, 4]}, SubscriptionError, "row 1.*'y'"),
        ({"low": [0, nan, 1]}, SubscriptionError, "row 0.*'y'"),
        ({"low": [nan, 0, 1], "high": [nan, 2, 3]}, SubscriptionError, "row 0.*'x'"),
        ({"high": [2, 2]}, TableError, "same shape"),
    ],
)  # fmt: skip
def test_bad_sides_are_refused(changed: dict[str, Any], error: type[Exception], match: str) -> None:
    assert from_columns(**SIDES).match({"x": 1, "y": 1}) == ["a", "b"]
    with pytest.raises(error, match=f"(?s){match}"):
        from_columns(**{**SIDES, **changed})


# --- tables ----------------------------------------------------------------------------------------------------------


def test_from_table_takes_every_row_or_none() -> None:
    table = {
        "subscription": ["a", "b"],
        "filter": ["x > 1", "x like '%b'"],
        "subscriber": ["u", None],
        "expires": [5.0, None],
    }
    engine = thatch.Engine.from_table(pa.table(table))
    assert engine.match({"x": 2}, now=4) == ["a"]
    assert engine.match({"x": 2}) == []
    assert engine.subscriptions().to_pydict()["subscriber"] == ["u", None]
    for bad, row in (("x >", 1), (None, 1), ("x < 1 and x > 2", 1)):
        with pytest.raises(SubscriptionError, match=f"1 refused; the first(?s:.*)row {row}"):
            thatch.Engine.from_table(pa.table({**table, "filter": ["x > 1", bad]}))
    with pytest.raises(SubscriptionError, match=r"2 refused; the first(?s:.*)row 0"):
        thatch.Engine.from_table(pa.table({**table, "filter": ["x >", "x <"]}))
    with pytest.raises(SubscriptionError, match=r"each id once(?s:.*)row 1"):
        thatch.Engine.from_table(pa.table({**table, "subscription": ["a", "a"]}))
    with pytest.raises(TableError, match="filter"):
        thatch.Engine.from_table(pa.table({"subscription": ["a"]}))
    with pytest.raises(TableError):
        thatch.Engine.from_table(5)


def test_from_table_takes_a_schema_and_nothing() -> None:
    schema = thatch.Schema({"x": thatch.Integer(0, 9)})
    engine = thatch.Engine.from_table(pa.table({"subscription": ["a"], "filter": ["x > 3"]}), schema=schema)
    assert engine.match({"x": 4.5}) == []
    assert engine.match({"x": 4}) == ["a"]
    assert len(thatch.Engine.from_table(pa.table({"subscription": pa.nulls(0), "filter": pa.nulls(0)}))) == 0
