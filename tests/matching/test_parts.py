"""A filter is taken apart into boxes that say all of it, or are verified; unions are alternatives of a box."""

from __future__ import annotations

import pytest

from thatch import parse
from thatch.matching.segments import SegmentIndex
from thatch.matching.segments.building import layout
from thatch.matching.segments.building.ranked import Ranked
from thatch.matching.segments.draft import ColumnBuilder
from thatch.matching.segments.parts import MOST_SIDES, Parts, take_apart
from thatch.matching.segments.records import MOST_HOT
from thatch.matching.segments.segment import Segment
from thatch.model.events import read_event
from thatch.workloads import generate


def parts_of(text: str) -> Parts:
    texts: list[str] = []

    def keep(kept: str) -> int:
        texts.append(kept)
        return len(texts) - 1

    return take_apart(parse(text), {}, keep)


def segment_of(*texts: str) -> tuple[Segment, list[str]]:
    number: dict[str, int] = {}
    draft = ColumnBuilder()
    for slot, text in enumerate(texts):
        assert draft.add(slot, parse(text), number)
    return Segment.build(Ranked.of(draft.sides())), list(number)


def test_unions_beside_a_value_are_alternatives_of_one_box() -> None:
    parts = parts_of("kind = 'a' and size in (1, 2, 3) and colour != 'red'")
    assert parts.sizes == [1 + 3 + 2]
    assert parts.is_plain
    assert not parts.verify
    assert not parts.checks


def test_a_list_of_values_is_a_box_for_each_where_nothing_is_as_selective() -> None:
    parts = parts_of("size in (1, 2, 3) and colour != 'red'")
    assert parts.sizes == [1 + 2] * 3
    assert not parts.is_plain
    assert not parts.verify


def test_a_union_with_more_intervals_than_a_box_keeps_is_its_hull_and_verified() -> None:
    values = ", ".join(str(2 * number) for number in range(MOST_SIDES))
    parts = parts_of(f"kind = 'a' and size in ({values}) and colour in ('red', 'blue')")
    assert parts.sizes == [1 + 1 + 2]
    assert parts.verify


@pytest.mark.parametrize(
    "text",
    [
        "kind = 'a' and size in (1, 2.5, 3)",
        "kind = 'a' and (size < 3 or size = 'x' or size is null)",
        "kind is null and colour != 'red' and (size < 1 or size > 5)",
    ],
)
def test_a_segment_tells_a_filter_of_unions_from_its_box(text: str) -> None:
    segment, keys = segment_of(text, "kind = 'b'")
    assert not len(segment.sourced)
    told = {str(segment.filter(owner, keys, None)) for owner in range(2)}
    assert told == {str(parse(text)), str(parse("kind = 'b'"))}


def test_equal_checks_of_a_segment_are_kept_once() -> None:
    segment, _ = segment_of("x like '%a%' and y = 1", "x like '%a%' and y = 2", "y like '%a%' and x = '1'")
    assert len(segment.check_number) == 3
    assert len(segment.check_attribute) == len(segment.check_start) - 1 == 2


@pytest.mark.slow
@pytest.mark.parametrize("many", [layout._MANY, 2])
def test_unions_and_wildcards_match_single_values_and_lists(
    many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "_MANY", many)
    workload = generate("W5", 1_200, 30, 3)
    filters = workload.filters()
    index = SegmentIndex(capacity=500)
    index.extend(dict(enumerate(filters[:900])))
    for slot in range(900, 1_200):  # the delta has them
        index.add(slot, filters[slot])
    for event in workload.events():
        wanted = [slot for slot, each in enumerate(filters) if each.matches(event)]
        assert index.match(read_event(event)) == wanted
        assert index.view.match_plain(event, lambda slots: slots.tolist()) == wanted
        assert index.any(read_event(event)) == bool(wanted)


def test_a_list_meets_the_alternatives_of_a_box_with_many_sides() -> None:
    """More than the codes of a block are gathered for, so that the exact sides are read."""
    few, many = "x in (1, 3)", f"x in ({', '.join(map(str, range(1, 4 * MOST_HOT, 2)))})"
    index = SegmentIndex()
    index.extend({0: parse(f"y = 1 and {few}"), 1: parse(f"y = 1 and {many}"), 2: parse("y = 1 and x != 3")})
    for values, wanted in [([2, 4], [2]), ([2, 3], [0, 1, 2]), ([3, 3], [0, 1]), ([4, 5], [1, 2])]:
        assert index.match(read_event({"y": 1, "x": values})) == wanted
        assert index.match(read_event({"y": [0, 1], "x": values})) == wanted


def test_a_list_of_texts_meets_prefix_suffix_and_check_with_one_element() -> None:
    index = SegmentIndex()
    texts = ["x like 'a%' and x like '%z'", "x like '%m%'", "x = 'az'", "y = 1", "n like 'é%'"]
    index.extend(dict(enumerate(map(parse, texts))))
    cases: list[tuple[dict[str, object], list[int]]] = [
        ({"x": ["ab", "yz"]}, []),
        ({"x": ["ab", "amz"], "y": [2, 1]}, [0, 1, 3]),
        ({"y": 1, "x": ["az", "q"], "n": ["e", "éa"]}, [0, 2, 3, 4]),
        ({"x": ["q", 1, "az"]}, [0, 2]),
        ({"n": ["é"], "x": ["am"], "y": [1, "a"]}, [1, 3, 4]),
    ]
    for event, wanted in cases:
        assert index.match(read_event(event)) == wanted
        assert index.view.match_plain(event, lambda slots: slots.tolist()) == wanted


def test_outcomes_of_checks_are_forgotten_from_event_to_event() -> None:
    """Also where so many events lie between two that ask that rounds have the same number again."""
    index = SegmentIndex()
    index.extend(dict(enumerate(map(parse, ["x like '%a%'", "x like '%b%'", "x like '%a%' and y = 1"]))))
    wanted = {"a": [0], "b": [1], "ab": [0, 1]}
    for between in (0, 125, 126, 127):
        for value in ("a", "b", "ab", "a"):
            assert index.match(read_event({"x": value})) == wanted[value]
            for _ in range(between):
                assert index.match(read_event({"y": 2})) == []
