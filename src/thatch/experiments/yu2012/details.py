"""Placements looked at broker by broker and subscriber by subscriber: loads and delays of figures 8 and 10."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from thatch.experiments.results import Results
from thatch.experiments.trials import Grid, Parameters, Row, Simulation, Value
from thatch.experiments.yu2012.instances import Instance, instance_of
from thatch.experiments.yu2012.placements import ALGORITHMS, PLAIN, placements
from thatch.experiments.yu2012.placements import SIMULATION as PLACEMENTS
from thatch.experiments.yu2012.solved import solved
from thatch.reports import Axis, Report

if TYPE_CHECKING:
    from thatch.placement import Placement

__all__ = ["DELAY", "LOAD", "SIMULATION", "delay_cloud", "details", "load_boxes", "load_curves"]

LOAD, DELAY = "load", "delay"  # the parts that rows tell of

_POINTS = 400  # subscribers of a cloud
_EVERY = f"slp {PLAIN}"


def details(seeds: int, **choices: Sequence[Value]) -> Grid:
    """Trials of the simulation; what is not told is the paper's."""
    return placements(seeds, **{"algorithms": (_EVERY,), **choices})


def _trial(parameters: Parameters, seed: int) -> Sequence[Row]:
    instance = instance_of(parameters, seed)
    rows: list[Row] = []
    for name in str(parameters["algorithms"]).split():
        found = solved(instance.problem, name, seed)
        told: Row = {
            "algorithm": ALGORITHMS[name],
            "beta": instance.problem.beta,
            "beta_max": instance.problem.beta_max,
        }
        rows += [{**told, **row} for row in (*_loads(found), *_delays(instance, found, seed))]
    return rows


def _loads(found: Placement) -> Iterator[Row]:
    """The load of each broker relative to its share, rising, and the share of brokers that have at most that."""
    factors = np.sort(found.loads / (found.problem.shares * found.problem.subscribers))
    for place, factor in enumerate(factors.tolist(), start=1):
        yield {"part": LOAD, "x": factor, "y": place / len(factors)}


def _delays(instance: Instance, found: Placement, seed: int) -> Iterator[Row]:
    """The shortest latency of some subscribers, and the delay that each has."""
    problem = instance.problem
    chosen = np.random.default_rng(seed).permutation(problem.subscribers)[:_POINTS]
    leaves = found.assignment[chosen]
    ways = np.linalg.norm(problem.locations[chosen] - problem.tree.locations[leaves], axis=1)
    ways += problem.tree.distances[leaves]
    for shortest, way in zip(problem.shortest[chosen].tolist(), ways.tolist(), strict=True):
        yield {"part": DELAY, "x": shortest, "y": max(0.0, way / shortest - 1)}


SIMULATION = Simulation(
    name="yu2012/details",
    trial=_trial,
    parameters=PLACEMENTS.parameters,
    results={"algorithm": str, "beta": float, "beta_max": float, "part": str, "x": float, "y": float},
)


def delay_cloud(report: Report, results: Results) -> None:
    """Delay over the shortest latency, a cloud for each of the paper's algorithms (figure 8b)."""
    shown = {
        name: (
            results.values("x", algorithm=name, part=DELAY, seed=0),
            results.values("y", algorithm=name, part=DELAY, seed=0),
        )
        for name in ("SLP", "Gr*", "Closest¬b", "Gr¬l")
    }
    report.scatter(shown, title="Delay by shortest latency", x="shortest latency (ms)", y="delay")


def load_boxes(report: Report, results: Results, **where: Value) -> None:
    """The loads of brokers for each algorithm, with β and β_max (figure 8c)."""
    names = _names(results, **where)
    report.boxplot(
        names,
        [results.values("x", algorithm=name, part=LOAD, **where) for name in names],
        title="Loads of brokers",
        value=Axis("load relative to share"),
        marks={each: results.mean(name, **where) for each, name in (("β", "beta"), ("β_max", "beta_max"))},
    )


def load_curves(report: Report, results: Results, **where: Value) -> None:
    """How many brokers have at most so much load, for each algorithm (figure 8d)."""
    curves = {}
    for name in _names(results, **where):
        loads = np.sort(results.values("x", algorithm=name, part=LOAD, **where))
        curves[name] = (loads, (np.arange(len(loads)) + 1) / max(1, len(loads)))
    report.lines(
        curves,
        title="Brokers with at most this load",
        x="load relative to share",
        y=Axis("brokers", format="percent"),
    )


def _names(results: Results, **where: Value) -> list[str]:
    """Algorithms that there are results of, in the order of all."""
    found = results.choices("algorithm", **where)
    return [name for name in ALGORITHMS.values() if name in found]
