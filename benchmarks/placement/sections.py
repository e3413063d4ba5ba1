"""Rows of the table. Times are processor time; ratios compare bandwidths unless they say otherwise."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.console import note
from benchmarks.matching.rows import Goal, Row, at_least, at_most
from benchmarks.placement.instances import PlacementInstance, screened_instance, two_level_instance
from thatch.placement import Placement, PlacementProblem, Status, best, solve
from thatch.placement.local_search import improve

__all__ = ["SECTIONS", "SETS", "Bench"]

SETS = (1, 2, 3)
_BELOW = {1: 0.85, 2: 0.9, 3: 0.9}  # the best beside Gr*
_FRACTIONAL = {1: 2.5, 2: 1.3, 3: 2.6}  # the best beside the linear program
_ABOVE = 1.001  # β_max over β, where a load factor is given


@dataclass(frozen=True)
class Bench:
    """Sizes, seeds, and which sets of subscribers."""

    seeds: int = 5
    seed: int = 1
    sets: tuple[int, ...] = SETS
    is_quick: bool = False

    def size(self, count: int) -> int:
        return count // 50 if self.is_quick else count

    @property
    def brokers(self) -> int:
        return 12 if self.is_quick else 100

    def levels(self, subscribers: int, *, is_tight: bool) -> PlacementInstance:
        leaves, inner = (20, 3) if self.is_quick else (187, 13)
        return two_level_instance(self.size(subscribers), leaves, inner, self.seed, is_tight=is_tight)


def shape_rows(bench: Bench) -> list[Row]:
    """Whether algorithms rank as in the paper."""
    rows = []
    for number in bench.sets:
        instance = screened_instance(number, bench.size(100_000), bench.brokers, bench.seed)
        note(f"shapes: {instance.name}, least load factor {instance.floor:.3f}")
        found = {
            name: solve(instance.problem, name)
            for name in ("gr", "gr_star", "closest", "balance", "gr_without_latency")
        }
        star = found["gr_star"]
        rows.append(_beside("Gr*", star, "Gr", found["gr"].bandwidth, instance, goal=at_most(0.95)))
        same = solve(_with_load(instance.problem, star.load_factor), "gr").bandwidth
        what = "Gr*, both with the capacities it needs"
        rows.append(_beside(what, star, "Gr", same, instance, goal=at_most(0.95)))
        equal = solve(_with_load(instance.problem, found["gr"].load_factor), "gr_star")
        what = "Gr* with the load of Gr"
        rows.append(_beside(what, equal, "Gr", found["gr"].bandwidth, instance, goal=at_most(0.95)))
        rows.extend(
            _beside(title, found[name], "Gr*", star.bandwidth, instance, goal=at_least(1.6))
            for name, title in (("closest", "Closest"), ("balance", "Balance"))
        )
        rows.append(
            _beside("Gr without latency", found["gr_without_latency"], "Gr*", star.bandwidth, instance)
        )
        rows.append(
            Row(
                what=f"load factor of Gr, {instance.name}",
                subscriptions=instance.problem.subscribers,
                ours=found["gr"].load_factor,
                unit="",
                peer="β_max",
                theirs=instance.problem.beta_max,
                ratio=found["gr"].load_factor / instance.problem.beta_max,
                goal=at_least(1.0),
            )
        )
    return rows


def quality_rows(bench: Bench) -> list[Row]:
    """The best of the portfolio beside Gr*, the linear program and the proved bound; the worst of all seeds."""
    rows = []
    for number in bench.sets:
        kept = []
        for seed in range(bench.seed, bench.seed + bench.seeds):
            instance = screened_instance(number, bench.size(100_000), bench.brokers, seed)
            progress: list[Placement] = []
            found = best(instance.problem, seed=seed, now=time.process_time, on_progress=progress.append)
            kept.append((progress[0], found, instance))
            note(
                f"quality: {instance.name}: Gr* {progress[0].bandwidth:,.0f} {progress[0].status.value}, best "
                f"{found.bandwidth:,.0f} {found.status.value} by {found.algorithm}, program "
                f"{found.bounds.fractional or 0:,.0f}, bound {found.bounds.rigorous or 0:,.0f}, "
                f"{sum(found.seconds.values()):.0f} s"
            )
        fractional = [found.bandwidth / (found.bounds.fractional or np.inf) for _, found, _ in kept]
        rigorous = [found.bandwidth / (found.bounds.rigorous or np.inf) for _, found, _ in kept]
        assert min(rigorous) >= 1, "an answer undercuts the proved bound"
        below = [found.bandwidth / star.bandwidth for star, found, _ in kept]
        at = int(np.argmax(below))
        star, found, instance = kept[at]
        rows.append(_beside("best", found, "Gr*", star.bandwidth, instance, goal=at_most(_BELOW[number])))
        at = int(np.argmax(fractional))
        _, found, instance = kept[at]
        value = found.bounds.fractional or np.nan
        rows.append(
            _beside("best", found, "linear program", value, instance, goal=at_most(_FRACTIONAL[number]))
        )
        at = int(np.argmax(rigorous))
        _, found, instance = kept[at]
        rows.append(_beside("best", found, "proved bound", found.bounds.rigorous or np.nan, instance))
    return rows


def speed_rows(bench: Bench) -> list[Row]:
    """A million subscribers on a hundred brokers."""
    instance = screened_instance(1, bench.size(1_000_000), bench.brokers, bench.seed)
    solve(screened_instance(1, 2_000, 12, bench.seed).problem, "slp_search")  # compiles
    rows = []
    starts = {}
    for name, title, goal in (("gr_star", "Gr*", at_most(10, 5)), ("slp1", "SLP1", at_most(180, 120))):
        note(f"speed: {title}, {instance.problem.subscribers:,} subscribers")
        starts[name] = solve(instance.problem, name, now=time.process_time)
        rows.append(_timed(title, starts[name], starts[name].seconds[name], instance, goal))
    note("speed: local search")
    start = starts["gr_star"]
    begin = time.process_time()
    improve(instance.problem, (start.served_by, start.filters), np.random.default_rng(0))
    rows.append(
        _timed("local search from Gr*", start, time.process_time() - begin, instance, at_most(120, 60))
    )
    return rows


def level_rows(bench: Bench) -> list[Row]:
    """Two hundred brokers on two levels: whether SLP keeps limits that Gr breaks, and its bandwidth beside that of Gr*."""
    rows: list[Row] = []
    for is_tight in (True, False):
        instance = bench.levels(100_000, is_tight=is_tight)
        note(f"levels: {instance.name}, least load factor {instance.floor:.3f}")
        found = {name: solve(instance.problem, name) for name in ("gr", "gr_star", "slp")}
        note(", ".join(f"{name} {each.status.value}" for name, each in found.items()))
        if is_tight:
            rows.extend(
                Row(
                    what=f"load factor of {name}, {instance.name}",
                    subscriptions=instance.problem.subscribers,
                    ours=each.load_factor,
                    unit="",
                    peer="β_max",
                    theirs=instance.problem.beta_max,
                    ratio=each.load_factor / instance.problem.beta_max,
                    goal=at_most(1.0) if name == "slp" else at_least(1.0),
                    details={"is feasible": float(each.status is not Status.INFEASIBLE)},
                )
                for name, each in found.items()
            )
        star = found["gr_star"].bandwidth
        rows.append(_beside("SLP", found["slp"], "Gr*", star, instance, goal=at_most(1.1)))
    return rows


def large_rows(bench: Bench) -> list[Row]:
    """A million subscribers on two hundred brokers of two levels."""
    instance = bench.levels(1_000_000, is_tight=False)
    note(f"large: {instance.problem.subscribers:,} subscribers on two levels")
    found = solve(instance.problem, "slp", now=time.process_time)
    return [_timed("SLP, two levels", found, found.seconds["slp"], instance, at_most(600))]


def continuous_rows(bench: Bench) -> list[Row]:
    """Subscribers with locations and interests of their own, so that there are as many types as subscribers."""
    rows = []
    for count in (10_000, 50_000, 200_000, 1_000_000):
        instance = screened_instance(1, bench.size(count), bench.brokers, bench.seed, is_continuous=True)
        found = {}
        for name, title in (("gr_star", "Gr*"), ("gr_star_search", "Gr* and search")):
            note(f"continuous: {title}, {instance.problem.subscribers:,} subscribers")
            found[name] = solve(instance.problem, name, now=time.process_time)
            rows.append(
                _timed(f"{title}, continuous", found[name], found[name].seconds[name], instance, None)
            )
        rows.append(
            _beside(
                "search, continuous", found["gr_star_search"], "Gr*", found["gr_star"].bandwidth, instance
            )
        )
    return rows


def _with_load(problem: PlacementProblem, factor: float) -> PlacementProblem:
    """The same problem with a load factor of hardly more than this one allowed.

    Gr ends with the capacities at β_max, and breaks them, where Gr* often needs only those at β. What Gr saves that way is no
    merit of its order.
    """
    return replace(problem, beta=factor, beta_max=_ABOVE * factor)


def _beside(
    what: str,
    found: Placement,
    peer: str,
    theirs: float,
    instance: PlacementInstance,
    goal: Goal | None = None,
) -> Row:
    return Row(
        what=f"{what}, {instance.name}",
        subscriptions=found.problem.subscribers,
        ours=found.bandwidth,
        unit="",
        peer=peer,
        theirs=theirs,
        ratio=found.bandwidth / theirs,
        details={"load factor": found.load_factor, "least load factor": instance.floor},
        goal=goal,
    )


def _timed(
    what: str, found: Placement, seconds: float, instance: PlacementInstance, goal: Goal | None
) -> Row:
    return Row(
        what=f"{what}, {instance.name}",
        subscriptions=found.problem.subscribers,
        ours=seconds,
        unit="s",
        goal=goal,
        details={"bandwidth": found.bandwidth, "load factor": found.load_factor},
    )


SECTIONS: dict[str, Callable[[Bench], list[Row]]] = {
    "shapes": shape_rows,
    "quality": quality_rows,
    "speed": speed_rows,
    "levels": level_rows,
    "large": large_rows,
    "continuous": continuous_rows,
}
