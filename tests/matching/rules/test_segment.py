"""A segment of rules keeps its answers at rest, under other numbers, and as of every moment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.matching.rules.drawn import EVENTS, FILTERS
from tests.matching.rules.segments import LAST, Numbers, answer, draft_of, filters_of, wanted
from tests.matching.rules.test_agreement import is_event
from thatch import parse
from thatch.matching.segments.records import ALIVE
from thatch.matching.segments.rules.segment import RuleSegment
from thatch.matching.segments.rules.workspace import RuleWorkspace
from thatch.model.events import read_event
from thatch.model.expressions import Expression

drawn_filters = st.lists(FILTERS, min_size=1, max_size=8)
drawn_events = st.lists(EVENTS, min_size=1, max_size=4).map(lambda events: [*filter(is_event, events)])


@given(expressions=drawn_filters, events=drawn_events, gone=st.sets(st.integers(0, 7)))
def test_what_is_saved_is_what_is_restored(
    expressions: list[Expression], events: list[dict[str, Any]], gone: set[int]
) -> None:
    numbers, filters = Numbers(), filters_of(expressions)
    segment = RuleSegment.build(draft_of(filters, numbers).table())
    for slot in gone & filters.keys():
        segment.remove(segment.find(slot), 5)
        del filters[slot]
    restored = RuleSegment.from_arrays({name: array.copy() for name, array in segment.arrays().items()})
    assert restored.dead == segment.dead
    for event in events:
        assert (
            answer([restored], event, numbers) == answer([segment], event, numbers) == wanted(filters, event)
        )
        assert answer([restored], event, numbers, 1) == wanted(filters, event), (
            "what was dead is so from the first on"
        )
    for slot, each in filters.items():
        assert restored.filter(restored.find(slot), None).tree == each.tree


@pytest.mark.slow
@given(expressions=drawn_filters, events=drawn_events, seed=st.integers(0, 100))
def test_other_numbers_of_slots_and_attributes_change_no_answer(
    expressions: list[Expression], events: list[dict[str, Any]], seed: int
) -> None:
    numbers, filters = Numbers({f"unused{number}": number for number in range(3)}), filters_of(expressions)
    segment = RuleSegment.build(draft_of(filters, numbers).table())
    rng = np.random.default_rng(seed)
    if len(filters) > 1:
        gone = min(filters)
        segment.remove(segment.find(gone), 5)
        del filters[gone]
    new_slot = np.sort(rng.permutation(50)[: len(expressions)])
    order = rng.permutation(len(numbers)).astype(np.int32)
    other = Numbers({key: int(order[number]) for key, number in numbers.items()})
    again = segment.renumber(new_slot, order)
    moved = {int(new_slot[slot]): each for slot, each in filters.items()}
    for event in events:
        assert answer([again], event, other) == wanted(moved, event)
    assert again.dead == segment.dead


@given(deaths=st.dictionaries(st.integers(0, 9), st.integers(2, 9)), back_to=st.integers(1, 9))
def test_a_rule_is_found_until_the_change_in_which_it_died(deaths: dict[int, int], back_to: int) -> None:
    numbers, event = Numbers(), {"a": "xyz"}
    filters = {slot: parse("a like '%y%'") for slot in range(10)}
    segment = RuleSegment.build(draft_of(filters, numbers).table())
    for slot, moment in deaths.items():
        segment.remove(segment.find(slot), moment)
        assert segment.find(slot) == -1
    assert segment.dead == len(deaths)
    assert segment.is_thin == (len(deaths) > 5)
    for moment in range(1, 11):
        alive = [slot for slot in filters if deaths.get(slot, LAST) > moment]
        assert answer([segment], event, numbers, moment) == alive
    segment.revive(back_to)
    kept = [slot for slot in filters if deaths.get(slot, LAST) > back_to]
    assert answer([segment], event, numbers) == kept
    assert [slot for slot in filters if segment.find(slot) >= 0] == kept
    assert segment.dead == 10 - len(kept)


def test_a_slot_may_have_a_dead_rule_and_a_living_one() -> None:
    numbers = Numbers()
    draft = draft_of({3: parse("a like '%x%'")}, numbers)
    draft.add(3, parse("a like '%y%'"))
    segment = RuleSegment.build(draft.table())
    first = segment.find(3)
    segment.remove(first, 5)
    second = segment.find(3)
    assert {first, second} == {0, 1}
    assert segment.filter(second, None) == parse("a like '%y%'" if second else "a like '%x%'")
    assert segment.slot_of(first) == segment.slot_of(second) == 3


def test_memory_is_told() -> None:
    sizes = []
    for count in (100, 1_000):
        numbers = Numbers()
        filters = {slot: parse(f"a like '%word number {slot}%'") for slot in range(count)}
        segment = RuleSegment.build(draft_of(filters, numbers).table())
        sizes.append(segment.nbytes())
        assert (segment.died == ALIVE).all()
    assert sizes[0] > 100 * len("a like '%word number 10%'")
    assert 4 < sizes[1] / sizes[0] < 20


def test_needles_move_to_grams_that_texts_rarely_have() -> None:
    numbers = Numbers()
    filters = {0: parse("a like '%abcdwxyz%'")}
    segment = RuleSegment.build(draft_of(filters, numbers).table())
    gram = int(segment.finding["entries"][0])
    common = gram.to_bytes(4, "little").decode()
    workspace, record = RuleWorkspace(), read_event({"a": f"{common} and more"})
    workspace.attach((segment,))
    for _ in range(200):  # of which some are looked at
        workspace.search_record(record, numbers, 1)
    again = segment.lay_out_again()
    assert int(again.finding["entries"][0]) != gram
    assert answer([again], {"a": "-abcdwxyz-"}, numbers) == [0]
    assert answer([again], {"a": common}, numbers) == []
