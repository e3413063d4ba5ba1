"""Profiles counted exactly, and what can be asked of them."""

from __future__ import annotations

from math import nan
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import thatch
from tests import strategies as make
from thatch.model.lines import Constraint
from thatch.model.profile import (
    STEPS,
    AttributePair,
    AttributeSet,
    ErrorBounds,
    MatchCounts,
    Profile,
    predicates_of,
)
from thatch.model.profile.counting import pair_text

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
    assert profile.matches == MatchCounts(
        subscriptions=4,
        distribution=((0, 1), (1, 1), (2, 1), (4, 1)),
        heaviest=(("all", 4), ("one", 2), ("both", 1)),
    )
    assert (profile.matches.never, profile.matches.total) == (1, 7)


def test_nothing_has_a_profile_too():
    empty = Profile.of([], {})
    assert empty.events == 0
    assert empty.matches.never == 0


@given(st.lists(make.events, max_size=20))
def test_counts_of_an_attribute_add_up(events):
    profile = Profile.of(events)
    for each in profile.attributes:
        assert each.values == each.nulls + each.falses + each.trues + each.nans + each.numbers + each.texts
        assert sum(count for _, count in each.heavy) <= each.numbers + each.texts


def test_a_sample_tells_its_error():
    assert Profile.of([{"x": 1}]).sampling_error() == 0.0
    half = Profile(events=10_000, bounds=ErrorBounds(fraction=0.5))
    assert half.sampling_error() == pytest.approx(0.0098)
