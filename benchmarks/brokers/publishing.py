"""One broker that knows a hundred thousand subscriptions, of clients and of neighbours: events a second."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import thatch
from benchmarks.brokers.neighbourhood import Neighbourhood
from benchmarks.console import note
from benchmarks.matching.rows import Row, at_least
from thatch.broker.event_frames import encode_frame
from thatch.broker.messages import Advertise, Publish, Subscribe
from thatch.broker.settings import Routing
from thatch.reduction import Flooding
from thatch.workloads import generate

__all__ = ["FRAMES", "LINKS", "WORKLOADS", "publish_rows"]

WORKLOADS = ("W1", "W4A")
FRAMES = (512, 1)  # events of one frame
LINKS = 10
_FEED = "feed"
_GOALS = {
    ("W1", 512): at_least(60_000, 120_000),
    ("W4A", 512): at_least(25_000, 60_000),
    ("W1", 1): at_least(12_000, 25_000),
}


def publish_rows(
    entries: int, events: int, seed: int, *, frames: Sequence[int] = FRAMES, links: int = LINKS
) -> list[Row]:
    """A row for each workload and size of frames."""
    rows = []
    for name in WORKLOADS:
        workload = generate(name, entries, events, seed)
        note(f"publish: {entries:,} entries of {name}, {links:,} links")
        around = _neighbourhood(workload.filters(), links)
        assert around.broker.stats()["subscriptions"] == entries
        published = list(workload.events())
        number = 1
        for size in frames:
            some = published if size > 1 else published[: max(100, events // 4)]
            number = _publish(around, number, some[: max(50, size)], size)  # compiles
            around.seconds = 0.0
            number = _publish(around, number, some, size)
            rows.append(_row(name, size, len(some) / around.seconds, entries, links))
    return rows


def _neighbourhood(filters: Sequence[thatch.Filter], links: int) -> Neighbourhood:
    """A broker and its neighbours, each with a desk that has as many of the subscriptions as every other."""
    around = Neighbourhood(Routing(way="advertisements", policy=Flooding()), links)
    around.connect(_FEED)
    around.say(_FEED, Advertise(advertisement="all", filter=thatch.parse("true"), closed=False))
    places = [None, *around.around]
    for place in places:
        around.connect(f"desk of {place}", place)
    for number, filter in enumerate(filters):
        place = places[number % len(places)]
        around.say(f"desk of {place}", Subscribe(subscription=f"s{number}", filter=filter), place)
    return around


def _publish(around: Neighbourhood, number: int, events: Sequence[Any], size: int) -> int:
    """Publish events in frames, numbered from `number` on; returns the number of the next one."""
    for first in range(0, len(events), size):
        some = events[first : first + size]
        frame, refused = encode_frame(_FEED, number + first, some)
        assert not refused
        around.say(_FEED, Publish(frame))
    return number + len(events)


def _row(name: str, size: int, rate: float, entries: int, links: int) -> Row:
    return Row(
        what=f"publish, one broker, {links:,} links, frames of {size}, {name}",
        subscriptions=entries,
        ours=rate,
        unit="/s",
        goal=_GOALS.get((name, size)) if links == LINKS else None,
        details={"µs": 1e6 / rate},
    )
