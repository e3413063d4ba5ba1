"""What is measured, as rows of a table. All times are processor time."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import log

import numpy as np

import thatch
from benchmarks.brokers.neighbourhood import Neighbourhood
from benchmarks.brokers.publishing import FRAMES, LINKS, publish_rows
from benchmarks.child import ask
from benchmarks.console import note
from benchmarks.matching.rows import Goal, Row, at_most
from benchmarks.reduction.streams import zipf_stream
from thatch.broker.messages import Subscribe
from thatch.broker.settings import Routing
from thatch.experiments.overlay.setting import filters_of
from thatch.reduction import (
    ApproximateNegativeSpace,
    Exact,
    Flooding,
    ForwardingSet,
    NegativeSpace,
    Pairwise,
    Policy,
    Probabilistic,
)

__all__ = ["SECTIONS", "Bench"]

_CAP = 10_000  # random points for one decision


@dataclass(frozen=True)
class Bench:
    """Sizes."""

    seed: int = 1
    is_quick: bool = False
    frames: tuple[int, ...] = FRAMES
    links: int = LINKS

    def size(self, count: int) -> int:
        return max(100, count // 100) if self.is_quick else count


def publish_section(bench: Bench) -> list[Row]:
    """One broker that knows a hundred thousand subscriptions: events a second, by workload and size of frames."""
    entries, events = bench.size(100_000), bench.size(10_240)
    return publish_rows(entries, events, bench.seed, frames=bench.frames, links=bench.links)


def subscribe_rows(bench: Bench) -> list[Row]:
    """One broker, one link: subscriptions a second by policy, on the boxes of jafarpour2008 in three dimensions."""
    stream = zipf_stream(bench.size(10_000), 3, "scattered", 0.5, bench.seed)
    filters = [
        thatch.parse(
            " and ".join(f"a{axis} between {low} and {high}" for axis, (low, high) in enumerate(sides))
        )
        for sides in (
            zip(*ends, strict=True) for ends in zip(stream.lows.tolist(), stream.highs.tolist(), strict=True)
        )
    ]
    policies: dict[str, Policy] = {
        "flooding": Flooding(),
        "pairwise": Pairwise(),
        "exact": Exact(),
        "negative space": NegativeSpace(),
        "approximate, k = 50": ApproximateNegativeSpace(50),
        "probabilistic, 10^-6": Probabilistic(1e-6, cap=_CAP),
    }
    rows = []
    for name, policy in policies.items():
        note(f"subscribe: {name}")
        _subscribed(policy, filters[:100])  # compiles
        around = _subscribed(policy, filters)
        rows.append(
            Row(
                what=f"subscribe, one broker, one link, {name}",
                subscriptions=len(filters),
                ours=len(filters) / around.seconds,
                unit="/s",
                details={
                    "µs": 1e6 * around.seconds / len(filters),
                    "forwarded": around.broker.stats()["forwarded"],
                },
            )
        )
    return rows


def _subscribed(policy: Policy, filters: list[thatch.Filter]) -> Neighbourhood:
    around = Neighbourhood(Routing(way="subscriptions", policy=policy), 1)
    around.connect("desk")
    around.seconds = 0.0
    for number, filter in enumerate(filters):
        around.say("desk", Subscribe(subscription=f"s{number}", filter=filter))
    return around


def memory_rows(bench: Bench) -> list[Row]:
    """What is kept: an empty set of a link, links that are idle, and entries of a table."""
    links, entries = 50 if bench.is_quick else 2_000, bench.size(10_000)
    note(f"memory: {links:,} links, {entries:,} entries")
    _subscribed(Exact(), filters_of(np.random.default_rng(0), 100))  # loads and compiles what is needed
    rows = []
    with _traced() as traced:
        sets = [ForwardingSet(Exact()) for _ in range(links)]
        rows.append(_bytes_row("an empty ForwardingSet", 0, traced() / len(sets), at_most(10_000)))
    with _traced() as traced:
        around = _idle(links)
        rows.append(_bytes_row(f"a link that is idle, one broker with {links:,}", 0, traced() / links))
        around.connect("desk")
        idle = traced()
        around.say("desk", Subscribe(subscription="s", filter=thatch.parse("price < 150 and symbol = 'A'")))
        each = (traced() - idle) / links
        rows.append(
            _bytes_row("the same link with one subscription sent on it, not acknowledged, exact", 1, each)
        )
    for name, routing in (
        ("known, not sent on", Routing(way="advertisements", policy=Exact())),
        ("known, decided and sent on one link", Routing(way="subscriptions", policy=Exact())),
    ):
        with _traced() as traced:
            around = Neighbourhood(routing, 1)
            around.connect("desk")
            before = traced()
            filters = filters_of(np.random.default_rng(bench.seed), entries)
            for number, filter in enumerate(filters):
                around.say("desk", Subscribe(subscription=f"s{number}", filter=filter))
            del filters, filter
            around.forget("n0")
            rows.append(
                _bytes_row(
                    f"an entry of a table, {name}, exact",
                    entries,
                    (traced() - before) / entries,
                    details={"forwarded": around.broker.stats()["forwarded"]},
                )
            )
    return rows


def _idle(links: int) -> Neighbourhood:
    """A broker with links over which nothing was said; the brokers at their other ends are not kept."""
    around = Neighbourhood(Routing(way="subscriptions", policy=Exact()))
    for number in range(links):
        around.add(f"n{number}")
        around.forget(f"n{number}")
    return around


@contextmanager
def _traced() -> Iterator[Callable[[], int]]:
    """Bytes that were allocated since, and are still in use."""
    gc.collect()
    tracemalloc.start()

    def traced() -> int:
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    try:
        yield traced
    finally:
        tracemalloc.stop()


def _bytes_row(
    what: str, entries: int, size: float, goal: Goal | None = None, details: dict[str, float] | None = None
) -> Row:
    return Row(what=what, subscriptions=entries, ours=size, unit="B", goal=goal, details=details or {})


def network_rows(bench: Bench) -> list[Row]:
    """A thousand brokers and a hundred thousand subscriptions, one publisher."""
    return [
        _network_row(bench, policy, brokers=1_000, subscriptions=100_000, goal=at_most(600))
        for policy in ("pairwise", "exact")
    ]


def curve_rows(bench: Bench) -> list[Row]:
    """More and more brokers with a hundred subscriptions each; then more subscriptions on a hundred brokers."""
    rows = [
        _network_row(bench, policy, brokers=brokers, subscriptions=100 * brokers)
        for brokers in (30, 100, 300)
        for policy in ("pairwise", "exact")
    ]
    return [*rows, _network_row(bench, "exact", brokers=100, subscriptions=100_000)]


def flooding_rows(bench: Bench) -> list[Row]:
    """A thousand brokers and two thousand subscriptions that go everywhere: as many messages as the product says."""
    return [_network_row(bench, "flooding", brokers=1_000, subscriptions=2_000, way="subscriptions")]


def _network_row(
    bench: Bench,
    policy: str,
    *,
    brokers: int,
    subscriptions: int,
    way: str = "advertisements",
    goal: Goal | None = None,
) -> Row:
    if bench.is_quick:
        brokers, subscriptions = brokers // 10, subscriptions // 100
    note(f"{brokers:,} brokers, {subscriptions:,} subscriptions, {policy}")
    told = ask(
        "benchmarks.brokers.network_child",
        {
            "brokers": brokers,
            "subscriptions": subscriptions,
            "events": bench.size(1_000),
            "policy": policy,
            "way": way,
            "seed": bench.seed,
        },
    )
    assert told["missed"] == 0, "deliveries were lost"
    if policy == "flooding":
        assert told["messages"] == subscriptions * (brokers - 1), "flooding is not the product"
    first, last = told["growth"][0], told["growth"][-1]
    grown = log(last["subscriptions"] / first["subscriptions"])
    return Row(
        what=f"{brokers:,} brokers in a random tree, {policy}, guided by {way}",
        subscriptions=subscriptions,
        ours=told["seconds"],
        unit="s",
        goal=goal,
        details={
            "diameter": told["diameter"],
            "subscription messages": told["messages"],
            "B each": told["bytes"] / max(told["messages"], 1),
            "mean table": last["mean_table"],
            "largest table": last["largest_table"],
            "MB": told["memory"] / 1e6,
            "exponent of messages": log(last["messages"] / first["messages"]) / grown,
            "of the largest table": log(last["largest_table"] / first["largest_table"]) / grown,
            "publications sent": told["publications"],
            "in vain": told["superfluous"],
            "deliveries": told["deliveries"],
        },
    )


SECTIONS: dict[str, Callable[[Bench], list[Row]]] = {
    "publish": publish_section,
    "subscribe": subscribe_rows,
    "memory": memory_rows,
    "network": network_rows,
    "curve": curve_rows,
    "flooding": flooding_rows,
}
