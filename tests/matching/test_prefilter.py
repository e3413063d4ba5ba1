"""Sieves never drop a box that holds an event, and say something of boxes with unions and checks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from thatch.matching import reference
from thatch.matching.segments import SegmentIndex
from thatch.matching.segments.columns import Texts
from thatch.matching.segments.kernels.prefilter import ALL, BITS, NONE, needed_letters
from thatch.matching.segments.parts import program
from thatch.matching.segments.segment import Segment
from thatch.model.events import read_event
from thatch.model.filters import Filter
from thatch.model.language.text import expression_of_text
from thatch.model.residuals import WildcardCheck
from thatch.workloads import generate

letters = st.text("abé_", max_size=5)
pieces = st.text("abé", min_size=1, max_size=3)
patterns = st.builds("{}{}{}".format, pieces, st.sampled_from(["", "%", "_"]), pieces)
numbers = st.integers(0, 9)
conditions = st.one_of(
    st.builds("{{0}} like '%{}%'".format, patterns),
    st.builds("{{0}} not like '%{}%'".format, patterns),
    st.builds("{{0}} like '{}'".format, patterns),
    st.lists(letters, min_size=2, max_size=4).map(lambda some: f"{{0}} in ({', '.join(map(repr, some))})"),
    st.lists(numbers, min_size=2, max_size=4).map(lambda some: f"{{0}} in ({', '.join(map(str, some))})"),
    st.builds("({{0}} <= {} or {{0}} is missing)".format, numbers),
    st.builds("({{0}} = {} or {{0}} > 7)".format, numbers),
    st.sampled_from(["{0} is distinct from 3", "lower({0}) like '%b%'", "{0} is null"]),
)
filters = st.lists(
    st.dictionaries(st.sampled_from("xyz"), conditions, min_size=1).map(
        lambda sides: " and ".join(condition.format(name) for name, condition in sides.items())
    ),
    min_size=1,
    max_size=12,
)
scalars = st.one_of(letters, numbers, st.none(), st.sampled_from([2**53 + 1, 0.5, True, "ab" * 200]))
values = st.one_of(scalars, st.lists(scalars, max_size=3))
given_events = st.lists(st.dictionaries(st.sampled_from("xyz"), values), min_size=1, max_size=5)


@given(texts=filters, events=given_events)
@example(texts=["x like '%é%'"], events=[{"x": "aé"}])
@example(texts=["x in (9007199254740992, 9007199254740994)"], events=[{"x": 2**53 + 1}])
def test_no_box_that_holds_an_event_is_dropped(texts: list[str], events: list[dict[str, Any]]) -> None:
    expressions = [expression_of_text(text) for text in texts]
    index = SegmentIndex()
    index.extend({slot: Filter.of(each) for slot, each in enumerate(expressions)})
    for event in events:
        wanted = [slot for slot, each in enumerate(expressions) if reference.matches(each, event)]
        assert index.match(read_event(event)) == wanted


@given(pattern=patterns, text=letters)
def test_a_text_that_passes_a_check_has_the_letters_that_it_needs(pattern: str, text: str) -> None:
    for words in (f"y like '%{pattern}%'", f"y not like '%{pattern}%'"):
        checks = [
            each
            for conjunction in Filter.of(expression_of_text(words)).conjunctions
            for each in conjunction.residuals
            if isinstance(each, WildcardCheck)
        ]
        programs = Texts.of([code for each in checks if (code := program(each)) is not None])
        needs = np.zeros(len(programs), np.int64)
        needed_letters(programs.offsets, programs.blob, needs)
        for check, need in zip(checks, needs.tolist(), strict=True):
            assert need & ~ALL == 0
            assert need == 0 or not check.negated
            if not check.negated and reference.matches(expression_of_text(words), {"y": text}):
                assert need & ~_letters_of(text.encode()) == 0


def _letters_of(text: bytes) -> int:
    """As the kernel hashes pairs of letters."""
    found = 0
    for first, second in pairwise(text):
        found |= 1 << (((((first << 8) ^ (second * 31)) * 40_503) & 0xFFFF) * BITS >> 16)
    return found


def test_boxes_with_unions_and_checks_have_a_prefilter_and_others_none() -> None:
    index = SegmentIndex()
    texts = [
        "x in ('a', 'b') and y = 1",
        "x like '%abc%' and y = 1",
        "x not like '%abc%' and y = 1",
        "x = 1 and y > 2",
    ]
    index.extend({slot: Filter.of(expression_of_text(text)) for slot, text in enumerate(texts)})
    (columns,) = index.arrays()[1]
    segment = Segment.from_arrays(columns)
    by_slot = segment.prefilter[
        np.argsort(segment.slots()[segment.box_owner] if len(segment.box_owner) else segment.slots())
    ]
    assert (by_slot != NONE).tolist() == [True, True, False, False]
    plain = SegmentIndex()
    plain.extend(dict(enumerate(generate("W1", 100, 1, 2).filters())))
    assert len(plain.arrays()[1][0]["prefilter"]) == 0


@pytest.mark.slow
def test_columns_without_a_prefilter_are_a_segment_without_one() -> None:
    index = SegmentIndex()
    workload = generate("W5", 600, 30, 2)
    index.extend(dict(enumerate(workload.filters())))
    keys, (columns,), rules = index.arrays()
    older = {name: array for name, array in columns.items() if name != "prefilter"}
    other = SegmentIndex()
    other.restore(keys, [older], rules)
    for event in workload.events():
        assert other.match(read_event(event)) == index.match(read_event(event))
