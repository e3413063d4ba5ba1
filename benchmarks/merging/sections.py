"""What is measured, as rows of a table. All times are processor time: microseconds a subscription."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import thatch
from benchmarks.console import note
from benchmarks.matching.rows import Row, at_most
from benchmarks.merging.templates import SCHEMA, events, filters
from thatch.reduction import Exact, ForwardingSet, Merging
from thatch.reduction.forwarding.policies import Policy

__all__ = ["SECTIONS", "Bench"]

_MICRO = 1e6
_GOAL = 100  # microseconds: a hundred thousand subscriptions in ten seconds
_IMPERFECT = Merging(threshold=0.01, budget=0.05)
_POLICIES: dict[str, Policy] = {
    "perfect": Merging(),
    "lists of 8": Merging(intervals=8),
    "imperfect": _IMPERFECT,
}


@dataclass(frozen=True)
class Bench:
    """How many subscriptions, and which."""

    count: int = 100_000
    seed: int = 1

    def row(self, what: str, seconds: float, link: ForwardingSet, **more: Any) -> Row:
        active = len(link.active)
        details = {"active": active, "share": active / self.count, "mergers": len(link.mergers)}
        ours = seconds / self.count * _MICRO
        return Row(what=what, subscriptions=self.count, ours=ours, unit="µs", details=details, **more)


def loading_rows(bench: Bench) -> list[Row]:
    """All subscriptions at once, beside exact covering in the same run."""
    wanted = {f"S{number}": each for number, each in enumerate(filters(bench.count, bench.seed))}
    theirs, link = _timed(Exact(), lambda link: link.extend(wanted))
    rows = [bench.row("covering alone", theirs, link)]
    for name, policy in _POLICIES.items():
        note(f"merging {bench.count:,} subscriptions at once: {name}")
        seconds, link = _timed(policy, lambda link: link.extend(wanted))
        rows.append(
            bench.row(
                f"merging at once, {name}",
                seconds,
                link,
                peer="covering alone",
                theirs=theirs / bench.count * _MICRO,
                goal=at_most(_GOAL),
            )
        )
    return rows


def arriving_rows(bench: Bench) -> list[Row]:
    """One subscription after the other, then a tenth of them go again."""
    wanted = {f"S{number}": each for number, each in enumerate(filters(bench.count, bench.seed))}
    rows = []
    for name in ("perfect", "imperfect"):
        note(f"merging {bench.count:,} subscriptions one by one: {name}")
        seconds, link = _timed(_POLICIES[name], lambda link: [link.add(*each) for each in wanted.items()])
        rows.append(bench.row(f"merging one by one, {name}", seconds, link))
        gone = list(wanted)[::10]
        start = time.process_time()
        for each in gone:
            link.remove(each)
        spent = (time.process_time() - start) / len(gone) * _MICRO
        rows.append(Row(what=f"unsubscribing, {name}", subscriptions=bench.count, ours=spent, unit="µs"))
    return rows


def vain_rows(bench: Bench) -> list[Row]:
    """The share of events that imperfect mergers let through in vain, on events that nobody has seen."""
    wanted = {f"S{number}": each for number, each in enumerate(filters(bench.count // 10, bench.seed))}
    _, link = _timed(_IMPERFECT, lambda link: link.extend(wanted))
    known, asked = thatch.Engine(SCHEMA, background=False), thatch.Engine(SCHEMA, background=False)
    for engine, held in ((known, link.active), (asked, wanted)):
        for about, filter in held.items():
            engine.subscribe(about, filter)
    unseen = events(2_000, bench.seed + 1)
    in_vain = sum(known.any(event) and not asked.any(event) for event in unseen)
    return [
        Row(
            what="events let through in vain",
            subscriptions=len(wanted),
            ours=100 * in_vain / len(unseen),
            unit="%",
            goal=at_most(100 * _IMPERFECT.budget),
            details={"recorded": sum(degree.threshold for _, degree in link.mergers.values())},
        )
    ]


def _timed(policy: Policy, work: Callable[[ForwardingSet], object]) -> tuple[float, ForwardingSet]:
    ForwardingSet(policy, schema=SCHEMA).extend(  # compiles
        {str(number): each for number, each in enumerate(filters(50, 0))}
    )
    link = ForwardingSet(policy, schema=SCHEMA)
    start = time.process_time()
    work(link)
    return time.process_time() - start, link


SECTIONS: dict[str, Callable[[Bench], list[Row]]] = {
    "loading": loading_rows,
    "arriving": arriving_rows,
    "vain": vain_rows,
}
