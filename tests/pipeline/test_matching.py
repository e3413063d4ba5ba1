"""The same log through the embedded engine and through Spark gives the same rows."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import thatch
from thatch.errors import IndexFileError, SparkError, SubscriptionError, TableError
from thatch.pipeline import match
from thatch.pipeline.adapter import translate_spark_errors
from thatch.pipeline.indexes import build_index
from thatch.pipeline.transforms import mapped as transforms_mapped

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]

STRATEGIES = ["mapped", "partitioned"]

FILTERS = [
    "price < 100 and symbol = 'IBM'",
    "price between 50 and 150 or volume > 900",
    "symbol in ('IBM', 'SAP', 'ACME')",
    "symbol != 'IBM' and price >= 10",
    "symbol like 'S%'",
    "symbol like '%M'",
    "symbol like '%A%' and volume < 500",
    "lower(symbol) = 'ibm'",
    "note is missing",
    "note is null",
    "exists(note) and note is not null",
    "detail.side = 'buy' and detail.qty > 5",
    "tags = 'hot'",
    "tags = 'hot' or tags = 'new'",
    "volume = 9007199254740993",
    "time(at) >= '2026-01-01T12:00:00Z'",
    "price is distinct from 100",
    "is_open = true",
]


def subscriptions() -> pa.Table:
    """Every kind of filter, and so many simple ones that the engine is not a small one."""
    filters = [*FILTERS, *(f"price > {number} and volume < {number * 3}" for number in range(300))]
    return pa.table(
        {
            "subscription": [f"s{number}" for number in range(len(filters))],
            "subscriber": [None if number % 5 == 0 else f"u{number % 7}" for number in range(len(filters))],
            "filter": filters,
        }
    )


def objects(count: int = 240) -> list[dict]:
    """Events with missing and null values, nested objects and lists."""
    rng = np.random.default_rng(7)
    made = []
    for number in range(count):
        event: dict = {
            "symbol": ["IBM", "SAP", "ACME", "sap"][number % 4],
            "price": float(rng.integers(0, 400)),
            "volume": 9007199254740993 if number == 11 else int(rng.integers(0, 1200)),
            "at": f"2026-01-01T{number % 24:02d}:{number % 60:02d}:00Z",
            "is_open": bool(number % 3),
        }
        if number % 3 == 0:
            event["note"] = None if number % 2 else "hello"
        if number % 4 == 1:
            event["detail"] = {"side": "buy" if number % 8 == 1 else "sell", "qty": int(rng.integers(0, 12))}
        if number % 5 == 2:
            event["tags"] = [["hot"], ["new", "hot"], [], ["cold", "old"]][number % 4]
        made.append(event)
    return made


@cache
def expected_json_pairs() -> list[tuple[int, str]]:
    return expected_pairs(objects())


def expected_pairs(events: list[dict]) -> list[tuple[int, str]]:
    """Each pair by the definition: every filter asked about every event."""
    table = subscriptions()
    parsed = [(name, thatch.parse(text)) for name, text in zip(*named(table), strict=True)]
    return sorted(
        (row, name) for row, event in enumerate(events) for name, filter in parsed if filter.matches(event)
    )


def named(table: pa.Table) -> tuple[list[str], list[str]]:
    return table["subscription"].to_pylist(), table["filter"].to_pylist()


def as_pairs(table: pa.Table) -> list[tuple[int, str]]:
    return sorted(zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True))


@pytest.fixture(scope="module")
def json_log(spark):
    """The events as JSON texts, in several parts."""
    rows = [(row, json.dumps(event)) for row, event in enumerate(objects())]
    return spark.createDataFrame(rows, "id long, body string").repartition(2, "id").persist()


@pytest.fixture(scope="module")
def queries(spark):
    return spark.createDataFrame(subscriptions()).coalesce(1).persist()


@pytest.fixture(scope="module")
def mapped(spark):
    """The index, built once for all tests that only use it."""
    return build_index(spark, thatch.Engine.from_table(subscriptions()))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_json_events_match_as_by_the_definition(json_log, queries, strategy):
    found = match(json_log, queries, event="id", json="body", strategy=strategy).toArrow()
    assert as_pairs(found) == expected_json_pairs()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_structs_and_lists_match_as_the_engine_matches_the_same_table(spark, queries, strategy):
    table = pa.Table.from_pylist(objects())
    numbered = table.append_column("id", pa.array(range(len(table)), pa.int64()))
    events = spark.createDataFrame(numbered)
    found = match(events, queries, event="id", strategy=strategy).toArrow()
    wanted = thatch.Engine.from_table(subscriptions()).match_batch(table)
    assert as_pairs(found) == as_pairs(wanted)
    assert found.num_rows > 600


@pytest.mark.parametrize("nulls", ["missing", "null"])
def test_null_in_a_column_means_what_is_said(spark, mapped, nulls):
    table = pa.table({"id": [0, 1], "note": ["x", None], "price": [1.0, None]})
    found = match(spark.createDataFrame(table), mapped, event="id", nulls=nulls).toArrow()
    wanted = thatch.Engine.from_table(subscriptions()).match_batch(table.drop_columns("id"), nulls=nulls)
    assert as_pairs(found) == as_pairs(wanted)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_counts_name_every_subscription_also_those_that_get_nothing(json_log, queries, strategy):
    found = match(json_log, queries, give="counts", event="id", json="body", strategy=strategy).toArrow()
    counted = dict(zip(found["subscription"].to_pylist(), found["events"].to_pylist(), strict=True))
    wanted = Counter(name for _, name in expected_json_pairs())
    assert counted == {name: wanted[name] for name in subscriptions()["subscription"].to_pylist()}
    assert 0 in counted.values()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_hours_count_an_event_once_a_subscriber(json_log, queries, strategy):
    found = match(
        json_log, queries, give="hours", event="id", json="body", time="at", strategy=strategy
    ).toArrow()
    table = subscriptions()
    who = dict(zip(table["subscription"].to_pylist(), table["subscriber"].to_pylist(), strict=True))
    once = {(row, who[name] or name) for row, name in expected_json_pairs()}
    wanted = Counter((name, row % 24) for row, name in once)
    rows = found.to_pylist()
    assert {(each["subscriber"], each["hour"].hour): each["events"] for each in rows} == wanted
    assert len(rows) == len(wanted)


def test_slots_are_numbers_in_the_index(json_log, mapped):
    found = match(json_log, mapped, give="slots", event="id", json="body").toArrow().to_pylist()
    pairs = [(row["event"], f"s{slot}") for row in found for slot in row["slots"]]
    assert sorted(pairs) == expected_json_pairs()


def test_long_lists_of_slots_are_split_over_rows(spark, monkeypatch):
    lists = pa.array([[], list(range(5)), [9], list(range(11)), [7] * 3], pa.list_(pa.int32())).slice(1)
    monkeypatch.setattr(transforms_mapped, "_ROWS", 4)
    batches = list(transforms_mapped._split_lists(pa.array(["a", "b", "c", "d"]), lists))
    rows = [(row["event"], row["slots"]) for batch in batches for row in batch.to_pylist()]
    assert rows == [
        ("a", [0, 1, 2, 3]),
        ("a", [4]),
        ("b", [9]),
        ("c", [0, 1, 2, 3]),
        ("c", [4, 5, 6, 7]),
        ("c", [8, 9, 10]),
        ("d", [7, 7, 7]),
    ]
    assert all(sum(map(len, batch["slots"].to_pylist())) <= 4 for batch in batches)


def test_a_saved_engine_is_taken_by_its_path(spark, json_log, tmp_path):
    thatch.Engine.from_table(subscriptions()).save(tmp_path / "alerts.thatch")
    found = match(json_log, tmp_path / "alerts.thatch", event="id", json="body").toArrow()
    assert as_pairs(found) == expected_json_pairs()


def test_what_has_expired_is_left_out(spark):
    queries = spark.createDataFrame(
        [("old", "x > 0", 10.0), ("new", "x > 0", 30.0)], "subscription string, filter string, expires double"
    )
    events = spark.createDataFrame([(1, 5)], "id int, x int")
    assert as_pairs(match(events, queries, event="id", now=20.0).toArrow()) == [(1, "new")]
    assert as_pairs(match(events, queries, event="id").toArrow()) == []  # by the clock


def test_events_without_names_are_numbered(spark, mapped):
    found = match(spark.range(5).selectExpr("id * 100.0 as price"), mapped).toArrow()
    assert len(set(found["event"].to_pylist())) == 5


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_one_event_that_all_want_and_one_subscription_that_wants_all(spark, strategy):
    count = 3_000
    queries = spark.range(count).selectExpr(
        "concat('s', id) as subscription",
        "case when id = 0 then 'exists(x)' else concat('x > ', id) end as filter",
    )
    events = spark.range(400).selectExpr("id", "case when id = 7 then 1e9 else -1.0 * id end as x")
    found = match(events, queries, event="id", strategy=strategy).toArrow()
    assert found.num_rows == 400 + count - 1
    assert Counter(found["event"].to_pylist())[7] == count


# --- bad input -----------------------------------------------------------------------------------------------------


def test_an_empty_log_and_an_empty_table_give_empty_answers(spark, mapped, queries):
    nothing = spark.createDataFrame([], "id long, price double")
    assert match(nothing, mapped, event="id").count() == 0
    none = spark.createDataFrame([], "subscription string, filter string")
    assert match(spark.range(3).withColumnRenamed("id", "price"), none).count() == 0


def test_a_row_that_is_no_event_is_named(spark, mapped):
    log = spark.createDataFrame([(41, '{"price": 1}'), (42, "{oops")], "id long, body string")
    with pytest.raises(TableError, match=r"an event, got .*oops.* - at event 42"), translate_spark_errors():
        match(log, mapped, event="id", json="body").count()
    assert set(match(log, mapped, event="id", json="body", bad="skip").toArrow()["event"].to_pylist()) == {41}


def test_columns_that_are_missing_or_of_another_type_are_named(spark, queries, mapped):
    log = spark.createDataFrame([(1, 2.0)], "id int, price double")
    with pytest.raises(TableError, match=r"a column `filter` in the table of subscriptions"):
        match(log, queries.drop("filter"))
    with pytest.raises(TableError, match=r"text, got int - at column `filter`"):
        match(log, queries.selectExpr("subscription", "1 as filter"))
    with pytest.raises(TableError, match=r"a column `body` with the JSON texts, got id, price"):
        match(log, mapped, json="body")
    with pytest.raises(TableError, match=r"text, got double - at column `price`"):
        match(log, mapped, json="price")
    with pytest.raises(TableError, match=r"a column `key` with the events' names"):
        match(log, mapped, event="key")
    with pytest.raises(TableError, match=r"a timestamp, a date or text, got double - at column `price`"):
        match(log, mapped, give="hours", time="price")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", "x > 1"), ("b", "x >")], r"row 1, 'b'"),
        ([("a", "x > 1"), ("a", "x > 2")], r"each id once, got 'a' 2 times"),
        ([(None, "x > 1")], r"a text as id"),
        ([("a", None)], r"filter text, got null"),
    ],
)
def test_subscriptions_that_are_none_are_named(spark, rows, message):
    queries = spark.createDataFrame(rows, "subscription string, filter string")
    with pytest.raises(SubscriptionError, match=message):
        match(spark.range(1), queries)


def test_what_cannot_be_asked_is_refused(spark, mapped):
    for wrong in (
        {"give": "all"},
        {"strategy": "best"},
        {"bad": "ignore"},
        {"give": "hours"},
        {"time": "at"},
    ):
        with pytest.raises(SparkError):
            match(spark.range(1), mapped, **wrong)


def test_an_index_deleted_while_it_is_used_is_told(spark, tmp_path):
    path = tmp_path / "alerts.thatch"
    thatch.Engine.from_table(subscriptions()).save(path)
    found = match(spark.range(3).withColumnRenamed("id", "price"), path)
    Path(path).unlink()
    with pytest.raises(IndexFileError, match="the index that the job started with"), translate_spark_errors():
        found.count()


def test_a_damaged_index_is_refused_before_the_job_starts(spark, tmp_path):
    (tmp_path / "alerts.thatch").write_bytes(b"no index")
    with pytest.raises(IndexFileError):
        match(spark.range(3), tmp_path / "alerts.thatch")
