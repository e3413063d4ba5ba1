"""Figures 8b to 8d and 10b: the load of every broker and the delay of every subscriber."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from thatch.experiments.experiment import Comparison, Comparisons, Experiment
from thatch.experiments.results import Results, join, number, percent
from thatch.experiments.trials import Row, Simulation, Value, columns
from thatch.experiments.yu2012.cases import PlacementCase, make_case, solve_verified
from thatch.experiments.yu2012.levels import FEW_OF_TWO, LEVELS, TIGHT_LOOSE, tight_and_loose
from thatch.experiments.yu2012.placements import (
    ALGORITHMS,
    PLAIN,
    SETTING,
    SMALL,
    placements,
    quick_placements,
)
from thatch.experiments.yu2012.placements import SIMULATION as PLACEMENTS
from thatch.reports import PlotAxis, Report

if TYPE_CHECKING:
    from thatch.placement import Placement

__all__ = ["FIG8", "FIG10B"]

LOAD, DELAY = "load", "delay"  # a row describes a broker or a subscriber

_POINTS = 400  # subscribers of a cloud
_EVERY = f"slp {PLAIN}"


def _trial(seed: int, **parameters: Value) -> Iterator[Row]:
    case = make_case(parameters, seed)
    for name in str(parameters["algorithms"]).split():
        found = solve_verified(case.problem, name, seed)
        limits = {"beta": case.problem.beta, "beta_max": case.problem.beta_max}
        for row in (*_loads(found), *_delays(case, found, seed)):
            yield {"algorithm": ALGORITHMS[name], **limits, **row}


def _loads(found: Placement) -> Iterator[Row]:
    """The load of each broker relative to its share, ascending, and the share of brokers with at most this load."""
    factors = np.sort(found.loads / (found.problem.shares * found.problem.subscribers))
    for rank, factor in enumerate(factors.tolist(), start=1):
        yield {"part": LOAD, "x": factor, "y": rank / len(factors)}


def _delays(case: PlacementCase, found: Placement, seed: int) -> Iterator[Row]:
    """The shortest latency and the actual delay of some subscribers."""
    problem = case.problem
    chosen = np.random.default_rng(seed).permutation(problem.subscribers)[:_POINTS]
    leaves = found.assignment[chosen]
    ways = np.linalg.norm(problem.locations[chosen] - problem.tree.locations[leaves], axis=1)
    ways += problem.tree.distances[leaves]
    for shortest, way in zip(problem.shortest[chosen].tolist(), ways.tolist(), strict=True):
        yield {"part": DELAY, "x": shortest, "y": max(0.0, way / shortest - 1)}


SIMULATION = Simulation(
    name="yu2012/details",
    trial=_trial,
    defaults=PLACEMENTS.defaults,
    results=columns(float="beta beta_max x y", str="algorithm part"),
)


def delay_cloud(report: Report, results: Results) -> None:
    """Delay over the shortest latency, a cloud for each of the paper's algorithms (figure 8b)."""
    shown = {}
    for name in ("SLP", "Gr*", "Closest¬b", "Gr¬l"):
        x, y = (results.values(axis, algorithm=name, part=DELAY, seed=0) for axis in ("x", "y"))
        shown[name] = (x, y)
    report.scatter(shown, title="Delay by shortest latency", x="shortest latency (ms)", y="delay")


def load_boxes(report: Report, results: Results, **where: Value) -> None:
    """The loads of brokers for each algorithm, with β and β_max (figure 8c)."""
    names = _names(results, **where)
    report.boxplot(
        names,
        [results.values("x", algorithm=name, part=LOAD, **where) for name in names],
        title="Loads of brokers",
        value=PlotAxis("load relative to share"),
        marks={each: results.mean(name, **where) for each, name in (("β", "beta"), ("β_max", "beta_max"))},
    )


def load_curves(report: Report, results: Results, **where: Value) -> None:
    """The share of brokers with at most a given load, for each algorithm (figure 8d)."""
    curves = {}
    for name in _names(results, **where):
        loads = np.sort(results.values("x", algorithm=name, part=LOAD, **where))
        curves[name] = (loads, (np.arange(len(loads)) + 1) / max(1, len(loads)))
    report.lines(
        curves,
        title="Brokers with at most this load",
        x="load relative to share",
        y=PlotAxis("brokers", format="percent"),
    )


def _names(results: Results, **where: Value) -> list[str]:
    """The algorithms that have results, in the usual order."""
    found = results.choices("algorithm", **where)
    return [name for name in ALGORITHMS.values() if name in found]


_LIMIT = 0.3 * (1 + 1e-6)
_DELAYS = {
    "SLP": "at most 0.3",
    "Gr*": "at most 0.3",
    "Closest¬b": "small",
    "Gr¬l": "broken, most of all near the publisher",
}
_LOADS = {
    "SLP": "near β",
    "Gr*": "at most β_max",
    "Gr": "more than 10 % of brokers overloaded",
    "Gr¬l": "at most β_max",
    "Closest": "good",
    "Closest¬b": "good, some above β_max",
    "Balance": "best",
}


def _compare_one_level(results: Results) -> Comparisons:
    for name, paper in _DELAYS.items():
        what = f"delay of {name}: largest / later than 0.3 / the same, nearer half"
        yield Comparison(what, paper, _late(results, name))
    for name, paper in _LOADS.items():
        what = f"load of {name}: largest / brokers above β_max"
        yield Comparison(what, paper, _overloaded(results, name))


def _late(results: Results, name: str) -> str | None:
    shortest, delays = (results.values(axis, algorithm=name, part=DELAY) for axis in ("x", "y"))
    if not len(delays):
        return None
    is_near = shortest <= sorted(shortest)[len(shortest) // 2]
    shares = ((delays > _LIMIT).mean(), (delays[is_near] > _LIMIT).mean())
    return join([number(float(delays.max())), *(percent(float(share)) for share in shares)])


def _overloaded(results: Results, name: str, **where: Value) -> str | None:
    loads, limits = (
        results.values(column, algorithm=name, part=LOAD, **where) for column in ("x", "beta_max")
    )
    if not len(loads):
        return None
    return join([number(float(loads.max())), percent(float((loads > limits * (1 + 1e-9)).mean()))])


FIG8 = Experiment(
    name="yu2012/fig8",
    figure="Figures 8b, 8c, 8d",
    title="delays and loads one by one, set #1 (IS:H, BI:H)",
    statement="SLP1 and Gr* hold delays at 0.3; Gr¬l breaks it, above all for subscribers near the publisher. Balance, Closest "
    "and Closest¬b have good loads; SLP1 is close to β; Gr overloads more than 10 % of the brokers.",
    setting=SETTING
    + "100,000 subscribers, 100 brokers, five seeds; 400 subscribers of each trial. The cloud is of one seed.",
    simulation=SIMULATION,
    full=placements(5, algorithms=(_EVERY,)),
    quick=quick_placements(algorithms=(_EVERY,)),
    compare=_compare_one_level,
    drawings=(delay_cloud, load_boxes, load_curves),
)


_DETAILED: dict[str, Sequence[Value]] = {"load": ("LH",), "algorithms": ("slp gr_star",)}
_LOADS_ON_TWO_LEVELS = {
    ("tight", "SLP"): "within β_max",
    ("tight", "Gr*"): "more than 10 % of brokers overloaded",
    ("loose", "SLP"): "within β_max",
    ("loose", "Gr*"): "within β_max",
}


def _compare_two_levels(results: Results) -> Comparisons:
    for (limits, name), paper in _LOADS_ON_TWO_LEVELS.items():
        what = f"{limits}, {name}: largest load / brokers above β_max"
        yield Comparison(what, paper, _overloaded(results, name, limits=limits))


FIG10B = Experiment(
    name="yu2012/fig10b",
    title="loads on two levels (IS:L, BI:H)",
    statement="SLP keeps all limits; tight, Gr* overloads more than 10 % of the brokers.",
    setting=LEVELS + "Five seeds.",
    simulation=SIMULATION,
    full=tight_and_loose(5, **_DETAILED),
    quick=tight_and_loose(1, **_DETAILED, subscribers=(SMALL,), brokers=(FEW_OF_TWO,)),
    compare=_compare_two_levels,
    drawings=tuple(
        partial(draw, limits=limits) for limits in TIGHT_LOOSE for draw in (load_boxes, load_curves)
    ),
)
