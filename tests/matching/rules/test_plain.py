"""Dicts of plain values, matched in one call of a kernel where that can be: the answer is that of the filters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.matching.rules.drawn import FLAT_EVENTS, conditions
from tests.matching.rules.segments import filters_of, wanted
from thatch import parse
from thatch.compiled.decorators import JIT
from thatch.matching.segments import SegmentIndex
from thatch.model.expressions import Expression
from thatch.model.filters import Filter

WARM_UP = 40  # events after which dicts are read in a kernel

RULES = [
    "lower(name) like '%ab%'",
    "lower(name) like '%a%' or lower(name) like '%b%' and size > 3",
    "lower(name) > 'b' and lower(name) < 'm'",
    "reverse(lower(name)) >= 'b' and reverse(lower(name)) < 'm'",
    "lower(name) = lower(title)",
    "anywhere() like '%x%'",
    "title ~ 'q+x?'",
]
BOXES = ["size > 3", "size between 1 and 5 and name = 'ab'", "ip(address) >= '10.0.0.0'", "name = title"]


def index_of(filters: dict[int, Filter]) -> SegmentIndex:
    """An index that has read some events."""
    index = SegmentIndex()
    index.extend(filters)
    for _ in range(WARM_UP):
        index.view.match_plain({"name": "z"}, np.ndarray.tolist)
    return index


def check(index: SegmentIndex, filters: dict[int, Filter], event: dict[str, Any]) -> None:
    found = index.view.match_plain(event, np.ndarray.tolist)
    assert found in (None, wanted(filters, event)), event


@given(
    expressions=st.lists(conditions(), min_size=1, max_size=8),
    events=st.lists(FLAT_EVENTS, min_size=1, max_size=6),
)
def test_boxes_and_rules_match_what_their_filters_match(
    expressions: list[Expression], events: list[dict[str, Any]]
) -> None:
    filters = filters_of(expressions)
    index = index_of(filters)
    for event in events:
        check(index, filters, event)


@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_what_python_must_do_between_changes_nothing_of_the_next_event(count: int) -> None:
    texts = [*RULES, *BOXES, *(f"size = {number}" for number in range(count))]
    filters = dict(enumerate(map(parse, texts)))
    index = index_of(filters)
    events: list[dict[str, Any]] = [
        {"name": "AB", "title": "ab", "size": 4},
        {"address": "10.0.0.1", "size": 1},
        {"name": "Grüße", "title": "GRÜSSE"},
        {"name": "b" * 20_000, "title": "q", "size": 2**60 + 1},
        {"name": ["ab", "c"], "title": "x"},
        {"unread": ["x"], "size": 7.5, "name": None},
        {"other": {"x": 1}, "name": "x"},
        {"address": "10.0.0.2", "name": "xab"},
        {},
    ]
    for number, event in enumerate(events):
        for other in events[number:]:
            check(index, filters, event)
            check(index, filters, other)


def test_most_events_need_no_python() -> None:
    index = index_of(dict(enumerate(map(parse, RULES + BOXES))))
    view = index.view
    room = view.pool.take(view.shape)
    assert (room.plain.match({"name": "cab", "size": 2}, 0, view.moment, view.boxes) >= 0) is JIT
    assert room.plain.match({"address": "10.0.0.1"}, 0, view.moment, view.boxes) < 0


def test_an_attribute_that_comes_later_is_read() -> None:
    filters = dict(enumerate(map(parse, RULES)))
    index = index_of(filters)
    filters[90] = parse("late like '%q%' or late like 'p%'")
    index.extend({90: filters[90]})
    check(index, filters, {"late": "aqa", "name": "ab"})
    check(index, filters, {"late": "pa", "name": "ab"})


@pytest.mark.parametrize("count", [60, 64, 65, 300])
def test_many_slots_of_boxes_and_rules_come_in_one_order(count: int) -> None:
    texts = ["size > 1" if number % 3 else "lower(name) like '%a%'" for number in range(count)]
    filters = dict(enumerate(map(parse, texts)))
    check(index_of(filters), filters, {"name": "cab", "size": 2})
