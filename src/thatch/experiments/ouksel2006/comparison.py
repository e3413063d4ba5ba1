"""Scenario 1-2: how many subscriptions stay active as they come in, by pairs and by groups (section 6.4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from thatch.experiments.redundancy import is_redundant
from thatch.experiments.trials import Parameters, Row, Simulation, grid, random_of
from thatch.workloads.ouksel2006 import COMPARISON_TOP, comparison

__all__ = ["FULL", "MARKS", "POLICIES", "QUICK", "SCALES", "SETTING", "SIMULATION", "USUAL", "WIDTHS"]

POLICIES = ("pairwise", "group", "rspc")
MARKS = 10  # moments at which the active set is counted
DELTA = 1e-6  # table 8
CAP = 10_000  # random points a decision; what the error asks for reaches 10^60

SETTING = (
    "as many draws from Zipf(2.0) as there are attributes choose the constrained ones; centres are Pareto(1) with scale "
    "50 in [0, 1000] (those beyond are drawn evenly), widths normal with mean 200 and deviation 100. The paper gives the "
    "two exponents and not the rest, so that other scales and widths are tried too, with one seed. `group` is the exact "
    "checker, `rspc` the paper's algorithm with at most 10^4 points. Five seeds, where the paper has one run."
)

# Scale of the centres, mean of the widths (their deviation is half of it); the first of each is the one shown.
SCALES, WIDTHS = (50.0, 20.0, 100.0, 200.0), (200.0, 100.0, 400.0)

USUAL: Parameters = {"scale": SCALES[0], "width": WIDTHS[0]}

FULL = grid(
    5, policy=POLICIES, attributes=(10, 15, 20), subscriptions=(5_000,), scale=SCALES[:1], width=WIDTHS[:1]
) + grid(1, policy=POLICIES[:2], attributes=(10, 15, 20), subscriptions=(5_000,), scale=SCALES, width=WIDTHS)
QUICK = grid(
    1, policy=POLICIES, attributes=(10, 20), subscriptions=(400,), scale=SCALES[:1], width=WIDTHS[:1]
)

Ints = npt.NDArray[np.int64]


def _trial(parameters: Parameters, seed: int) -> Sequence[Row]:
    attributes, count = int(parameters["attributes"]), int(parameters["subscriptions"])
    scale, width = float(parameters["scale"]), float(parameters["width"])
    rng = random_of(seed, attributes, count)
    lows, highs = comparison(rng, count, attributes, scale=scale, width=(width, width / 2))
    if parameters["policy"] == "rspc":
        is_active, is_wrong, is_capped = _by_random_points(lows, highs, random_of(seed, "points"))
    else:
        is_pairwise = parameters["policy"] == "pairwise"
        is_active = ~is_redundant(lows, highs, pairwise_only=is_pairwise, domain=(0, COMPARISON_TOP))
        is_wrong = is_capped = np.zeros(count, bool)
    marks = np.linspace(0, count, MARKS + 1, dtype=np.int64)[1:]
    return [
        {
            "arrived": int(mark),
            "active": int(is_active[:mark].sum()),
            "share": float(is_active[:mark].mean()),
            "wrong": int(is_wrong[:mark].sum()),
            "capped": int(is_capped[:mark].sum()),
        }
        for mark in marks
    ]


def _by_random_points(
    lows: Ints, highs: Ints, rng: np.random.Generator
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Who is active when RSPC decides, which decisions were wrong, and which had fewer points than they needed."""
    from thatch.reduction.branch_and_bound import UNLIMITED, covered
    from thatch.reduction.probabilistic import rspc

    count = len(lows)
    is_active, is_wrong, is_capped = (np.zeros(count, bool) for _ in range(3))
    for box in range(count):
        before = np.flatnonzero(is_active[:box])
        meets = ((lows[before] <= highs[box]) & (highs[before] >= lows[box])).all(axis=1)
        rows = before[meets]
        question = lows[box], highs[box], lows[rows], highs[rows]
        verdict = rspc(*question, delta=DELTA, rng=rng, literal=True, cap=CAP)
        is_active[box] = verdict.covered is not True
        is_capped[box] = verdict.decided_by == "rspc capped"
        if verdict.covered and not verdict.certain:
            is_wrong[box] = covered(*question, budget=UNLIMITED).covered is False
    return is_active, is_wrong, is_capped


SIMULATION = Simulation(
    name="ouksel2006/comparison",
    trial=_trial,
    parameters={"policy": str, "attributes": int, "subscriptions": int, "scale": float, "width": float},
    results={"arrived": int, "active": int, "share": float, "wrong": int, "capped": int},
)
