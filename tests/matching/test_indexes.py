"""Every index of the family answers what the reference defines. A new one is tested by being listed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import events, expressions
from thatch import parse
from thatch.errors import EventError, FilterError
from thatch.matching import reference
from thatch.matching.necessary import NecessaryIndex
from thatch.matching.problem import Index
from thatch.matching.segments import SegmentIndex
from thatch.model.events import read_event
from thatch.model.filters import Filter

INDEXES: list[Callable[[], Index]] = [
    NecessaryIndex,
    SegmentIndex,
    partial(SegmentIndex, flush=1),
    partial(SegmentIndex, flush=3),
]


every_index = pytest.mark.parametrize("make_index", INDEXES, ids=str)


@every_index
@given(data=st.data())
def test_matches_what_the_reference_matches(make_index: Callable[[], Index], data: st.DataObject) -> None:
    index = make_index()
    held = {}
    for place, expression in enumerate(data.draw(st.lists(expressions, max_size=8))):
        try:
            index.add(place, Filter.of(expression))
        except FilterError:
            continue
        held[place] = expression
    for place in data.draw(st.sets(st.sampled_from(sorted(held)))) if held else ():
        index.remove(place)
        del held[place]
    for event in data.draw(st.lists(events, min_size=1, max_size=4)):
        try:
            record = read_event(event)
        except EventError:
            continue
        wanted = [place for place, expression in held.items() if reference.matches(expression, event)]
        assert index.match(record) == wanted
        assert index.any(record) == bool(wanted)


@every_index
def test_removing_everything_leaves_nothing_behind(make_index: Callable[[], Index]) -> None:
    index = make_index()
    empty = index.stats()
    texts = [
        "a = 1",
        "lower(b) = 'x'",
        "c like '%x%'",
        "d is missing",
        "e > 5 or f in (1, 2, 3)",
        "cidr(g, '10.0.0.0/8')",
    ]
    for place, text in enumerate(texts):
        index.add(place, parse(text))
    assert index.stats() != empty
    for place in range(len(texts)):
        index.remove(place)
    assert index.stats() == empty
