from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from tests.matching.encoded import packed
from thatch import parse
from thatch.broker.event_codec import EncodedEvent
from thatch.broker.routing_index import RoutingIndex
from thatch.matching import growing
from thatch.model.events import read_event
from thatch.model.filters import Filter


@dataclass(eq=False)
class Subscribed:
    number: int
    filter: Filter
    link: str | None = None
    client: str | None = None
    slot: int = -1


Index = RoutingIndex[str, str, Subscribed]
HOPS: list[dict[str, str]] = [{"link": "a"}, {"link": "b"}, {"client": "a"}, {"client": "c"}]


def subscribed(number: int, hop: dict[str, str]) -> Subscribed:
    return Subscribed(number, parse(f"x = {number % 3} or y > {number % 5}"), **hop)


changes = st.lists(st.tuples(st.booleans(), st.integers(0, 20), st.sampled_from(HOPS)), max_size=40)


@pytest.mark.parametrize("few", [1, 256])
@given(changes)
def test_what_comes_and_goes_is_wanted_as_it_is_then(
    few: int, changes: list[tuple[bool, int, dict[str, str]]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growing, "FEW", few)
        index = Index()
        there: dict[int, Subscribed] = {}
        for is_coming, number, hop in changes:
            if is_coming and number not in there:
                there[number] = subscribed(number, hop)
                index.add(there[number], **hop)
            elif not is_coming and number in there:
                index.remove(there.pop(number))
    for event in ({"x": 1}, {"y": 3}, {"x": 2, "y": 1}, {}):
        wanting = [each for each in there.values() if each.filter.matches(event)]
        record = read_event(event)
        assert index.match(record) == wanting
        links, subscriptions = index.wanted_by(record)
        assert len(links) == len(set(links))
        assert set(links) == {each.link for each in wanting if each.link}
        assert subscriptions == [each for each in wanting if each.client]
    for hop in HOPS:
        own = [each for each in there.values() if hop in ({"link": each.link}, {"client": each.client})]
        assert index.subscriptions_of(**hop) == own


@pytest.mark.parametrize("count", [3, 30])
def test_many_events_are_routed_as_each_of_them_would_be(count: int) -> None:
    index = Index()
    there = [subscribed(number, HOPS[number % len(HOPS)]) for number in range(600)]
    for each in there:
        index.add(each, **HOPS[each.number % len(HOPS)])
    events: list[Any] = [{"x": number % 5, "y": number % 7} for number in range(count)]
    events[1], events[2] = {"x": [0, 2], "z": {"q": 1}}, {"x": float(2**64), "y": None}
    rows = [packed(event) for event in events]
    routes = index.route(rows, lambda row: EncodedEvent(rows[row], None))
    assert not routes.refused
    wanting = [[each for each in there if each.filter.matches(event)] for event in events]
    for link in ("a", "b"):
        wanted = [row for row, some in enumerate(wanting) if any(each.link == link for each in some)]
        assert routes.links[link] == wanted
    for client in ("a", "c"):
        pairs = [(row, [each for each in some if each.client == client]) for row, some in enumerate(wanting)]
        rows_wanted, subscriptions = routes.clients[client]
        assert list(zip(rows_wanted, subscriptions, strict=True)) == [pair for pair in pairs if pair[1]]


@pytest.mark.slow
def test_slots_and_numbers_that_are_no_longer_used_are_given_up() -> None:
    index = Index()
    there: deque[Subscribed] = deque()
    for number in range(10_000):
        there.append(subscribed(number, {"link": f"link {number // 100}"}))
        index.add(there[-1], link=there[-1].link)
        if len(there) > 5:
            index.remove(there.popleft())
    assert max(index.by_slot) < 5_000
    assert index.wanted_by(read_event({"y": 9})) == (["link 99"], [])
    assert [each.number for each in index.match(read_event({"x": 9_999 % 3}))] == [9_996, 9_999]
    while there:
        index.remove(there.popleft())
    assert index.wanted_by(read_event({"y": 9})) == ([], [])
