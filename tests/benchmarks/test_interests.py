"""Subscriptions derived from events."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.interests import draw_interests
from thatch.errors import EventError, ParameterError

EVENTS = [
    {"symbol": "ABC", "price": number / 4, "halted": number % 7 == 0, "note": None if number % 3 else "x"}
    for number in range(200)
]
NAMES = ("symbol", "price", "halted", "note")


def test_every_filter_wants_some_of_the_events_it_was_made_of() -> None:
    for filter in draw_interests(np.random.default_rng(1), EVENTS, 100, NAMES):
        assert any(filter.matches(event) for event in EVENTS)


def test_the_same_seed_gives_the_same_filters() -> None:
    first, second = (draw_interests(np.random.default_rng(3), EVENTS, 50, NAMES) for _ in range(2))
    assert first == second
    assert len(set(map(str, first))) > 20


def test_only_the_attributes_given_are_asked_for() -> None:
    for filter in draw_interests(np.random.default_rng(2), EVENTS, 50, ["price"]):
        assert {key for each in filter.conjunctions for key, _ in each.constraints} <= {"price"}


def test_filters_have_as_many_attributes_as_asked_for_and_no_open_ends_if_so_asked() -> None:
    for filter in draw_interests(np.random.default_rng(2), EVENTS, 50, NAMES, sizes=(3, 4), one_sided=0):
        (conjunction,) = filter.conjunctions
        assert 3 <= len(conjunction.constraints) <= 4
        assert all(len(end) == 3 for key, side in conjunction.constraints if key == "price" for end in side)


def test_events_that_lack_the_attributes_are_refused() -> None:
    with pytest.raises(EventError):
        draw_interests(np.random.default_rng(2), EVENTS, 5, ["weight"])
    with pytest.raises(ParameterError):
        draw_interests(np.random.default_rng(2), EVENTS, -1, NAMES)
    with pytest.raises(ParameterError):
        draw_interests(np.random.default_rng(2), EVENTS, 1, NAMES, sizes=(0, 1))
    with pytest.raises(ParameterError):
        draw_interests(np.random.default_rng(2), EVENTS, 1, NAMES, one_sided=2)
