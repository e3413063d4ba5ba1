"""The index by one necessary predicate looks wherever a filter may be filed."""

from __future__ import annotations

import pytest

from thatch import parse
from thatch.matching.necessary import NecessaryIndex
from thatch.model.events import read_event


def test_filters_are_found_under_the_presence_of_every_attribute_of_an_event() -> None:
    index = NecessaryIndex()
    for slot, name in enumerate("abc"):
        index.add(slot, parse(f"{name} > 1"))
    assert index.stats()["filed_under_presence"] == 3
    assert index.match(read_event({"a": 5, "b": 5, "c": 5})) == [0, 1, 2]
    assert index.match(read_event({"c": 5, "a": 0})) == [2]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_filters_on_derived_attributes_are_found_by_any_element_of_a_list(place: int) -> None:
    index = NecessaryIndex()
    index.add(0, parse("lower(tags) = 'new'"))
    index.add(1, parse("lower(parts.name) = 'new'"))
    tags = ["old"] * 3
    tags[place] = "NEW"
    event = {"tags": tags, "parts": [{"name": each} for each in tags]}
    assert index.match(read_event(event)) == [0, 1]
    assert index.match(read_event({"tags": tags})) == [0]
    assert index.match(read_event({"parts": event["parts"]})) == [1]
