"""Several attributes of one list must be satisfied by one element; and attributes beyond those that 16 bits name."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from thatch import parse
from thatch.matching.segments import SegmentIndex
from thatch.model.events import read_event
from thatch.model.filters import Filter

VALUES = (1, 2, 7)
# Every range on every pair and triple of keys, so that groups of boxes have one, two and three keys.
RANGES = [(low, high) for low in VALUES for high in VALUES if low <= high]
FILTERS = [
    *(f"i.a = {a} and i.b = {b}" for a, b in product(VALUES, VALUES)),
    *(f"i.a between {a} and {b} and i.b between {c} and {d}" for (a, b), (c, d) in product(RANGES, RANGES)),
    *(f"i.a >= {a} and i.b <= {b} and i.c = {c}" for a, b, c in product(VALUES, VALUES, VALUES)),
    *(f"i.a = {a} and j.a = {b} and j.b = {c}" for a, b, c in product(VALUES, VALUES, VALUES)),
    *(f"i.a = {a} and i.b != {b} and i.t like '%x_{c}%'" for a, b, c in product(VALUES, VALUES, VALUES)),
]
ELEMENTS = [
    {"a": 1, "b": 2, "t": "x-7"},
    {"a": 2, "b": 1, "c": 7, "t": "x-1"},
    {"a": 7, "c": 1, "t": "xx2"},
    {"b": 7, "c": 2},
]
EVENTS: list[dict[str, Any]] = [
    *({"i": [one, other]} for one, other in product(ELEMENTS, ELEMENTS)),
    *({"i": [one, {"a": 1}], "j": [other, {"a": 2}, {"b": 2}]} for one, other in product(ELEMENTS, ELEMENTS)),
    {"i": ELEMENTS, "j": ELEMENTS},
    {"i": ELEMENTS[0], "j": ELEMENTS[1:]},
]


@pytest.fixture(scope="module")
def filters() -> dict[int, Filter]:
    return {slot: parse(text) for slot, text in enumerate(FILTERS)}


@pytest.mark.parametrize("way", ["together", "in pieces", "delta"])
def test_one_element_satisfies_all_sides_on_its_list(way: str, filters: dict[int, Filter]) -> None:
    index = SegmentIndex(capacity=16 if way == "in pieces" else None)
    if way == "together":
        index.extend(filters)
    else:
        for slot, each in filters.items():
            index.add(slot, each)
    for event in EVENTS:
        wanted = [slot for slot, each in filters.items() if each.matches(event)]
        assert index.match(read_event(event)) == wanted, event


def test_attributes_beyond_those_of_16_bits_are_told_apart() -> None:
    index = SegmentIndex()
    for number in range(65_536 + 8):
        index.number_of(f"a{number}")
    index.add(0, parse("a65539 = 1"))
    index.add(1, parse("a3 = 1"))
    index.add(2, parse("a65539 > 0 and a65540 < 5 and a4 = 2"))
    for event, slots in (
        ({"a65539": 1}, [0]),
        ({"a3": 1}, [1]),
        ({"a65539": 1, "a3": 7}, [0]),
        ({"a65539": 9, "a65540": 1, "a4": 2}, [2]),
        ({"a65539": 9, "a65540": 6, "a4": 2}, []),
    ):
        assert index.match(read_event(event)) == slots, event
