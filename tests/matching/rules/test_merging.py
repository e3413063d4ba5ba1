"""Which rules are merged when: new ones at once, segments by tiers, so that there are few and each rule moves seldom."""

from __future__ import annotations

import math

import pytest

from thatch import parse
from thatch.matching.segments import SegmentIndex
from thatch.matching.segments.rules import merging
from thatch.matching.segments.rules.merging import RuleJob, next_rule_job
from thatch.matching.segments.rules.segment import RuleSegment
from thatch.model.events import read_event

RULE = parse("a like '%x%'")


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rules each merge wrote."""
    sizes: list[int] = []
    build = RuleJob.build

    def counted(job: RuleJob) -> list[RuleSegment]:
        built = build(job)
        sizes.extend(map(len, built))
        return built

    monkeypatch.setattr(RuleJob, "build", counted)
    return sizes


@pytest.mark.parametrize("background", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_segments_stay_few_and_a_rule_moves_few_times(
    background: bool, moved: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "FRESH", 4)
    index, count = SegmentIndex(background=background), 700
    for slot in range(count):
        index.add(slot, RULE)
        if background:
            index.merge()
        levels = math.log(slot + 2, 4) + 1
        assert index.stats()["rule_segments"] <= 3 * levels
    assert sum(moved) <= count * 2 * levels + count
    assert index.match(read_event({"a": "x"})) == list(range(count))


@pytest.mark.parametrize("size", [1, 40])
def test_sets_that_are_segments_at_once_are_merged_too(size: int, moved: list[int]) -> None:
    index, sets = SegmentIndex(), 60
    for first in range(0, sets * size, size):
        index.extend(dict.fromkeys(range(first, first + size), RULE))
        levels = math.log(first + 2, 4) + 1
        assert index.stats()["rule_segments"] <= 3 * levels
    assert sum(moved) <= sets * size * 2 * levels
    assert index.match(read_event({"a": "x"})) == list(range(sets * size))


def test_new_rules_wait_until_there_are_some_unless_a_thread_merges() -> None:
    for background in (False, True):
        index = SegmentIndex(background=background)
        for slot in range(merging.FRESH - 1):
            index.add(slot, RULE)
        assert index.has_work == background
        assert index.stats()["rule_segments"] == 0
        index.add(merging.FRESH - 1, RULE)
        index.merge()
        assert index.stats()["rule_segments"] == 1


def test_what_is_mostly_dead_is_mended_and_what_is_all_dead_is_gone() -> None:
    index = SegmentIndex()
    index.extend(dict.fromkeys(range(10), RULE))
    index.remove(*range(5))
    assert [len(each) for each in index.view.shape.rules] == [10]
    index.remove(5)
    assert [len(each) for each in index.view.shape.rules] == [4]
    index.remove(*range(6, 10))
    assert index.view.shape.rules == ()
    assert index.match(read_event({"a": "x"})) == []


def test_a_segment_that_counted_enough_is_laid_out_again() -> None:
    index = SegmentIndex(background=True)
    index.extend(dict.fromkeys(range(3), RULE))
    (segment,) = index.view.shape.rules
    assert next_rule_job([segment], {}, index.number_of) is None
    segment.class_hits[-1] = segment.next_layout
    job = next_rule_job([segment], {}, index.number_of)
    assert job is not None
    (again,) = job.build()
    assert again.table is segment.table
    assert again.died is segment.died


def test_what_was_counted_is_known_to_what_is_merged() -> None:
    index = SegmentIndex(background=True)
    for first in (0, 40):
        index.extend({first + slot: parse(f"a like '%x{slot}%'") for slot in range(20)})
    for _ in range(300):
        index.match(read_event({"a": "x1 x2"}))
    job = RuleJob(index.view.shape.rules, index.number_of)
    (built,) = job.build()
    shares = dict(
        zip((built.table.atom_text[atom] for atom in range(20)), built.shares.atoms.tolist(), strict=True)
    )
    assert shares[b"x1"] == shares[b"x2"] > 0.9
    assert shares[b"x3"] < 0.01
    assert not built.wants_layout
