"""Profiles counted exactly, and what can be asked of them."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import thatch
from tests import strategies as make
from thatch.model.lines import EMPTY, MISSING, PRESENT, WHOLE, Constraint
from thatch.model.profile import STEPS, AttributePair, AttributeSet, Bounds, Matches, Profile, predicates_of
from thatch.model.profile.attributes import AttributeProfile
from thatch.model.profile.counting import pair_text
from thatch.model.profile.distributions import Distribution

EVENTS: list[Any] = [
    {"a": 1, "b": [{"c": 2}, {"c": "x"}, {}]},
    {"a": None, "d": [1, 2, 2], "e": {}},
    {"a": nan, "f": {"g": True}},
    {"a": 1.0, "f": {"g": False}, "l": []},
    {"a": 2**70},
    "no event",
]


def constraint_of(text: str) -> tuple[str, Constraint]:
    ((key, constraint),) = thatch.parse(text).conjunctions[0].constraints
    return key, constraint


# --- counting --------------------------------------------------------------------------------------------------


def test_an_event_has_an_attribute_once_and_a_value_for_each_element():
    profile = Profile.of(EVENTS)
    assert (profile.events, profile.rejected) == (4, 2)
    assert sum(count for _, count in profile.reasons) == 2
    a, d, c = (profile.attribute(key) for key in ("a", "d", "b.c"))
    assert (a.events, a.values, a.nulls, a.nans, a.numbers) == (4, 4, 1, 1, 2)
    assert (d.events, d.values, d.distinct, d.heavy) == (1, 3, 2, ((2, 2), (1, 1)))
    assert (c.events, c.values, c.numbers, c.texts) == (1, 2, 1, 1)
    assert profile.attribute("e") is None  # an object is no value
    assert profile.attribute("l") is None  # an empty list is missing
    assert profile.present("f.g") == 0.5
    assert profile.present("nothing") == 0.0


def test_sets_and_pairs_of_attributes_are_counted():
    profile = Profile.of(EVENTS)
    assert AttributeSet(("a", "f.g"), 2) in profile.sets
    assert profile.set_count == len(profile.sets) == 3
    assert profile.pairs[0] == AttributePair("a", "f.g", 2)


def test_quantiles_run_from_the_least_to_the_greatest_in_equal_steps():
    numbers = Profile.of([{"x": each} for each in range(1, 1001)]).attribute("x")
    assert len(numbers.quantiles) == STEPS + 1
    assert (numbers.quantiles[0], numbers.quantiles[STEPS // 2], numbers.quantiles[-1]) == (1, 500, 1000)


def test_integers_that_no_double_equals_are_counted_as_wide():
    profile = Profile.of([{"x": 2**53}, {"x": 2**53 + 1}, {"x": 2**60}, {"x": 1e300}])
    assert profile.attribute("x").wide == 1
    assert profile.attribute("x").distinct == 4


def test_misfits_count_as_missing():
    profile = Profile.of([{"x": 5}, {"x": 50}], schema=thatch.Schema({"x": thatch.Integer(0, 10)}))
    assert profile.misfits == 1
    assert profile.present("x") == 0.5


def test_predicates_are_the_conditions_of_conjunctions():
    held = thatch.parse("a = 1 and b like '%x%y' or a = 1 and c > 2 and d is missing")
    found = list(predicates_of(held))
    texts = [[text for text, _ in alone] for alone, _ in found]
    assert sorted(map(sorted, texts)) == [["a = 1", "b like '%x%y'"], ["a = 1", "c > 2", "d is missing"]]
    assert sorted(len(pairs) for _, pairs in found) == [1, 3]
    assert all(first < second for _, pairs in found for first, second in pairs)
    assert list(predicates_of(thatch.parse("true"))) == [([], [])]


@given(make.expressions, make.schemas)
def test_every_predicate_and_pair_is_a_filter_by_itself(expression, schema):
    try:
        held = thatch.Filter.of(expression, schema)
    except thatch.FilterError:
        assume(False)
    for alone, pairs in predicates_of(held):
        for text, keys in alone:
            assert thatch.parse(text, schema=schema).conjunctions
            assert keys
        for first, second in pairs:
            assert thatch.parse(pair_text(first, second), schema=schema).conjunctions


def test_predicates_pairs_and_subscriptions_are_measured():
    filters = {"one": "a = 1", "both": "a = 1 and f.g = false", "none": "a > 5", "all": "true"}
    profile = Profile.of(EVENTS, {name: thatch.parse(text) for name, text in filters.items()})
    assert [(each.text, each.uses, each.events) for each in profile.predicates] == [
        ("a = 1", 2, 2),
        ("a > 5", 1, 0),
        ("f.g = false", 1, 1),
    ]
    assert [(each.uses, each.events) for each in profile.predicate_pairs] == [(1, 1)]
    assert profile.matches == Matches(
        subscriptions=4,
        distribution=((0, 1), (1, 1), (2, 1), (4, 1)),
        heaviest=(("all", 4), ("one", 2), ("both", 1)),
    )
    assert (profile.matches.never, profile.matches.total) == (1, 7)


def test_nothing_has_a_profile_too():
    empty = Profile.of([], {})
    assert empty.events == 0
    assert empty.matches.never == 0
    assert empty.probability("x", PRESENT) == 0.0
    assert empty.probability("x", WHOLE) == 1.0


# --- asking ----------------------------------------------------------------------------------------------------


def test_a_measured_predicate_is_answered_exactly():
    events = [{"x": each} for each in range(997)]
    profile = Profile.of(events, {"a": thatch.parse("x < 123")})
    assert profile.probability(*constraint_of("x < 123")) == 123 / 997


@pytest.mark.parametrize(
    "text", ["x < 123.4", "x between 100 and 800", "x >= 990", "x != 5", "x in (1, 2, 900)"]
)
def test_an_interval_is_answered_to_within_two_steps(text):
    events = [{"x": (each * 7919) % 1000} for each in range(5_000)]
    true = sum(map(thatch.parse(text).matches, events)) / len(events)
    assert Profile.of(events).probability(*constraint_of(text)) == pytest.approx(true, abs=2 / STEPS)


def test_frequent_values_and_types_are_answered_exactly():
    events = [{"x": value} for value in [1, 1, 1, 2, "a", "a", True, None, nan]] + [{}]
    profile = Profile.of(events)
    for text in (
        "x = 1",
        "x = 'a'",
        "x = true",
        "x is null",
        "x < 2",
        "exists(x)",
        "x is missing",
        "x is distinct from 1",
    ):
        true = sum(map(thatch.parse(text).matches, events)) / len(events)
        assert profile.probability(*constraint_of(text)) == pytest.approx(true), text


def test_what_is_derived_is_answered_from_frequent_values_and_a_sample():
    words = ["IBM", "ibm", "Apple", "10.0.0.1", "2026-01-31", 5, None]
    events = [{"x": word} for word in words]
    profile = Profile.of(events)
    for text in (
        "lower(x) = 'ibm'",
        "x like '%m'",
        "ip(x) = '10.0.0.1'",
        "time(x) > '2026-01-01'",
        "lower(x) = 5",
    ):
        true = sum(map(thatch.parse(text).matches, events)) / len(events)
        key, constraint = constraint_of(text)
        assert profile.probability(key, constraint) == pytest.approx(true), text
    assert profile.probability("ip(x)", MISSING) == pytest.approx(6 / 7)


def test_elements_of_a_list_are_taken_to_be_independent():
    profile = Profile.of([{"x": [1, 2]}] * 10 + [{}] * 10)
    assert profile.probability(*constraint_of("x = 1")) == pytest.approx(0.5 * 0.75)


def test_a_value_that_is_not_frequent_gets_what_is_left():
    rare = Distribution(1_000, 101, (0.0, 1.0), ((0, 900),))
    assert rare.share(constraint_of("x = 0.5")[1]) == pytest.approx(0.1 / 100)
    assert rare.share(constraint_of("x = 7")[1]) == 0.0  # beyond the greatest


def test_shares_stand_far_values_and_texts():
    ends = Distribution(10, 10, (-inf, 0.0, inf), ())
    assert ends.share(constraint_of("x <= 0")[1]) == pytest.approx(0.5, abs=0.5)
    texts = Profile.of([{"x": each} for each in "abcdefghij"]).attribute("x")
    assert texts.share(constraint_of("x < 'f'")[1]) == pytest.approx(0.5, abs=0.02)
    assert texts.share(EMPTY) == 0.0
    assert Profile.of([{"x": 1}]).probability("x", EMPTY) == 0.0
    assert AttributeProfile(key="x", events=0, values=0, distinct=0).share(PRESENT) == 0.0
    assert AttributeProfile(key="x", events=0, values=0, distinct=0).derived_share("lower(x)", PRESENT) == 0.0


@given(st.lists(make.events, max_size=20))
def test_shares_lie_between_nothing_and_all_and_add_up(events):
    profile = Profile.of(events)
    for each in profile.attributes:
        assert each.values == each.nulls + each.falses + each.trues + each.nans + each.numbers + each.texts
        assert profile.probability(each.key, PRESENT) == pytest.approx(profile.present(each.key))
        assert profile.probability(each.key, WHOLE) == pytest.approx(1.0)
        assert sum(count for _, count in each.heavy) <= each.numbers + each.texts


def test_a_sample_tells_its_error():
    assert Profile.of([{"x": 1}]).sampling_error() == 0.0
    half = Profile(events=10_000, bounds=Bounds(fraction=0.5))
    assert half.sampling_error() == pytest.approx(0.0098)
