"""The rules of an index under changes and merges: what a reader finds is what was held when it took its view."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.examples import examples
from thatch import parse
from thatch.matching.segments import SegmentIndex
from thatch.matching.segments.rules import merging
from thatch.matching.segments.rules.merging import RuleJob
from thatch.matching.segments.rules.routing import is_rule
from thatch.matching.segments.view import View
from thatch.model.events import read_event
from thatch.model.filters import Filter

TEXTS = [
    "a like '%ab%'",
    "a like '%b%' and b like 'x%'",
    "lower(a) = 'ab' or b like '%yz%'",
    "a like '%ab%c' and not b like '%x%'",
    "lower(b) in ('x', 'y') and n > 3",
    "a like '%a%' and c.d like '%q%'",
    "e1 like '%ab%' or e2 like '%ab%' and e3 = 5",
]
BOXES = ["n > 3", "a = 'ab'", "b = 'x' and n < 9"]
FILTERS = [parse(text) for text in TEXTS + BOXES]
EVENTS = [
    {"a": "xabc", "b": "xyz", "n": 5},
    {"a": ["b", "ab"], "b": "X", "c": {"d": "qq"}},
    {"a": "AB", "b": "yz", "n": 2**53 + 1, "e1": "ab"},
    {"b": "x", "n": 4, "e2": "abab", "e3": 5},
]
RECORDS = [read_event(event) for event in EVENTS]

Held = dict[int, Filter]


def wanted(held: Held) -> list[list[int]]:
    """The slow answers to all events."""
    return [[slot for slot, each in sorted(held.items()) if each.holds(record)] for record in RECORDS]


def answers(view: View) -> list[list[int]]:
    return [view.match(record).tolist() for record in RECORDS]


def test_most_of_these_filters_are_rules() -> None:
    assert [is_rule(each) for each in FILTERS] == [True] * len(TEXTS) + [False] * len(BOXES)


class StepsOfMerging(RuleBasedStateMachine):
    """An index whose merges are taken step by step, with changes, failures and readers in between."""

    SLOTS = st.integers(0, 11)

    def __init__(self) -> None:
        super().__init__()
        self.patched = pytest.MonkeyPatch()
        self.patched.setattr(merging, "FRESH", 1)
        self.index = SegmentIndex(capacity=3, background=True)
        self.held: Held = {}
        self.views: list[tuple[View, list[list[int]]]] = []
        self.job: object = None
        self.built: object = None

    def teardown(self) -> None:
        self.patched.undo()

    @rule(slot=SLOTS, filter=st.sampled_from(FILTERS))
    def put(self, slot: int, filter: Filter) -> None:
        if slot in self.held:
            self.index.replace(slot, filter)
        else:
            self.index.add(slot, filter)
        self.held[slot] = filter

    @rule(data=st.data())
    def put_the_same_again(self, data: st.DataObject) -> None:
        if self.held:
            slot = data.draw(st.sampled_from(sorted(self.held)))
            self.index.replace(slot, self.held[slot])

    @rule(filters=st.dictionaries(SLOTS, st.sampled_from(FILTERS), min_size=1))
    def put_many(self, filters: Held) -> None:
        self.index.extend(filters, removed=[slot for slot in filters if slot in self.held])
        self.held |= filters

    @rule(slots=st.sets(SLOTS))
    def remove(self, slots: set[int]) -> None:
        known = slots & self.held.keys()
        self.index.remove(*known)
        for slot in known:
            del self.held[slot]

    @rule(slots=st.sets(SLOTS, min_size=1), filter=st.sampled_from(FILTERS))
    def fail_to_change(self, slots: set[int], filter: Filter) -> None:
        before = self.index.view
        known = slots & self.held.keys()
        self.index.remove(*known)
        if not known:
            self.index.add(min(slots), filter)
        if self.job is not None and self.built is None:
            self.build()
        self.index.revert(before)

    @precondition(lambda self: self.job is None)
    @rule()
    def begin_to_merge(self) -> None:
        self.job = self.index.next_job()

    @precondition(lambda self: self.job is None)
    @rule()
    def count_enough_to_lay_out_again(self) -> None:
        for segment in self.index.view.shape.rules:
            segment.class_hits[-1] = segment.next_layout

    @precondition(lambda self: self.job is not None and self.built is None)
    @rule()
    def build(self) -> None:
        self.built = self.job.build()  # type: ignore[attr-defined]  # a job of either kind

    @precondition(lambda self: self.built is not None)
    @rule()
    def finish(self) -> None:
        self.index.finish(self.job, self.built)  # type: ignore[arg-type]  # as above
        self.job = self.built = None

    @precondition(lambda self: self.job is None)
    @rule()
    def renumber(self) -> None:
        kept = sorted(self.held)
        new_slot = np.full(12, -1, np.int64)
        new_slot[kept] = np.arange(len(kept))
        self.index = self.index.renumber(new_slot)
        self.held = {new: self.held[slot] for new, slot in enumerate(kept)}
        assert self.index.stats()["rule_segments"] <= 1

    @precondition(lambda self: self.job is None)
    @rule()
    def save_and_restore(self) -> None:
        saved = self.index.arrays()
        self.index = SegmentIndex(capacity=3, background=True)
        self.index.restore(saved.keys, saved.segments, saved.rules)

    @rule()
    def begin_to_read(self) -> None:
        self.views = [*self.views[-2:], (self.index.view, wanted(self.held))]

    @invariant()
    def answers_are_those_of_the_filters(self) -> None:
        assert answers(self.index.view) == wanted(self.held)
        for slot, filter in self.held.items():
            assert self.index.filter(slot) == filter

    @invariant()
    def a_view_answers_as_of_its_moment(self) -> None:
        for view, expected in self.views:
            assert answers(view) == expected

    @invariant()
    def what_is_counted_is_there(self) -> None:
        assert self.index.stats()["rules"] == sum(map(is_rule, self.held.values()))


StepsOfMerging.TestCase.settings = examples(
    max(settings.default.max_examples // 2, 15), stateful_step_count=25
)
TestStepsOfMerging = StepsOfMerging.TestCase


# --- what went wrong once --------------------------------------------------------------------------------------------


def merging_index(count: int) -> tuple[SegmentIndex, RuleJob]:
    """An index with rules in slots from 0 on, and the merge of them under way."""
    index = SegmentIndex(background=True)
    for slot in range(count):
        index.add(slot, FILTERS[0])
    job = index.next_job()
    assert isinstance(job, RuleJob)
    return index, job


def test_a_rule_replaced_by_itself_during_a_merge_is_kept() -> None:
    index, job = merging_index(3)
    built = job.build()
    index.replace(1, FILTERS[0])
    index.finish(job, built)
    assert index.match(RECORDS[0]) == [0, 1, 2]
    index.merge()
    assert index.match(RECORDS[0]) == [0, 1, 2]
    assert index.stats()["rules"] == 3


@pytest.mark.parametrize("text", [TEXTS[0], BOXES[0]])
def test_what_a_failed_change_removed_while_a_merge_was_built_is_there(text: str) -> None:
    index = SegmentIndex(background=True)
    index.extend({slot: parse(text) for slot in range(5)})
    index.remove(0, 1, 2)
    before, job = index.view, index.next_job()
    assert job is not None
    index.remove(3)
    built = job.build()
    index.revert(before)
    index.finish(job, built)
    assert index.match(RECORDS[0]) == [3, 4]
    index.merge()
    assert index.match(RECORDS[0]) == [3, 4]
    assert index.stats()["dead"] == 0


@pytest.mark.parametrize("is_built", [False, True])
def test_rules_that_die_while_they_are_laid_out_again_are_counted_as_dead(is_built: bool) -> None:
    index = SegmentIndex(background=True)
    index.extend(dict.fromkeys(range(9), FILTERS[0]))
    (segment,) = index.view.shape.rules
    segment.class_hits[-1] = segment.next_layout
    job = index.next_job()
    assert isinstance(job, RuleJob)
    built = job.build() if is_built else None
    index.remove(1)
    index.finish(job, built or job.build())
    assert index.stats()["rules"] == 8
    assert index.view.shape.rules[0] is not segment
