"""A profile made by Spark is the one that is counted event by event, up to the bounds that it states."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import Counter
from datetime import date
from decimal import Decimal
from math import isfinite
from typing import Any

import pytest

import thatch
from tests.pipeline.made_events import is_number, made_events
from thatch.engine.tables import event_rows
from thatch.errors import ParameterError, TableError
from thatch.model.profile import AttributeProfile, Profile
from thatch.model.selectivity import Selectivity
from thatch.pipeline.transforms.profiling.profile import profile

on_spark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]

EXACT = (
    "events", "values", "nulls", "falses", "trues", "nans", "numbers", "texts", "wide", "shortest", "longest",
    "characters",
)  # fmt: skip

# --- data ------------------------------------------------------------------------------------------------------


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
        with pytest.raises(ParameterError, match="fraction above 0"):
            profile(log, fraction=0)
        with pytest.raises(TableError, match="`line`"):
            profile(log, json="line")
        with pytest.raises(TableError, match="`filter`"):
            profile(log, spark.createDataFrame([("a",)], "subscription string"))


def test_numbers_of_the_made_events_are_finite_where_ranks_are_compared():
    assert all(isfinite(each["price"]) for each in made_events(50))
