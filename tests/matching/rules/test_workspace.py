"""Searches of rules for events of every shape: plain, with lists, with more flat events than are tried one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from thatch import parse
from thatch.matching.segments import SegmentIndex
from thatch.matching.segments.rules import workspace
from thatch.matching.segments.rules.records import RuleSearch
from thatch.matching.segments.rules.workspace import RuleWorkspace
from thatch.model.derived import fold
from thatch.model.events import read_event

RULES = [
    "o.p like '%ab%'",
    "o.p like '%ab%' and o.q = 5",
    "lower(o.p) = 'x' and o.q is missing",
    "o.p like 'a%c_' or l like '%z%'",
    "o.p like '%c%' and not o.q > 7",
]


def nested(count: int) -> dict[str, Any]:
    """An event of very many flat events, in which an attribute is given and missing in turn."""
    inner = [{"p": ["zab", "c"]}, {"q": 5}, {"p": "X"}, {"p": ["cab"], "q": [5, 8]}]
    return {"o": [inner[number % 4] for number in range(count)], "l": ["a", "b"] * count}


@pytest.mark.parametrize("count", [1, 3, 20, 300])
def test_an_attribute_with_many_values_is_noted_once(count: int) -> None:
    index = SegmentIndex()
    index.extend(dict(enumerate(map(parse, RULES))))
    (segment,) = index.view.shape.rules
    workspace = RuleWorkspace()
    workspace.attach(index.view.shape.rules)
    record = read_event(nested(count))
    workspace.search_record(record, index.view.shape.attributes.number, 10)
    assert workspace._search_tables[RuleSearch.n_touched] <= len(segment.table.attributes)
    (search,) = workspace._searches
    assert not search.classes.any()


@pytest.mark.parametrize("count", [1, 3, 20, 300])
def test_lists_in_lists_match_what_the_filters_match(count: int) -> None:
    index, filters = SegmentIndex(), [parse(text) for text in RULES]
    index.extend(dict(enumerate(filters)))
    event = nested(count)
    assert index.match(read_event(event)) == [
        slot for slot, each in enumerate(filters) if each.matches(event)
    ]
    flat = {"o.p": "xab", "o.q": 5, "l": "z"}
    assert index.view.match_plain(flat, np.ndarray.tolist) == [0, 1, 3]


@pytest.mark.parametrize("count", [63, 64, 65, 200])
def test_more_matches_than_are_sorted_in_the_kernel_come_in_order(count: int) -> None:
    index = SegmentIndex()
    index.extend({7 * number % 1_009: parse(f"a like '%{'xy'[number % 2]}%'") for number in range(count)})
    event = {"a": "xy"}
    found = index.view.match_plain(event, np.ndarray.tolist)
    assert found == sorted(7 * number % 1_009 for number in range(count))


def test_stamps_of_earlier_searches_are_stale_when_they_are_counted_from_one_again() -> None:
    index = SegmentIndex()
    index.extend(dict(enumerate(map(parse, RULES))))
    workspace = RuleWorkspace()
    workspace.attach(index.view.shape.rules)
    numbers = index.view.shape.attributes.number
    first, other = read_event({"o": {"p": "ab", "q": 5}}), read_event({"o": {"p": "x"}})
    assert workspace.search_record(first, numbers, 10)[0].tolist() == [0]  # stamped with 1
    workspace._search_tables[RuleSearch.epoch] = 2**31 - 2
    assert workspace.search_record(other, numbers, 10)[0].tolist() == [2]
    assert workspace._search_tables[RuleSearch.epoch] == 1
    assert workspace.search_record(first, numbers, 10)[0].tolist() == [0]


# --- counts ----------------------------------------------------------------------------------------------------------

COUNTED = ["a like '%x%'", "lower(a) = 'x' and b like '%y%'", "a = 'x'", "a like '%x%' or b ~ 'y+'"]
SEEN: list[dict[str, Any]] = [
    {"a": "x", "b": "y"}, {"a": "X", "b": "yy"}, {"a": ["x", "ax", "x"]}, {"b": [["y"]]}, {"a": ["q", "x"], "b": ["y"] * 99}
]  # fmt: skip


@pytest.mark.parametrize("is_fresh", [False, True])
def test_candidates_and_matches_of_rules_are_counted_as_those_of_boxes(is_fresh: bool) -> None:
    index, filters = SegmentIndex(), dict(enumerate(map(parse, COUNTED)))
    if is_fresh:
        for slot, each in filters.items():
            index.add(slot, each)
    else:
        index.extend(filters)
    for on in (True, False):
        index.tally(on=on)
        before = index.stats()
        for event in SEEN:
            index.match(read_event(event))
            index.view.match_plain(event, len)
            index.view.match_plain(event, len, stop=True)
            index.any(read_event(event))
        tallies, stats = index.tallies(), index.stats()
        plain = [event for event in SEEN if index.view.match_plain(event, len) is not None]
        wanted = [sum(each.matches(event) for event in SEEN + plain) for each in filters.values()]
        assert tallies[:4, 1].tolist() == (wanted if on else [0] * 4)
        assert (tallies[:, 0] >= tallies[:, 1]).all()
        assert stats["matches"] - before["matches"] >= sum(wanted)
        assert stats["candidates"] - before["candidates"] >= sum(wanted) - wanted[2]


def test_what_one_choice_of_elements_decides_is_not_verified_for_another() -> None:
    index = SegmentIndex()
    index.extend({0: parse("a ~ 'x+y' or b like '%q%'"), 1: parse("a ~ 'x+y' or b like '%w%'")})
    before = index.stats()["verified"]
    assert index.match(read_event({"a": ["xz", "xxyy"], "b": ["w", "v"]})) == [0, 1]
    assert index.stats()["verified"] - before == 1


def test_no_letter_needs_more_bytes_than_there_is_room_for() -> None:
    letters = (chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    assert max(len(each.encode()) + len(fold(each).encode()) for each in letters) == workspace._MOST_BYTES


def test_lists_of_long_texts_find_room() -> None:
    index = SegmentIndex()
    index.extend(
        {
            slot: parse(f"lower(a) like '%{word}%' and b like '%q%'")
            for slot, word in enumerate(("x", "ss", "z"))
        }
    )
    long = ["\u0390" * 5_000, "x" * 9_000, "\u00df" * 3_000]
    assert index.match(read_event({"a": long, "b": ["q" * 2_000, "w"], "c": "v" * 3_000})) == [0, 1]
    assert index.match(read_event({"a": long[:1], "b": ["q", "w"]})) == []
