"""A profile made by Spark is the one that is counted event by event, up to the bounds that it states."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from math import isfinite, nan
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import thatch
from thatch.engine.tables import event_rows
from thatch.errors import SparkError, TableError
from thatch.model.profile import AttributeProfile, Profile
from thatch.model.selectivity import Selectivity
from thatch.pipeline.transforms.events import EventReader
from thatch.pipeline.transforms.profiling.flattening import EVENTS, MISFITS, REJECTED, SET, VALUE, flatten
from thatch.pipeline.transforms.profiling.profile import profile

on_spark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]

EXACT = (
    "events", "values", "nulls", "falses", "trues", "nans", "numbers", "texts", "wide", "shortest", "longest",
    "characters",
)  # fmt: skip

# --- data ------------------------------------------------------------------------------------------------------


def made_events(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Events with all that can be in one: missing, null, NaN, mixed types, wide integers, lists, nested objects."""
    rng = np.random.default_rng(seed)
    mixed = [
        None,
        True,
        False,
        nan,
        0,
        -0.0,
        5,
        5.0,
        2.5,
        "5",
        "",
        "é",
        2**60 + 1,
        2**63 - 1,
        -(2**63),
        1e300,
    ]
    events: list[dict[str, Any]] = []
    for number in range(count):
        event: dict[str, Any] = {"id": number, "price": round(float(rng.lognormal(3, 1)), 2)}
        if rng.random() < 0.7:
            event["symbol"] = f"S{int(rng.zipf(1.5)) % 500}"
        if rng.random() < 0.3:
            event["mixed"] = mixed[int(rng.integers(len(mixed)))]
        if rng.random() < 0.4:
            event["detail-type"] = {"kind": ["a", "b"][number % 2], "size": int(rng.integers(10))}
        if rng.random() < 0.3:
            event["tags"] = [f"t{each}" for each in rng.integers(0, 20, int(rng.integers(0, 4)))]
        if rng.random() < 0.2:
            event["lines"] = [{"qty": int(each), "sku": f"k{each}"} for each in rng.integers(0, 9, 2)] + [
                {"qty": None}
            ]
        events.append(event)
    return events


FILTERS = {
    "cheap": "price < 10",
    "cheap-s1": "price < 10 and symbol = 'S1'",
    "dear-s1": "price > 100 and symbol = 'S1'",
    "any-s1": "symbol = 'S1'",
    "either": "symbol = 'S1' and price < 10 or mixed = 5",
    "kind": '"detail-type.kind" = \'a\' and "detail-type.size" > 5',
    "wild": "symbol like 'S%1%2' and price < 10",
    "lower": "lower(symbol) = 's2'",
    "tag": "tags = 't3' and lines.qty > 7",
    "missing": "symbol is missing and lines.qty is null",
    "never": "price < 0",
    "all": "true",
}


def parsed_filters() -> dict[str, thatch.Filter]:
    return {identity: thatch.parse(text) for identity, text in FILTERS.items()}


# --- comparing -------------------------------------------------------------------------------------------------


def assert_alike(found: Profile, exact: Profile, events: list[dict[str, Any]]) -> None:
    """What is counted is equal, and the rest is within the bounds."""
    for name in ("events", "rejected", "misfits", "attribute_count", "set_count", "sets", "pairs"):
        assert getattr(found, name) == getattr(exact, name), name
    assert [each.key for each in found.attributes] == [each.key for each in exact.attributes]
    values = values_by_key(events)
    for mine, true in zip(found.attributes, exact.attributes, strict=True):
        for name in EXACT:
            assert getattr(mine, name) == getattr(true, name), (mine.key, name)
        assert abs(mine.distinct - true.distinct) <= max(4 * found.bounds.distinct * true.distinct, 1), (
            mine.key
        )
        numbers = sorted(float(each) for each in values[mine.key] if is_number(each))
        texts = sorted(each for each in values[mine.key] if isinstance(each, str))
        assert_ranks(mine.quantiles, numbers, found.bounds.quantiles, mine.key)
        # in 95 of 100 cases; twice that is hardly ever exceeded, and the sample is always the same
        assert_ranks(mine.text_quantiles, texts, 2 * found.bounds.text_quantiles, mine.key)
        assert_heavy(mine, Counter(numbers) + Counter(texts), found.bounds.heavy)


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


def values_by_key(events: list[dict[str, Any]]) -> dict[str, list[Any]]:
    from thatch.model.events import read_event
    from thatch.model.lines import value_at
    from thatch.model.profile.counting import values_in

    found: dict[str, list[Any]] = {}
    for event in events:
        for key, place in values_in(read_event(event)):
            found.setdefault(key, []).append(value_at(place))
    return found


def assert_ranks(quantiles: tuple[Any, ...], ordered: list[Any], error: float, key: str) -> None:
    """Every quantile stands at its rank, give or take the error and one value."""
    assert bool(quantiles) == bool(ordered), key
    if not ordered:
        return
    assert quantiles[0] == ordered[0], key
    assert quantiles[-1] == ordered[-1], key
    for step, value in enumerate(quantiles):
        wanted = step / (len(quantiles) - 1)
        low, high = bisect_left(ordered, value) / len(ordered), bisect_right(ordered, value) / len(ordered)
        slack = error + 1 / len(ordered)
        assert low - slack <= wanted <= high + slack, (key, step, value)


def assert_heavy(mine: AttributeProfile, true: Counter[Any], error: float) -> None:
    for value, count in mine.heavy:
        known = true[value if isinstance(value, str) else float(value)]
        assert abs(count - known) <= error * sum(true.values()), (mine.key, value)
    least = min((count for _, count in mine.heavy), default=0)
    assert len(mine.heavy) == min(100, len(true))
    kept = {value if isinstance(value, str) else float(value) for value, _ in mine.heavy}
    often = [value for value, count in true.items() if count > least + 2 * error * sum(true.values())]
    assert set(often) <= kept


# --- flattening, without Spark -----------------------------------------------------------------------------------


def tallied(table: pa.Table, reader: EventReader, schema: thatch.Schema | None = None) -> dict[str, Any]:
    """What long rows say, added up."""
    result: dict[str, Any] = {
        "values": Counter(),
        "events": Counter(),
        "sets": Counter(),
        "totals": Counter(),
    }
    for batch in flatten(table, reader, schema, []):
        for row in batch.to_pylist():
            if row["kind"] == VALUE:
                value = row["whole"] if row["whole"] is not None else row["number"]
                result["values"][row["key"], row["rank"], value if row["text"] is None else row["text"]] += 1
                result["events"][row["key"]] += row["weight"]
            elif row["kind"] == SET:
                result["sets"][tuple(json.loads(row["key"]))] += row["weight"]
            else:
                result["totals"][row["kind"]] += row["weight"]
    return result


def expected_tally(events: list[dict[str, Any]]) -> dict[str, Any]:
    from thatch.model.profile.counting import count_events

    count = count_events(events, None)
    values: Counter[Any] = Counter()
    for key, places in count.tallies.items():
        for place in places:
            value = place[1] if len(place) == 3 else None
            if is_number(value):
                near = float(value)
                value = value if type(value) is int and near != value else near
            values[key, place[0], value] += 1
    totals = Counter({EVENTS: len(count.records)})
    if count.rejected:
        totals[REJECTED] = count.rejected.total()
    return {"values": values, "events": count.present, "sets": count.sets, "totals": totals}


def assert_tallies(table: pa.Table, reader: EventReader, events: list[dict[str, Any]]) -> None:
    found, expected = tallied(table, reader), expected_tally(events)
    found["totals"] = Counter({kind: count for kind, count in found["totals"].items() if count})
    for name, each in expected.items():
        assert +found[name] == +each, name


def typed_table() -> pa.Table:
    """Columns of every type, with nulls in all of them."""
    moments = [
        datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=each, microseconds=each % 2) for each in range(5)
    ]
    return pa.table(
        {
            "flag": pa.array([True, None, False, True, None]),
            "small": pa.array([1, None, 3, -4, 0], pa.int16()),
            "wide": pa.array([2**53 + 1, None, -(2**63), 2**63 - 1, 2**60], pa.int64()),
            "number": pa.array([nan, None, -0.0, float("inf"), 2.5]),
            "single": pa.array([0.1, None, 1.5, nan, 3], pa.float32()),
            "text": pa.array(["", None, "é", "a\0b", "x" * 1000]),
            "word": pa.array(["a", None, "b", "a", "a"]).dictionary_encode(),
            "money": pa.array([Decimal("1.10"), None, Decimal("3.00"), Decimal("-2.5"), Decimal(0)]),
            "huge": pa.array([Decimal(2**53 + 1), None, Decimal(7), None, None], pa.decimal128(38, 0)),
            "day": pa.array([date(2026, 1, 1), None, date(1, 1, 1), date(2026, 1, 1), None]),
            "at": pa.array([*moments[:4], None], pa.timestamp("us", "UTC")),
            "naive": pa.array([each.replace(tzinfo=None) for each in moments], pa.timestamp("ns")),
            "nothing": pa.nulls(5),
            "o": pa.array(
                [{"p": 1, "q": {"r": "x"}}, None, {"p": None, "q": None}, {"p": 2, "q": {"r": None}}, {}]
            ),
        }
    )


@pytest.mark.parametrize("nulls", ["missing", "null"])
def test_columns_are_flattened_as_the_same_events_read_one_by_one(nulls):
    table = typed_table()
    events = list(event_rows(table, nulls=nulls, json_column=None))
    assert_tallies(table, EventReader(nulls=nulls, skips=True), events)


@pytest.mark.parametrize("nulls", ["missing", "null"])
def test_lists_are_counted_by_elements_and_once_for_the_event(nulls):
    rows = [
        {"tags": ["a", None, "a"], "lines": [{"q": 1}, {"q": None}, {}]},
        {"tags": [], "lines": None},
        {"tags": None, "lines": [{"q": 1}]},
    ]
    table = pa.Table.from_pylist(rows)
    events = list(event_rows(table, nulls=nulls, json_column=None))
    assert_tallies(table, EventReader(nulls=nulls, skips=True), events)
    found = tallied(table, EventReader(nulls=nulls, skips=True))
    assert found["values"]["tags", 6, "a"] == 2
    assert found["events"]["tags"] == (1 if nulls == "missing" else 2)


def test_json_texts_keep_null_and_missing_apart_and_bad_ones_are_counted():
    events = made_events(300)
    texts = [json.dumps(each) for each in events]
    bad = ['{"a": 1', "[1, 2]", "null", None, '{"a": 12345678901234567890}', '{"a": {"b": 1}, "a.b": 2}', ""]
    table = pa.table({"line": pa.array([*texts[:100], *bad, *texts[100:]])})
    told: list[str] = []
    reader = EventReader(json="line", skips=True)
    rows = [row for batch in flatten(table, reader, None, told) for row in batch.to_pylist()]
    assert sum(row["weight"] for row in rows if row["kind"] == REJECTED) == len(bad)
    assert len(told) == 5  # of the reasons
    assert_tallies(pa.table({"line": texts}), reader, events)


def test_a_path_given_twice_is_refused_as_everywhere():
    table = pa.table({"a": [{"b": 1}, {"b": 2}], "a.b": [None, 3]})
    found = tallied(table, EventReader(skips=True))
    assert found["totals"][REJECTED] == 1
    assert found["totals"][EVENTS] == 1


def test_text_that_is_not_utf8_is_refused_row_by_row():
    column = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"a\xff")]
    )
    found = tallied(pa.table({"t": column}), EventReader(skips=True))
    assert found["totals"][REJECTED] == 1
    assert found["values"]["t", 6, "a"] == 1


def test_values_outside_their_declared_type_are_misfits():
    schema = thatch.Schema({"qty": thatch.Integer(0, 10)})
    table = pa.table({"qty": [5, 11, None], "x": [1, 2, 3]})
    found = tallied(table, EventReader(skips=True), schema)
    assert found["totals"][MISFITS] == 1
    assert found["events"] == {"qty": 1, "x": 3}


def test_objects_without_fields_and_tables_without_columns_are_events_too():
    for table in (pa.table({"o": pa.array([{}, None], pa.struct([]))}), pa.table({"n": pa.nulls(2)})):
        found = tallied(table, EventReader(skips=True))
        assert found["sets"] == {(): 2}
        assert not found["values"]


# --- on Spark ----------------------------------------------------------------------------------------------------

BAD_ROWS = ["{", "[]", '{"a": 1, "a": {"b": []}, "c": 99999999999999999999}']
BAD_SUBSCRIPTIONS = [("bad", "price <"), ("cheap", "price > 1"), (None, "price > 1")]


@pytest.fixture(scope="module")
def events() -> list[dict[str, Any]]:
    return made_events(4_000)


@pytest.fixture(scope="module")
def found(spark: Any, events: list[dict[str, Any]]) -> Profile:
    """The profile of JSON texts with a few bad rows, and subscriptions with a few bad rows."""
    texts = [json.dumps(each) for each in events]
    log = spark.createDataFrame([(each,) for each in texts + BAD_ROWS], "line string").repartition(4)
    rows = [*FILTERS.items(), *BAD_SUBSCRIPTIONS]
    numbered = [(number, *row) for number, row in enumerate(rows)]
    subscriptions = spark.createDataFrame(numbered, "row bigint, subscription string, filter string")
    return profile(log, subscriptions, json="line")


@pytest.fixture(scope="module")
def exact(events: list[dict[str, Any]]) -> Profile:
    return Profile.of([*events, *[{"a": 2**70}] * len(BAD_ROWS)], parsed_filters())


class TestOnSpark:
    pytestmark = on_spark

    def test_attributes_sets_and_pairs_are_those_counted_one_by_one(self, found, exact, events):
        assert_alike(found, exact, events)
        assert found.rejected == len(BAD_ROWS)

    def test_every_predicate_and_pair_is_measured_exactly(self, found, exact, events):
        assert found.predicates == exact.predicates
        assert found.predicate_pairs == exact.predicate_pairs
        for each in found.predicates:
            held = thatch.parse(each.text)
            assert each.events == sum(map(held.matches, events)), each.text

    def test_subscriptions_are_measured_exactly_and_bad_ones_counted(self, found, exact, events):
        assert found.matches.rejected == len(BAD_SUBSCRIPTIONS)
        assert found.matches.distribution == exact.matches.distribution
        assert found.matches.heaviest == exact.matches.heaviest
        wanted = {identity: sum(map(each.matches, events)) for identity, each in parsed_filters().items()}
        assert dict(found.matches.heaviest) == {
            identity: count for identity, count in wanted.items() if count
        }
        assert found.matches.never == sum(count == 0 for count in wanted.values()) >= 1
        assert found.matches.total == sum(wanted.values())

    def test_probabilities_are_those_of_an_exact_profile_up_to_the_bounds(self, found, exact, events):
        for text in (
            "price < 20",
            "price between 5 and 50",
            "symbol < 'S2'",
            "symbol = 'S3'",
            "mixed = 5",
            "id > 1000",
        ):
            ((key, constraint),) = thatch.parse(text).conjunctions[0].constraints
            true = sum(map(thatch.parse(text).matches, events)) / len(events)
            slack = 0.07 if "symbol <" in text else 0.012
            assert Selectivity(found).estimate(key, constraint) == pytest.approx(true, abs=slack), text
            assert Selectivity(exact).estimate(key, constraint) == pytest.approx(true, abs=0.012), text

    def test_structs_and_typed_columns_are_profiled_as_events(self, spark):
        rows = [
            (
                number,
                None if number % 3 else float(number % 7),
                Decimal(number) / 4,
                date(2026, 1, 1 + number % 28),
                (None if number % 5 else f"k{number % 11}", [number % 2, number % 3]),
            )
            for number in range(500)
        ]
        schema = "n int, x double, m decimal(10,2), day date, o struct<kind: string, many: array<int>>"
        table = spark.createDataFrame(rows, schema)
        events = list(event_rows(table.toArrow(), nulls="missing", json_column=None))
        assert_alike(profile(table), Profile.of(events), events)

    def test_an_empty_log_has_an_empty_profile(self, spark):
        subscriptions = spark.createDataFrame([("a", "x = 1")], "subscription string, filter string")
        empty = profile(spark.createDataFrame([], "x int"), subscriptions)
        assert empty.events == 0
        assert empty.attributes == ()
        assert empty.matches.never == 1
        assert empty.predicates[0].events == 0
        assert empty.present("x") == 0
        assert Selectivity(empty).estimate("x", thatch.parse("x = 1").conjunctions[0].constraints[0][1]) == 0

    def test_a_sample_says_so_and_is_within_its_error(self, spark):
        log = spark.range(20_000).selectExpr("id as n", "id % 4 = 0 as quarter")
        half = profile(log, fraction=0.5)
        assert half.bounds.fraction == 0.5
        assert 9_000 < half.events < 11_000
        flag = half.attribute("quarter")
        assert flag.trues / flag.values == pytest.approx(0.25, abs=2 * half.sampling_error(0.25))

    def test_what_cannot_be_profiled_is_refused_by_name(self, spark):
        log = spark.range(3)
        with pytest.raises(SparkError, match="fraction above 0"):
            profile(log, fraction=0)
        with pytest.raises(TableError, match="`line`"):
            profile(log, json="line")
        with pytest.raises(TableError, match="binary"):
            profile(log.selectExpr("cast('a' as binary) as b"))
        with pytest.raises(TableError, match="`filter`"):
            profile(log, spark.createDataFrame([("a",)], "subscription string"))


def test_numbers_of_the_made_events_are_finite_where_ranks_are_compared():
    assert all(isfinite(each["price"]) for each in made_events(50))
