"""What may share an event with a condition: at least every filter that does, and of simple ones no other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import expressions
from thatch import parse
from thatch.errors import FilterError
from thatch.matching.labelled import LabelledIndex
from thatch.matching.segments.building import tables
from thatch.model.filters import Filter

ENDS = st.sampled_from([-1, 0, 0.5, 1, 2, 5, 2**53, 2**53 + 1, 2**53 + 2, 2**63 - 1])
TEXTS = st.sampled_from(["", "a", "ab", "abcdefgh", "abcdefghi", "b", "é"])
simple = st.one_of(
    st.tuples(ENDS, ENDS).map(lambda ends: f"between {min(ends)} and {max(ends)}"),
    ENDS.map(lambda end: f"<= {end}"),
    ENDS.map(lambda end: f"> {end}"),
    ENDS.map(lambda end: f"= {end}"),
    TEXTS.map(lambda end: f">= '{end}'"),
    TEXTS.map(lambda end: f"<= '{end}'"),
    TEXTS.map(lambda end: f"= '{end}'"),
    st.sampled_from(["is null", "is not null", "is missing", "= true"]),
)
boxes = st.dictionaries(st.sampled_from(["x", "y", "z"]), simple, min_size=1).map(
    lambda sides: parse(" and ".join(f"{name} {side}" for name, side in sides.items()))
)


def index_of(filters: list[Filter], together: int) -> LabelledIndex:
    """An index with so many filters in a segment and all others in deltas; the label of a slot is a third of it."""
    index = LabelledIndex()
    index._index.grow()
    index.extend(dict(enumerate(filters[:together])), {slot: slot // 3 for slot in range(together)})
    for slot, each in enumerate(filters[together:], together):
        index.add(slot, each, slot // 3)
    return index


def labels(index: LabelledIndex, filters: list[Filter], asked: Filter) -> set[int]:
    """Labels of filters that intersect, by index."""
    every = range(len(filters) // 3 + 1)
    return index.meeting_labels(
        [(each, 0) for each in asked.outer_conjunctions], every, lambda slot: filters[slot].intersects(asked)
    )


@given(data=st.data())
def test_whatever_shares_an_event_is_found(data: st.DataObject) -> None:
    filters: list[Filter] = []
    for expression in data.draw(st.lists(expressions, min_size=1, max_size=10)):
        try:
            filters.append(Filter.of(expression))
        except FilterError:
            continue
    if not filters:
        return
    *held, asked = filters
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tables, "_CODES", data.draw(st.sampled_from([8, 65_535])))
        index = index_of(held, data.draw(st.integers(0, len(held))))
        gone = data.draw(st.sets(st.sampled_from(range(len(held))))) if held else set()
        index.remove(*gone)
    wanted = [slot for slot, each in enumerate(held) if slot not in gone and each.intersects(asked)]
    assert set(wanted) <= set(index.meeting(asked.outer_conjunctions))
    assert labels(index, held, asked) == {slot // 3 for slot in wanted}


@given(filters=st.lists(boxes, min_size=2, max_size=8), is_together=st.booleans())
def test_of_boxes_in_segments_nothing_else_is_found(filters: list[Filter], is_together: bool) -> None:
    *held, asked = filters
    index = index_of(held, len(held) if is_together else 0)
    wanted = [slot for slot, each in enumerate(held) if each.intersects(asked)]
    found = index.meeting(asked.outer_conjunctions)
    assert set(wanted) <= set(found)
    whole = all(
        float(cut[1]) == cut[1]
        for each in filters
        for conjunction in each.conjunctions
        for _, cuts in conjunction.constraints
        for cut in cuts
        if len(cut) == 3 and cut[0] == 5
    )
    if is_together and whole and asked.alternatives:
        assert found == wanted
    assert labels(index, held, asked) == {slot // 3 for slot in wanted}


def test_a_search_leaves_nothing_behind_for_the_next() -> None:
    index = index_of([parse(f"x = {number} and y > {number}") for number in range(300)], 200)
    assert index.meeting(parse("x = 5").conjunctions) == [5]
    assert index.meeting(parse("y < 3 and x is not null").conjunctions)[:3] == [0, 1, 2]
    assert index.meeting(parse("true").conjunctions) == list(range(300))


def test_rules_are_candidates_for_everything() -> None:
    index = index_of([parse(f"t like '%{number}a%'") for number in range(50)], 20)
    index.remove(7, 30)
    assert index.meeting(parse("x = 1").conjunctions) == [each for each in range(50) if each not in (7, 30)]
    asked = [(each, 0) for each in parse("x = 1").conjunctions]
    assert index.meeting_labels(asked, [3, 16, 99], lambda slot: slot == 11) == {3}


@pytest.mark.parametrize("together", [0, 30, 100])
def test_only_filters_with_the_traits_that_are_needed_are_found(together: int) -> None:
    index = index_of([parse(f"x > {number}") for number in range(together)], together)
    for slot in range(together, 100):
        index.add(slot, parse(f"x > {slot}"), slot // 3, traits=1 << 63 if slot == 50 else 6)
    (asked,) = parse("x > 1000").conjunctions
    for needed, slots in ((2, {*range(together, 100)} - {50}), (1 << 63, {50}), (1, set()), (7, set())):
        looked_at: set[int] = set()
        found = index.meeting_labels(
            [(asked, needed)], range(40), lambda slot, seen=looked_at: seen.add(slot) is None
        )
        wanted = {slot for slot in slots if slot >= together}
        assert found == {slot // 3 for slot in wanted}
        assert looked_at <= wanted
