"""What happens in histories of networks: filters, events and routings to draw, and what the oracle knows of clients."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from hypothesis import strategies as st

from thatch import parse
from thatch.broker.settings import Routing
from thatch.model.filters import Filter
from thatch.reduction.forwarding.policies import Exact, Flooding, NegativeSpace, Pairwise
from thatch.runtime.simulated import Received, SimulatedClient, SimulatedNetwork

SPAN = 4
WAYS = ("advertisements", "subscriptions", "events")
POLICIES = (Flooding(), Pairwise(), Pairwise(demote=True), Exact(), Exact(demote=True), NegativeSpace())
WHICH = st.integers(0, 1_000)  # one of some things that are there by then
DELAYS = st.sampled_from([0.0, 0.005, 0.01, 0.03, 0.3, 2.0, 20.0])


@st.composite
def filters(draw: st.DrawFn) -> Filter:
    """Filters that often overlap and cover each other, alone or together."""
    sides = []
    for name in draw(st.sampled_from([("x",), ("y",), ("x", "y")])):
        low, high = sorted((draw(st.integers(0, SPAN)), draw(st.integers(0, SPAN))))
        between = f"{name} between {low} and {high}"
        sides.append(
            draw(st.sampled_from([between, between, between, f"{name} is missing", f"exists({name})"]))
        )
    text = " and ".join(sides)
    return parse(f"{text} or x = {draw(st.integers(0, SPAN))}" if draw(st.booleans()) else text)


OFFERS = st.one_of(st.just((parse("true"), False)), st.tuples(filters(), st.booleans()))
NUMBERS = st.integers(0, SPAN)
VALUES = st.one_of(NUMBERS, NUMBERS, NUMBERS, st.lists(NUMBERS, min_size=1, max_size=2))
EVENTS = st.one_of(
    st.fixed_dictionaries({"x": VALUES, "y": VALUES}),
    st.fixed_dictionaries({"x": VALUES, "y": VALUES}, optional={"z": VALUES}),
    st.fixed_dictionaries({}, optional={"x": VALUES, "y": VALUES, "z": VALUES}),
)
FRAMES = st.lists(st.lists(EVENTS, min_size=1, max_size=3), min_size=1, max_size=3)
AGAIN = st.integers(0, 3)  # events that are sent again with the next
ROUTINGS = st.builds(
    Routing,
    way=st.sampled_from(WAYS),
    policy=st.sampled_from(POLICIES),
    advertising=st.sampled_from((Flooding(), Pairwise(), Exact())),
)


@dataclass
class Wish:
    """A subscription as the oracle knows it."""

    filter: Filter
    expires: float | None
    is_settled: bool = False
    durable: bool = False


@dataclass
class Offer:
    """An advertisement as the oracle knows it."""

    filter: Filter
    closed: bool
    is_settled: bool = False

    def allows(self, event: Mapping[str, Any]) -> bool:
        """Whether one conjunction holds for every flat event."""
        named = set(re.findall(r"\b[xyz]\b", str(self.filter)))
        if self.closed and not set(event) <= named:
            return False
        choices = [value if isinstance(value, list) else [value] for value in event.values()]
        flat = [dict(zip(event, chosen, strict=True)) for chosen in product(*choices)]
        parts = [Filter((each,), None, ()) for each in self.filter.conjunctions]
        return any(all(part.matches(each) for each in flat) for part in parts)


@dataclass
class Under:
    """A publication under way: for which subscriptions of which clients it may, and must, be delivered."""

    event: Mapping[str, Any]
    may: set[tuple[str, str]] = field(default_factory=set)
    must: set[tuple[str, str]] = field(default_factory=set)


@dataclass
class Person:
    """A client with what the oracle knows of it."""

    client: SimulatedClient
    wishes: dict[str, Wish] = field(default_factory=dict)
    offers: dict[str, Offer] = field(default_factory=dict)
    sent: list[Mapping[str, Any]] = field(default_factory=list)  # the last events that its broker has had
    seen: int = 0  # of what it received, how much was checked


def events_of(name: str, received: list[Received], *, most: int) -> dict[str, set[tuple[str, str]]]:
    """For which subscriptions a client got each event: at most so often, each time for others."""
    times: Counter[str] = Counter()
    got: dict[str, set[tuple[str, str]]] = {}
    for each in received:
        found = {(name, identity) for identity in each.subscriptions}
        assert len(found) == len(each.subscriptions) > 0
        before = got.setdefault(each.publication, set())
        times[each.publication] += 1
        assert times[each.publication] <= most, f"{name} got {each.publication} too often"
        assert not before & found, f"{name} got {each.publication} twice"
        before |= found
    return got


def reached(network: SimulatedNetwork, start: str) -> list[str]:
    """The brokers that are connected with one."""
    links = [link.ends for link in network.links()]
    found = [start]
    for name in found:
        for ends in links:
            if name in ends:
                found += [each for each in ends if each not in found]
    return found
