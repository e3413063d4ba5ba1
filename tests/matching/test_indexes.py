"""Every index of the family answers what the reference defines. A new one is tested by being listed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.strategies import events, expressions
from thatch import parse
from thatch.errors import EventError, FilterError
from thatch.matching import reference
from thatch.matching.diagrams import DiagramIndex
from thatch.matching.necessary import NecessaryIndex
from thatch.matching.problem import Index
from thatch.matching.segments import SegmentIndex, delta, draft, merging
from thatch.matching.segments.building import layout, tables
from thatch.model.events import read_event
from thatch.model.filters import Filter
from thatch.workloads import Intervals, Matrix, generate

INDEXES: list[Callable[[], Index]] = [
    NecessaryIndex,
    SegmentIndex,
    partial(SegmentIndex, capacity=1),
    partial(SegmentIndex, capacity=3),
    DiagramIndex,
    partial(DiagramIndex, ("y", "a", "x"), "full pass"),
    partial(DiagramIndex, ("x", "o.p"), "top-down"),
]


every_index = pytest.mark.parametrize("make_index", INDEXES, ids=str)


@every_index
@given(data=st.data())
def test_matches_what_the_reference_matches(make_index: Callable[[], Index], data: st.DataObject) -> None:
    index = make_index()
    held = {}
    for slot, expression in enumerate(data.draw(st.lists(expressions, max_size=8))):
        try:
            index.add(slot, Filter.of(expression))
        except FilterError:
            continue
        held[slot] = expression
    for slot in data.draw(st.sets(st.sampled_from(sorted(held)))) if held else ():
        index.remove(slot)
        del held[slot]
    for event in data.draw(st.lists(events, min_size=1, max_size=4)):
        try:
            record = read_event(event)
        except EventError:
            continue
        wanted = [slot for slot, expression in held.items() if reference.matches(expression, event)]
        assert index.match(record) == wanted
        assert index.any(record) == bool(wanted)


@given(data=st.data())
def test_coarse_codes_and_shared_keys_change_no_answer(data: st.DataObject) -> None:
    """Codes of a few bits, which are checked exactly at their borders, and groups with all attributes as keys."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tables, "_CODES", data.draw(st.integers(4, 12)))
        patched.setattr(layout, "_MANY", 2)
        index = SegmentIndex(capacity=1_000)
        held = {}
        for slot, expression in enumerate(data.draw(st.lists(expressions, min_size=4, max_size=16))):
            try:
                held[slot] = (expression, Filter.of(expression))
            except FilterError:
                continue
        index.extend({slot: each for slot, (_, each) in held.items()})
        for event in data.draw(st.lists(events, min_size=1, max_size=4)):
            answer = index.view.match_plain(event, np.ndarray.tolist)
            try:
                record = read_event(event)
            except EventError:
                assert answer is None
                continue
            wanted = [slot for slot, (expression, _) in held.items() if reference.matches(expression, event)]
            assert answer in (None, wanted)
            assert index.match(record) == wanted
            assert index.any(record) == bool(wanted)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["W1", "W1c", "W2-3D", "W3"])
def test_many_boxes_in_all_levels_of_zones_are_found(name: str) -> None:
    workload = generate(name, 40_000, 60, 7)
    index = SegmentIndex()
    index.extend(dict(enumerate(workload.filters())))
    boxes, points = workload.subscriptions, workload.publications
    assert isinstance(boxes, Intervals)
    assert isinstance(points, Matrix)
    for event, point in zip(workload.events(), points.values, strict=True):
        value = point[boxes.attribute]
        passes = (boxes.low <= value) & (value <= boxes.high)
        wanted = np.flatnonzero(np.logical_and.reduceat(passes, boxes.offsets[:-1])).tolist()
        assert index.match(read_event(event)) == wanted


@every_index
def test_removing_everything_leaves_nothing_behind(make_index: Callable[[], Index]) -> None:
    index = make_index()
    texts = [
        "a = 1",
        "lower(b) = 'x'",
        "c like '%x%'",
        "d is missing",
        "e > 5 or f in (1, 2, 3)",
        "cidr(g, '10.0.0.0/8')",
    ]
    for slot, text in enumerate(texts):
        index.add(slot, parse(text))
    for slot in range(len(texts)):
        index.remove(slot)
    assert index.match(read_event({"a": 1, "b": "X", "c": "x", "e": 6, "f": 1, "g": "10.1.2.3"})) == []
    assert index.stats().get("segments", 0) == 0


def test_more_attributes_than_one_segment_can_number(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (draft, delta, merging):
        monkeypatch.setattr(module, "MOST_ATTRIBUTES", 50)
    index = SegmentIndex(capacity=100)
    for slot in range(250):
        index.add(slot, parse(f"a{slot} = 1 and b{slot} > 0"))
    assert index.stats()["segments"] >= 8
    for slot in range(0, 250, 7):
        assert index.match(read_event({f"a{slot}": 1, f"b{slot}": 2})) == [slot]
        assert index.match(read_event({f"a{slot}": 1})) == []


def test_a_filter_with_more_attributes_than_a_box_keeps_is_verified() -> None:
    index = SegmentIndex(capacity=1)
    index.add(0, parse(" and ".join(f"a{number:04d} = {number}" for number in range(1_500))))
    event = {f"a{number:04d}": number for number in range(1_500)}
    assert index.match(read_event(event)) == [0]
    assert index.match(read_event({**event, "a1499": 0})) == []
    assert index.match(read_event({**event, "a0000": 1})) == []


def test_plain_events_are_matched_without_being_read_or_not_at_all() -> None:
    index = SegmentIndex(capacity=100)
    index.extend({slot: parse(f"a = {slot} and b like '%x%'") for slot in range(200)})
    index.add(200, parse("a = 7"))
    for event, wanted in (
        ({"a": 7, "b": "axb"}, [7, 200]),
        ({"a": 7.0, "b": "ab", "c": None}, [200]),
        ({"a": 7}, [200]),
        ({"a": True, "b": "axb"}, []),
        ({"a": 7, "b": ["a", "axb"]}, [7, 200]),
        ({"a": [1, 7, "x"], "b": []}, None),
        ({"a": 7, "b": [["axb"]]}, None),
        ({"a": 7, "b": "äx"}, [7, 200]),
        ({"a": 7, "b": "\ud800"}, None),
        ({"a": 2**60}, None),
        ({"a": {"b": 1}}, None),
        ({5: 7}, None),
    ):
        assert index.view.match_plain(event, np.ndarray.tolist) == wanted  # type: ignore[arg-type]  # a list is as good


@pytest.mark.parametrize("size", [2, 5, 31, 32, 33, 200])
def test_a_list_whose_every_element_matches_everything_names_each_filter_once(size: int) -> None:
    index = SegmentIndex(capacity=100)
    held = {slot: parse(f"a >= {slot % 3} and b like '%x%'") for slot in range(300)}
    index.extend(held)
    index.extend({300 + slot: parse(f"a > {slot % 3} or a < 0") for slot in range(300)})
    event = {"a": list(range(5, 5 + size)), "b": ["x", "y", "xx"]}
    assert index.match(read_event(event)) == list(range(600))
    assert index.view.match_plain(event, np.ndarray.tolist) == list(range(600))
    assert index.any(read_event(event))


def test_lists_that_nobody_asks_for_leave_those_that_matter_alone() -> None:
    index = SegmentIndex(capacity=10)
    index.extend({slot: parse(f"l.a = {slot} and l.b = {slot + 1}") for slot in range(50)})
    junk = [{"q": number} for number in range(5_000)]
    event = {"junk": junk, "l": [{"a": 1, "b": 2}, {"a": 7, "b": 9}, {"a": 30, "b": 31}, {"b": 8}]}
    assert index.match(read_event(event)) == [1, 30]
    assert index.match(read_event({**event, "m": junk, "n": [[1], [2, [3]]]})) == [1, 30]


def test_a_missing_attribute_with_coarse_codes_is_not_taken_for_present(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "_CODES", 4)
    index = SegmentIndex(capacity=100)
    texts = ["x = -1", "exists(x) and exists(o)", "x is not null and o < 0", "x is missing and o < 0"]
    index.extend({slot: parse(text) for slot, text in enumerate(texts)})
    assert index.match(read_event({"o": -1})) == [3]
    assert index.match(read_event({"o": -1, "x": None})) == [1]
    assert index.match(read_event({"o": -1, "x": -1})) == [0, 1, 2]


def test_a_view_from_before_a_renumbering_sees_no_later_change() -> None:
    index = SegmentIndex(capacity=10)
    for slot in range(30):
        index.add(slot, parse("a = 1"))
    renumbered = index.renumber(np.arange(30))
    before = index.view  # its segments share with the new ones when owners died
    renumbered.replace(3, parse("a = 1 and b = 2"))
    renumbered.remove(4)
    assert all((segment.died > before.moment).all() for segment in before.shape.segments)
    assert before.match(read_event({"a": 1})).tolist() == list(range(30))
    assert renumbered.match(read_event({"a": 1})) == [slot for slot in range(30) if slot not in (3, 4)]


OTHERS = [parse(f"x > {number} and y < {number}") for number in range(70)]


@pytest.mark.slow
@pytest.mark.parametrize("capacity", [16, 4_096])
@examples(60)
@given(data=st.data())
def test_integers_that_no_double_equals_are_found_beside_many_other_filters(
    capacity: int, data: st.DataObject
) -> None:
    around = st.integers(2**53 - 3, 2**53 + 5)
    index = SegmentIndex(capacity=capacity)
    filters = []
    for _ in range(data.draw(st.integers(1, 4))):
        low, high = sorted((data.draw(around), data.draw(around)))
        filters.append(
            data.draw(st.sampled_from([f"y = {low}", f"y >= {low} and y <= {high}", f"y in (3, {low})"]))
        )
    parsed = [*OTHERS, *map(parse, filters)]
    for slot, filter in enumerate(parsed):
        index.add(slot, filter)
    value = data.draw(
        st.one_of(around, st.lists(around, max_size=3), st.lists(st.lists(around, max_size=2), max_size=2))
    )
    event = {"x": 1, "y": value}
    assert index.match(read_event(event)) == [
        slot for slot, filter in enumerate(parsed) if filter.matches(event)
    ]


@pytest.mark.parametrize("element", [[], [1]])
def test_more_lists_than_kernels_keep_apart_are_not_taken_for_one_value_each(element: list[int]) -> None:
    texts = [f"a{number} like 'x%' and a{number} like '%y'" for number in range(70)]
    index = SegmentIndex()
    index.extend(dict(enumerate(map(parse, texts))))
    for values, wanted in [(["x1", "2y"], []), (["x1", "x2y"], list(range(70)))]:
        event = {f"a{number}": [*values, *element] for number in range(70)}
        assert index.match(read_event(event)) == wanted
        assert index.view.match_plain(event, np.ndarray.tolist) in (None, wanted)  # type: ignore[arg-type]  # a list is as good
