"""Contestants must agree before they are timed; figures are an event, not a call."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.contest import Contestant, agree, latencies, race

FIRST = Contestant(name="first", call=lambda item: [item, item + 1], items=[1, 2, 3])


def test_contestants_that_find_the_same_agree_however_they_order_it():
    reverse = Contestant(name="reverse", call=lambda item: [item + 1, item], items=[1, 2])
    batched = Contestant(
        name="batch",
        call=lambda items: [[item, item + 1] for item in items],
        items=[[1, 2, 3]],
        events=3,
        split=list,
    )
    assert agree([FIRST, reverse, batched]) == 2.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda item: [item], "and first find different numbers of matches"),
        (lambda item: [item, item + 2], "and first find different matches"),
    ],
)
def test_a_contestant_that_finds_something_else_is_named(call, words):
    with pytest.raises(AssertionError, match=f"other {words}"):
        agree([FIRST, Contestant(name="other", call=call, items=[1, 2])])


def test_an_answer_for_too_few_events_is_refused():
    with pytest.raises(AssertionError, match="first answers for 1 events"):
        agree([Contestant(name="first", call=lambda _: [], items=[1], events=2)])


def test_a_race_has_a_figure_for_everyone_and_gives_each_its_turn():
    turns = []
    contestants = [
        Contestant(name=name, call=lambda item, name=name: turns.append((name, item)), items=[1, 2])
        for name in ("a", "b")
    ]
    taken = race(contestants, rounds=2, floor=0)
    assert sorted(taken) == ["a", "b"]
    assert all(value > 0 for value in taken.values())
    assert turns == [("a", 1), ("a", 2), ("b", 1), ("b", 2)] * 2


def test_latencies_has_a_figure_for_every_call():
    taken = latencies(lambda item: item, [1, 2, 3], rounds=2)
    assert taken.shape == (6,)
    assert np.all(taken > 0)
