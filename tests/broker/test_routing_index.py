from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import hypothesis.strategies as st
import pytest
from hypothesis import given

from thatch import parse
from thatch.broker.routing_index import RoutingIndex
from thatch.matching import growing
from thatch.model.events import read_event
from thatch.model.filters import Filter


@dataclass(eq=False)
class Subscribed:
    number: int
    filter: Filter
    link: str | None
    slot: int = -1


def subscribed(number: int, link: str | None = None) -> Subscribed:
    return Subscribed(number, parse(f"x = {number % 3} or y > {number % 5}"), link)


changes = st.lists(
    st.tuples(st.booleans(), st.integers(0, 20), st.sampled_from([None, "a", "b", "c"])), max_size=40
)


@pytest.mark.parametrize("few", [1, 256])
@given(changes)
def test_what_comes_and_goes_is_wanted_as_it_is_then(
    few: int, changes: list[tuple[bool, int, str | None]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growing, "FEW", few)
        index: RoutingIndex[str, Subscribed] = RoutingIndex()
        there: dict[int, Subscribed] = {}
        for is_coming, number, link in changes:
            if is_coming and number not in there:
                there[number] = subscribed(number, link)
                index.add(there[number], link)
            elif not is_coming and number in there:
                index.remove(there.pop(number))
    for event in ({"x": 1}, {"y": 3}, {"x": 2, "y": 1}, {}):
        wanting = [each for each in there.values() if each.filter.matches(event)]
        record = read_event(event)
        assert index.match(record) == wanting
        links, subscriptions = index.wanted_by(record)
        assert len(links) == len(set(links))
        assert set(links) == {each.link for each in wanting if each.link is not None}
        assert subscriptions == [each for each in wanting if each.link is None]
    for link in (None, "a", "b", "c"):
        assert index.subscriptions_of(link) == [each for each in there.values() if each.link == link]


def test_slots_and_labels_that_are_no_longer_used_are_given_up() -> None:
    index: RoutingIndex[str, Subscribed] = RoutingIndex()
    there: deque[Subscribed] = deque()
    for number in range(10_000):
        there.append(subscribed(number, f"link {number // 100}"))
        index.add(there[-1], there[-1].link)
        if len(there) > 5:
            index.remove(there.popleft())
    assert max(index.by_slot) < 5_000
    assert index.wanted_by(read_event({"y": 9})) == (["link 99"], [])
    assert [each.number for each in index.match(read_event({"x": 9_999 % 3}))] == [9_996, 9_999]
    while there:
        index.remove(there.popleft())
    assert index.wanted_by(read_event({"y": 9})) == ([], [])
