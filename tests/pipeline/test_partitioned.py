"""The partitioned strategy on real Spark: its pairs are those of the embedded engine, however subscriptions and events are spread."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from thatch import Engine, Schema
from thatch.errors import SubscriptionError, TableError
from thatch.model.types import Enum, Integer
from thatch.pipeline.adapter import translate_spark_errors
from thatch.pipeline.transforms.events import EventReader, prepare_events
from thatch.pipeline.transforms.partitioned import (
    build_shards,
    match_counts,
    match_hours,
    match_pairs,
    routing,
)

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]

MIXED = {
    "equal": "symbol = 'IBM'",
    "range": "price between 10 and 20",
    "both": "symbol = 'SAP' and price < 15",
    "union": "symbol in ('IBM', 'SAP', 'MMM') and price != 12",
    "unlike": "symbol != 'IBM'",
    "missing": "note is missing and price > 18",
    "null": "note is null",
    "present": "exists(note)",
    "distinct": "note is distinct from 'x'",
    "either": "price < 5 or symbol = 'MMM'",
    "strays": "symbol = 'AAA' or note = 'y' or price = 19",
    "folded": "lower(symbol) = 'ibm'",
    "moment": "seen >= timestamp '2026-01-02' and seen < timestamp '2026-01-03'",
    "wild": "note like 'a%b%c'",
    "suffix": "note like '%c'",
    "all": "true",
    "none": "price > 1e9",
    **{f"symbol {number}": f"symbol = 'S{number:02}' and price < {number}" for number in range(30)},
}


def mixed_events():
    symbols = ["IBM", "ibm", "SAP", "MMM", "AAA", None, *(f"S{number:02}" for number in range(0, 30, 3))]
    notes = [None, "x", "y", "a-b-c", "abc", "c"]
    return [
        {
            "symbol": symbols[number % len(symbols)],
            "price": [number % 23, 12.5, None][number % 7 % 3],
            "note": notes[number % 5 if number % 2 else number % 6],
            "seen": [f"2026-01-0{number % 3 + 1}T12:00:00", "never", None][number % 4 % 3],
        }
        for number in range(150)
    ]


def subscriptions_table(filters, **columns):
    return pa.table({"subscription": list(filters), "filter": list(filters.values()), **columns})


def embedded(filters, table, **options):
    schema = options.pop("schema", None)
    found = Engine.from_table(subscriptions_table(filters), schema=schema).match_batch(table, **options)
    return sorted(zip(*(found.column(name).to_pylist() for name in found.column_names), strict=True))


def frame(spark, table):
    """A table on Spark with a number for each row, in two partitions."""
    numbered = table.append_column("number", pa.array(range(table.num_rows), pa.int64()))
    return spark.createDataFrame(numbered).repartition(2).persist()


def of_shards(transform, events, subscriptions, reader, *, schema=None, shards=None):
    """What a transform of the partitioned strategy finds in events that `frame` gave."""
    log = prepare_events(events, reader, event="number")
    return transform(log, build_shards(subscriptions, schema, shards), reader)


def matched(spark, filters, table, *, shards=None, json=None, nulls="missing", schema=None, reject=False):
    reader = EventReader(json=json, nulls=nulls, skips=reject)
    subscriptions = spark.createDataFrame(subscriptions_table(filters))
    found = of_shards(match_pairs, frame(spark, table), subscriptions, reader, schema=schema, shards=shards)
    assert found.columns == ["event", "subscription"]
    assert dict(found.dtypes)["event"] == "bigint"
    return sorted((row.event, row.subscription) for row in found.collect())


@pytest.mark.parametrize(("shards", "nulls"), [(1, "null"), (6, "missing")])
def test_pairs_are_those_of_the_embedded_engine(spark, shards, nulls):
    table = pa.Table.from_pylist(mixed_events())
    found = matched(spark, MIXED, table, shards=shards, nulls=nulls)
    assert found == embedded(MIXED, table, nulls=nulls)
    assert {name for _, name in found} >= {"equal", "strays", "folded", "moment", "wild", "symbol 6", "all"}


def test_json_keeps_null_and_missing_apart_and_lists_are_choices(spark):
    events = [
        {key: value for key, value in each.items() if value or key == "note"} for each in mixed_events()[:60]
    ]
    events += [
        {"symbol": ["IBM", "S06"], "price": [1, 30]},
        {"symbol": [], "price": [[19], 4]},
        {"quote": [{"symbol": "IBM", "price": 5}, {"symbol": "SAP", "price": 50}]},
        {"note": ["x", None, "a b c"]},
        {},
    ]
    filters = {
        **MIXED,
        "nested": "quote.symbol = 'IBM' and quote.price < 10",
        "other": "quote.symbol = 'SAP' and quote.price < 10",
    }
    table = pa.table({"body": [json.dumps(each) for each in events]})
    found = matched(spark, filters, table, shards=5, json="body")
    assert found == embedded(filters, table, json="body")
    assert "nested" in {name for _, name in found}
    assert "other" not in {name for _, name in found}


def test_structs_and_declared_types_work(spark):
    schema = Schema({"trade.size": Integer(0, 100), "side": Enum("buy", "sell")})
    filters = {
        **{
            f"size {number}": f"trade.size > {number} and trade.size < {number + 4}"
            for number in range(0, 90, 3)
        },
        "misfit": "trade.size is missing",
        "side": "side = 'buy'",
    }
    rows = [
        {"trade": {"size": number % 130}, "side": ["buy", "sell", "odd"][number % 3]} for number in range(130)
    ]
    table = pa.Table.from_pylist(rows)
    assert matched(spark, filters, table, shards=6, schema=schema) == embedded(filters, table, schema=schema)


def test_skew_is_spread_over_replicas_and_nothing_is_lost(spark, monkeypatch):
    monkeypatch.setattr(routing, "_FEWEST", 600)  # replicas as if these were many
    monkeypatch.setattr(routing, "_MOST", 600)
    filters = {"all": "true", **{f"s{number}": f"a = {number} or b >= {number}" for number in range(300)}}
    rows = [{"a": number % 300, "b": -1} for number in range(900)] + [{"a": 1, "b": 1_000}]
    table = pa.Table.from_pylist(rows)
    subscriptions = spark.createDataFrame(subscriptions_table(filters))
    reader = EventReader()
    log = prepare_events(frame(spark, table), reader, event="number")
    shards = build_shards(subscriptions, None, 4)
    replicas = routing.estimate_replicas(log, shards, reader)
    assert replicas.total > shards.count
    wanted = embedded(filters, table)
    found = of_shards(match_pairs, frame(spark, table), subscriptions, reader, shards=4)
    assert sorted((row.event, row.subscription) for row in found.collect()) == wanted
    told = {row.subscription: row.events for row in match_counts(log, shards, reader).collect()}
    shards.forget()
    assert told == {name: Counter(each for _, each in wanted)[name] for name in filters}
    assert told["all"] == len(rows)


def test_counts_name_those_that_got_nothing_too(spark):
    table = pa.Table.from_pylist(mixed_events())
    subscriptions = spark.createDataFrame(subscriptions_table(MIXED))
    found = of_shards(match_counts, frame(spark, table), subscriptions, EventReader(), shards=5)
    wanted = Counter(name for _, name in embedded(MIXED, table))
    assert {row.subscription: row.events for row in found.collect()} == {name: wanted[name] for name in MIXED}


def test_subscribers_expiry_and_hours(spark):
    filters = {"one": "a < 10", "two": "a > 5", "gone": "true", "alone": "a = 7"}
    subscriptions = subscriptions_table(
        filters,
        subscriber=pa.array(["x", "x", "x", None]),
        expires=pa.array([None, None, 100.0, None], pa.float64()),
    )
    times = [datetime(2026, 1, 1, number % 2, tzinfo=UTC) for number in range(12)]
    table = pa.table({"a": list(range(12)), "at": pa.array(times, pa.timestamp("us", "UTC"))})
    reader = EventReader(now=200.0)
    shards = build_shards(spark.createDataFrame(subscriptions), None, 3)
    log = prepare_events(frame(spark, table), reader, event="number", time="at")
    told = {(row.subscriber, row.hour.hour): row.events for row in match_hours(log, shards, reader).collect()}
    shards.forget()
    assert told == {("x", 0): 6, ("x", 1): 6, ("alone", 1): 1}  # an event of two subscriptions counts once


def test_empty_tables_give_no_pairs(spark):
    events = pa.table({"a": pa.array([1, 2], pa.int64())})
    nobody = pa.table({"subscription": pa.array([], pa.string()), "filter": pa.array([], pa.string())})
    found = of_shards(match_pairs, frame(spark, events), spark.createDataFrame(nobody), EventReader())
    assert found.collect() == []
    nothing = frame(spark, events).where("a > 5")
    some = spark.createDataFrame(subscriptions_table({"a": "a = 1"}))
    assert of_shards(match_pairs, nothing, some, EventReader()).collect() == []
    told = of_shards(match_counts, nothing, some, EventReader()).collect()
    assert [(row.subscription, row.events) for row in told] == [("a", 0)]


def test_rows_that_are_no_events_are_left_out_or_refused(spark):
    table = pa.table({"body": ['{"a": 1}', "[1]", "no json", '{"a": 2}']})
    filters = {"a": "a > 0", "b": "b = 1"}
    assert matched(spark, filters, table, json="body", reject=True) == [(0, "a"), (3, "a")]
    with pytest.raises(TableError, match="an event"):
        matched(spark, filters, table, json="body")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", "x = 1"), ("b", "x = 2"), ("a", "x = 3")], "each id once, got 'a' 2 times"),
        ([("a", "x = 1"), ("bad", "x =")], "'bad'"),
        ([("a", "x = 1"), ("empty", None)], "filter text, got null - at subscription 'empty'"),
        ([("a", "x = 1"), (None, "x = 2")], "a text as id, got null - at filter 'x = 2'"),
    ],
)
def test_rows_that_are_no_subscriptions_are_refused_by_name(spark, rows, message):
    table = spark.createDataFrame(rows, "subscription string, filter string")
    with pytest.raises(SubscriptionError) as refused:
        build_shards(table)
    assert message in str(refused.value)


def test_a_bad_filter_outside_the_sample_is_refused_by_name(spark, monkeypatch):
    monkeypatch.setattr("thatch.pipeline.transforms.partitioned.shards._SAMPLE", 1)
    rows = [(f"s{number}", f"x = {number}") for number in range(40)] + [("bad", "x = = 1")]
    table = spark.createDataFrame(rows, "subscription string, filter string").coalesce(1)
    with pytest.raises(SubscriptionError, match="subscription 'bad'"), translate_spark_errors():
        build_shards(table, None, 4)
