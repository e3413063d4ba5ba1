"""What is measured, as rows of a table. All times are processor time: microseconds a subscription."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import thatch
from benchmarks.console import note
from benchmarks.interests import draw_interests
from benchmarks.matching.rows import Row, at_least, at_most
from benchmarks.real_events import ATTRIBUTES, real_events
from benchmarks.reduction.merging import merging_rows
from benchmarks.reduction.on_spark import grown_rows
from benchmarks.reduction.streams import Stream, best_time, by_index, comparison_stream, zipf_stream
from thatch.reduction import (
    ApproximateNegativeSpace,
    Exact,
    Flooding,
    ForwardingSet,
    NegativeSpace,
    Pairwise,
    Probabilistic,
)
from thatch.reduction.branch_and_bound import decide
from thatch.reduction.forwarding.policies import Policy
from thatch.reduction.negative_space import stream as space_stream
from thatch.reduction.probabilistic import ConflictTable, rspc
from thatch.workloads import generate, ouksel2006

__all__ = ["SECTIONS", "Bench"]

_MICRO = 1e6
_CAP = 10_000  # random points for one decision, as in the measurements that the goals come from


@dataclass(frozen=True)
class Bench:
    """Sizes, and where real events lie."""

    rounds: int = 3
    seed: int = 1
    is_quick: bool = False
    data: Path | None = None

    def size(self, count: int) -> int:
        return max(200, count // 50) if self.is_quick else count

    def row(self, what: str, stream: Stream, seconds: float, **more: Any) -> Row:
        ours = seconds / len(stream) * _MICRO
        return Row(what=f"{what}, {stream.name}", subscriptions=len(stream), ours=ours, unit="µs", **more)


def checker_rows(bench: Bench) -> list[Row]:
    """The exact checker beside the exact negative space: the same decisions, no stored boxes."""
    rows = []
    for count, axes, must in ((10_000, 3, 5), (4_000, 4, 20)):
        stream = zipf_stream(bench.size(count), axes, "scattered", 0.5, bench.seed)
        note(f"checker and negative space: {stream.name}")
        by_index(zipf_stream(200, axes, "scattered", 0.5, 0))  # compiles
        space_stream(stream.lows[:200], stream.highs[:200], stream.domain, [200])
        seconds, answers = best_time(lambda s=stream: by_index(s, budget=float("inf")), bench.rounds)
        theirs, grown = best_time(
            lambda s=stream: space_stream(s.lows, s.highs, s.domain, [len(s)]), bench.rounds
        )
        found = int((answers.codes == 1).sum())
        assert found == int(grown.subsumed[-1]), "the two ways differ"
        rows.append(
            bench.row(
                "exact checker",
                stream,
                seconds,
                peer="negative space",
                theirs=theirs / len(stream) * _MICRO,
                ratio=theirs / seconds,
                goal=at_least(must),
                details={"redundant": found, "boxes of the negative space": int(grown.boxes[-1])},
            )
        )
    return rows


def comparison_rows(bench: Bench) -> list[Row]:
    """Scenario 1-2 of ouksel2006, over five seeds: time, and how much groups save beyond pairs."""
    rows = []
    by_index(comparison_stream(200, 10, 0))  # compiles
    for axes in (10, 15, 20):
        times, shares = [], []
        for seed in range(bench.seed, bench.seed + 5):
            stream = comparison_stream(bench.size(5_000), axes, seed)
            seconds, answers = best_time(lambda s=stream: by_index(s), bench.rounds)
            pairs = by_index(stream, pairwise=True)
            assert not (answers.codes < 0).any(), "out of budget"
            times.append(seconds)
            shares.append((answers.codes == 0).sum() / (pairs.codes == 0).sum())
        note(f"{stream.name}: group/pairwise {', '.join(f'{each:.3f}' for each in shares)}")
        goal = at_most(200) if axes == 20 else None
        details = {
            "group/pairwise sizes, least of five seeds": float(min(shares)),
            "most": float(max(shares)),
        }
        rows.append(bench.row("exact checker", stream, max(times), goal=goal, details=details))
    return rows


def large_rows(bench: Bench) -> list[Row]:
    """A hundred thousand and a million boxes in six dimensions."""
    rows = []
    stream = zipf_stream(bench.size(100_000), 6, "power law", 1.5, bench.seed)
    note(f"{len(stream):,} boxes, {stream.name}")
    seconds, answers = best_time(lambda: by_index(stream), 1)
    exhausted = float((answers.codes < 0).mean())
    details = {"active": int((answers.codes != 1).sum()), "out of budget": exhausted}
    rows.append(bench.row("exact checker", stream, seconds, goal=at_most(300), details=details))
    rows.append(
        Row(
            what="decisions out of budget",
            subscriptions=len(stream),
            ours=100 * exhausted,
            unit="%",
            goal=at_most(0.1),
        )
    )
    stream = zipf_stream(bench.size(1_000_000), 6, "power law", 1.5, bench.seed)
    for what, pairwise, goal in (
        ("pairwise", True, at_most(60)),
        ("exact checker", False, at_most(1_000)),
    ):
        note(f"{len(stream):,} boxes, {stream.name}, {what}")
        seconds, answers = best_time(lambda p=pairwise: by_index(stream, pairwise=p), 1)
        details = {
            "active": int((answers.codes != 1).sum()),
            "out of budget": float((answers.codes < 0).mean()),
        }
        rows.append(bench.row(what, stream, seconds, goal=goal, details=details))
    return rows


def curve_rows(bench: Bench) -> list[Row]:
    """How cost grows with subscriptions and with dimensions."""
    sizes = [(10**power, 6) for power in (3, 4, 5)] + [(10_000, axes) for axes in (2, 3, 4, 5, 8, 10, 15, 20)]
    rows = []
    for count, axes in sizes:
        stream = zipf_stream(bench.size(count), axes, "power law", 1.5, bench.seed)
        note(f"{len(stream):,} boxes, {stream.name}")
        for what, pairwise in (("pairwise", True), ("exact checker", False)):
            seconds, answers = best_time(lambda s=stream, p=pairwise: by_index(s, pairwise=p), 1)
            details = {
                "active": int((answers.codes != 1).sum()),
                "out of budget": float((answers.codes < 0).mean()),
            }
            rows.append(bench.row(what, stream, seconds, details=details))
    return rows


_SCENARIOS: dict[str, Callable[[np.random.Generator, int, int], ouksel2006.Instance]] = {
    "1.a": ouksel2006.pairwise_cover,
    "1.b anchored": ouksel2006.redundant_cover,
    "1.b two-sided": lambda rng, k, m: ouksel2006.redundant_cover(rng, k, m, "two-sided"),
    "1.b wide": lambda rng, k, m: ouksel2006.redundant_cover(rng, k, m, "wide"),
    "2.a": ouksel2006.disjoint,
    "2.b": ouksel2006.non_cover,
}


def decision_rows(bench: Bench) -> list[Row]:
    """One decision in the scenarios of ouksel2006, k = 100, m = 10: table, MCS, random points and the exact checker."""
    rows = []
    count = 10 if bench.is_quick else 60
    for name, scenario in _SCENARIOS.items():
        rng = np.random.default_rng(bench.seed)
        cases = [scenario(rng, 100, 10) for _ in range(count)]
        note(f"scenario {name}")
        seconds, verdicts = best_time(lambda c=cases: [_exact(each) for each in c], bench.rounds)
        tables, _ = best_time(lambda c=cases: [_reduced(each) for each in c], bench.rounds)
        points, guesses = best_time(lambda c=cases: [_random(each) for each in c], bench.rounds)
        wrong = sum(
            guess.covered is True and verdict.covered is False
            for guess, verdict in zip(guesses, verdicts, strict=True)
        )
        rows.append(
            Row(
                what=f"exact checker, scenario {name}, k = 100, m = 10",
                subscriptions=100,
                ours=seconds / count * _MICRO,
                unit="µs",
                peer=f"RSPC, at most {_CAP:,} points",
                theirs=points / count * _MICRO,
                ratio=points / seconds,
                details={
                    "table and MCS, µs": tables / count * _MICRO,
                    "wrong answers of RSPC": wrong,
                    "capped": sum(guess.decided_by == "rspc capped" for guess in guesses),
                    "out of budget": sum(verdict.covered is None for verdict in verdicts),
                },
            )
        )
    return rows


def _exact(case: ouksel2006.Instance) -> object:
    return decide(case.low, case.high, case.lows, case.highs)


def _reduced(case: ouksel2006.Instance) -> object:
    return ConflictTable(case.low, case.high, case.lows, case.highs).minimised_cover


def _random(case: ouksel2006.Instance) -> object:
    rng = np.random.default_rng(1)
    return rspc(case.low, case.high, case.lows, case.highs, delta=1e-6, rng=rng, cap=_CAP)


def set_rows(bench: Bench) -> list[Row]:
    """Forwarding sets of filters: what a broker pays for a subscription on one link, by policy."""
    stream = zipf_stream(bench.size(10_000), 3, "scattered", 0.5, bench.seed)
    names = [f"a{axis}" for axis in range(stream.lows.shape[1])]
    filters = [
        thatch.parse(
            " and ".join(
                f"{name} between {low} and {high}" for name, low, high in zip(names, *ends, strict=True)
            )
        )
        for ends in zip(stream.lows.tolist(), stream.highs.tolist(), strict=True)
    ]
    policies: dict[str, Policy] = {
        "flooding": Flooding(),
        "pairwise": Pairwise(),
        "exact": Exact(),
        "exact, demoting": Exact(demote=True),
        "negative space": NegativeSpace(),
        "approximate, k = 50": ApproximateNegativeSpace(50),
        "RSPC": Probabilistic(delta=1e-6, cap=_CAP),
    }
    rows = []
    for name, policy in policies.items():
        note(f"forwarding set: {name}")
        _filled(policy, filters[:50])  # compiles
        seconds, filled = best_time(lambda p=policy: _filled(p, filters), 1)
        rows.append(
            bench.row(
                f"forwarding set, {name}",
                stream,
                seconds,
                details={"active": len(filled.active)},
            )
        )
    return rows


def _filled(policy: Policy, filters: list[thatch.Filter]) -> ForwardingSet:
    kept = ForwardingSet(policy)
    for number, filter in enumerate(filters):
        kept.add(str(number), filter)
    return kept


def spark_rows(bench: Bench) -> list[Row]:
    """`thatch.pipeline.reduce` on two cores, and how its cost grows."""
    counts = [bench.size(100_000), bench.size(1_000_000)]
    note(f"Spark: {counts[0]:,} and {counts[1]:,} subscriptions in 4-D")
    request = {"counts": counts, "seed": bench.seed}
    return grown_rows("spark_child", request, "reducing in 4-D", {"active": "active"})


_INTERESTS: dict[str, dict[str, Any]] = {
    "1-3 attributes, half of the ranges one-sided": {},
    "3-4 attributes, ranges two-sided": {"sizes": (3, 4), "one_sided": 0.0},
}


def real_rows(bench: Bench) -> list[Row]:
    """How much sets shrink: subscriptions derived from real events (`workloads/interests.py`), and W1 to W4."""
    sets: dict[str, list[thatch.Filter]] = {}
    count = bench.size(20_000)
    for name, attributes in ATTRIBUTES.items() if bench.data is not None else ():
        events = real_events(bench.data / name)
        for kind, options in _INTERESTS.items():
            rng = np.random.default_rng(bench.seed)
            title = f"of {name.partition('.')[0]}, {kind}"
            sets[title] = draw_interests(rng, events, count, attributes, **options)
    for name in ("W1", "W2-3D", "W3", "W4A", "W4B"):
        sets[name] = generate(name, count, 0, bench.seed).filters()
    rows = []
    _filled(Exact(), sets["W1"][:50])  # compiles
    for name, filters in sets.items():
        note(f"{len(filters):,} subscriptions, {name}")
        seconds, exact = best_time(lambda f=filters: _filled(Exact(), f), 1)
        pairs = _filled(Pairwise(), filters)
        by_volume = _filled(Exact(), filters)
        by_volume.rebuild(order="volume")
        shares = [100 * len(each.active) / len(filters) for each in (pairs, exact, by_volume)]
        rows.append(
            Row(
                what=f"exact set, subscriptions {name}",
                subscriptions=len(filters),
                ours=seconds / len(filters) * _MICRO,
                unit="µs",
                details={
                    "kept by pairs, %": shares[0],
                    "by groups, %": shares[1],
                    "by groups, largest first, %": shares[2],
                    "not proved": exact.stats()["unproved"],
                },
            )
        )
    return rows


SECTIONS: dict[str, Callable[[Bench], list[Row]]] = {
    "checker": checker_rows,
    "comparison": comparison_rows,
    "large": large_rows,
    "curve": curve_rows,
    "decisions": decision_rows,
    "sets": set_rows,
    "real": real_rows,
    "spark": spark_rows,
    "merging": merging_rows,
}
