"""Tables of events: accepted and refused types, nulls, and the three kinds of tables."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import thatch
from thatch.matching import growing


def pairs(table: pa.Table) -> list[tuple[int, str]]:
    return [(row["event"], row["subscription"]) for row in table.to_pylist()]


def wanted(filter_text: str, values: pa.Array | pa.ChunkedArray, **options: str) -> list[int]:
    engine = thatch.Engine()
    engine.subscribe("s", filter_text)
    return [event for event, _ in pairs(engine.match_batch(pa.table({"x": values}), **options))]


def test_the_answer_has_the_promised_columns_and_order() -> None:
    engine = thatch.Engine()
    for name in ("b", "a"):
        engine.subscribe(name, "x > 1")
    answer = engine.match_batch(pa.table({"x": [1, 2, 3]}), ordered=True)
    assert answer.schema.names == ["event", "subscription"]
    assert answer.schema.field("event").type == pa.int64()
    assert pa.types.is_dictionary(answer.schema.field("subscription").type)
    assert pairs(answer) == [(1, "b"), (1, "a"), (2, "b"), (2, "a")]
    assert engine.match_batch(pa.table({"x": pa.array([], pa.int64())})).num_rows == 0


def test_pandas_polars_and_record_batches_answer_like_arrow() -> None:
    engine = thatch.Engine()
    engine.subscribe("s", "symbol = 'IBM' and price < 150")
    columns = {"symbol": ["IBM", "IBM", "MSFT"], "price": [120.5, 180.0, 100.0]}
    tables = [
        pa.table(columns),
        pa.RecordBatch.from_pydict(columns),
        pd.DataFrame(columns),
        pl.DataFrame(columns),
    ]
    for table in tables:
        assert pairs(engine.match_batch(table)) == [(0, "s")]
    many = pl.DataFrame({"subscription": ["t"], "filter": ["price > 150"]})
    assert engine.subscribe_many(many).num_rows == 0
    assert pairs(engine.match_batch(pd.DataFrame(columns))) == [(0, "s"), (1, "t")]


def test_null_means_missing_unless_told_otherwise() -> None:
    values = pa.array([1, None])
    assert wanted("x is missing", values) == [1]
    assert wanted("x is null", values) == []
    assert wanted("x is null", values, nulls="null") == [1]
    assert wanted("x is missing", values, nulls="null") == []


def test_a_json_column_keeps_null_and_missing_apart() -> None:
    texts = pa.array(['{"y": null}', "{}", '{"y": 1}'])
    assert wanted("y is null", texts, json="x") == [0]
    assert wanted("y is missing", texts, json="x") == [1]
    for bad in ("[1]", "{", None, "5"):
        with pytest.raises(thatch.TableError, match="row 0"):
            wanted("y = 1", pa.array([bad], pa.string()), json="x")


@pytest.mark.parametrize(
    ("values", "filter_text", "rows"),
    [
        (pa.array([True, False]), "x = true", [0]),
        (pa.array([2**63 - 1, 2**63 - 2]), f"x = {2**63 - 1}", [0]),
        (pa.array([1, 255], pa.uint8()), "x > 200", [1]),
        (pa.array([2**63 - 1], pa.uint64()), f"x = {2**63 - 1}", [0]),
        (pa.array([1.5, float("nan")]), "x is distinct from 1.5", [1]),
        (pa.array([np.float16(1.5)], pa.float16()), "x = 1.5", [0]),
        (pa.array([Decimal("1.10"), Decimal("2.00")], pa.decimal128(5, 2)), "x = 1.1 or x = 2", [0, 1]),
        (pa.array(["a", "b"], pa.large_string()), "x = 'b'", [1]),
        (pa.array(["a", "b"], pa.string_view()), "x = 'b'", [1]),
        (pa.array(["a", "b", "a"]).dictionary_encode(), "x = 'a'", [0, 2]),
        (pa.array([date(2026, 1, 31)]), "x = '2026-01-31' and time(x) < '2026-02-01'", [0]),
        (
            pa.array([datetime(2026, 1, 31, 12)], pa.timestamp("us")),
            "x >= timestamp '2026-01-31T12:00:00Z'",
            [0],
        ),
        (
            pa.array([datetime(2026, 1, 31, 12)], pa.timestamp("s", "UTC")),
            "x < timestamp '2026-01-31T12:00:01Z'",
            [0],
        ),
        (
            pa.array([1_769_860_800_123_456_789], pa.timestamp("ns", "UTC")),
            "x = timestamp '2026-01-31T12:00:00.123456Z'",
            [0],
        ),
        (pa.array([{"y": 1, "z": None}]), "x.y = 1 and x.z is missing", [0]),
        (pa.array([[1, None, 5], [2]]), "x = 5", [0]),
        (pa.array([[1, 5]], pa.list_(pa.int64(), 2)), "x = 5", [0]),
        (pa.array([[{"y": 1, "z": 2}, {"y": 3, "z": 4}]]), "x.y = 1 and x.z = 4", []),
        (
            pa.array([[1_769_860_800_123_456_789]], pa.large_list(pa.timestamp("ns"))),
            "x < timestamp '2027-01-01'",
            [0],
        ),
        (pa.nulls(2), "x is missing", [0, 1]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else None,
)
def test_accepted_arrow_types(values: pa.Array, filter_text: str, rows: list[int]) -> None:
    assert wanted(filter_text, values) == rows


@pytest.mark.parametrize(
    "values",
    [
        pa.array([b"x"]),
        pa.array([time(1, 2)]),
        pa.array([timedelta(1)]),
        pa.array([[(1, "a")]], pa.map_(pa.int64(), pa.string())),
        pa.array([{"y": b"x"}]),
        pa.array([[b"x"]]),
        pa.array([[{"y": b"x"}]]),
    ],
    ids=lambda values: str(values.type),
)
def test_refused_arrow_types_name_the_column(values: pa.Array) -> None:
    with pytest.raises(thatch.TableError, match="column `x"):
        wanted("x = 1 or x.y = 1", values)


UNREADABLE = {
    "bytes": pa.array([b"\xff", None]),
    "clock": pa.array([time(1, 2)] * 2),
    "map": pa.array([[(1, "a")], []], pa.map_(pa.int64(), pa.string())),
    "nested": pa.array([{"blob": b"x"}, None]),
    "list": pa.array([[b"x"], []]),
}


def test_columns_that_no_filter_names_may_have_any_type(monkeypatch: pytest.MonkeyPatch) -> None:
    part = pa.array([{"price": 5, "blob": b"x"}, {"price": 7, "blob": None}])
    table = pa.table({"x": [1, 2], "part": part, **UNREADABLE})
    for few in (256, 1):
        monkeypatch.setattr(growing, "FEW", few)
        engine = thatch.Engine(background=False)
        assert engine.match_batch(table).num_rows == 0
        engine.subscribe("a", "x = 1 and part.price = 5")
        engine.subscribe("b", "y is missing and lower(name) is missing")
        assert engine.match_batch(table, ordered=True).column("event").to_pylist() == [0, 0, 1]
        assert engine.count_batch(table).tolist() == [1, 2]
        assert sum(piece.num_rows for piece in engine.match_pieces(table)) == 3
        for name in ("bytes", "clock", "list", "map.key", "nested.blob", "part.blob"):
            engine = thatch.Engine(background=False)
            engine.subscribe("c", f"exists({name})")
            with pytest.raises(thatch.TableError, match=f"column `{name.partition('.')[0]}"):
                engine.match_batch(table)


@pytest.mark.parametrize("few", [256, 1])
@pytest.mark.parametrize("number", [2**53 + 1, -(2**53) - 1, 2**53, -(2**53)])
def test_integers_that_doubles_cannot_tell_apart_are_told_apart(
    few: int, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing, "FEW", few)
    engine = thatch.Engine(background=False)
    near = [number - 1, number, number + 1]
    for each in near:
        engine.subscribe(f"is {each}", f"x = {each}")
    found = engine.match_batch(pa.table({"x": [number]})).column("subscription").to_pylist()
    assert found == [f"is {number}"]


def test_a_map_is_a_nested_object_where_a_filter_names_it() -> None:
    labels = pa.array([[("env", "prod"), ("zone", "a")], None, []], pa.map_(pa.string(), pa.string()))
    assert wanted("x.env = 'prod' and x.zone like 'a%'", labels) == [0]
    assert wanted("x.env is missing", labels) == [1, 2]


def test_a_bad_value_names_its_row() -> None:
    with pytest.raises(thatch.TableError, match="row 1"):
        wanted("x = 1", pa.array([1, 2**63], pa.uint64()))


def test_columns_given_twice_and_wrong_options_are_refused() -> None:
    engine = thatch.Engine()
    with pytest.raises(thatch.TableError):
        engine.match_batch(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"]))
    with pytest.raises(thatch.TableError):
        engine.match_batch(pa.table({"x": [1]}), nulls="none")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(thatch.TableError, match="payload"):
        engine.match_batch(pa.table({"x": [1]}), json="payload")
    with pytest.raises(thatch.TableError):
        engine.match_batch(pd.DataFrame({"x": [1, "a", b"c"]}))


def test_expired_subscriptions_are_left_out_of_batches() -> None:
    engine = thatch.Engine()
    engine.subscribe("s", "x = 1", expires=datetime(2026, 1, 1, tzinfo=UTC))
    assert engine.match_batch(pa.table({"x": [1]}), now=datetime(2026, 1, 1, tzinfo=UTC)).num_rows == 0
    assert engine.match_batch(pa.table({"x": [1]}), now=datetime(2025, 12, 31, tzinfo=UTC)).num_rows == 1
