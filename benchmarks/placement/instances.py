"""The instances that are measured: networks of yu2012 that leave room for β."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thatch.placement import BrokerTree, PlacementProblem, solve
from thatch.workloads import yu2012

__all__ = ["PlacementInstance", "screened_instance", "two_level_instance"]

_ROOM = 0.9  # of β: networks on which Balance needs more are skipped
_TRIES = 20
_CONTINUOUS = {"spread": 1.0, "jitter": 0.1}
_TIGHT = (1.05, 1.1)  # β and β_max, in least load factors


@dataclass(frozen=True)
class PlacementInstance:
    """A problem, its name, and its least load factor."""

    name: str
    problem: PlacementProblem
    floor: float


def screened_instance(
    number: int, subscribers: int, brokers: int, seed: int, *, is_continuous: bool = False
) -> PlacementInstance:
    """One of the three sets, on the first network from `seed` on, in steps of 100, that leaves room for β.

    Parameters
    ----------
    is_continuous : whether all subscribers have locations and interests of their own
    """
    beta, beta_max = yu2012.LOAD_FACTORS[number]
    for attempt in range(_TRIES):
        rng = np.random.default_rng(seed + 100 * attempt)
        network = yu2012.network(rng, brokers)
        people = yu2012.population(
            rng, network, subscribers, number, **(_CONTINUOUS if is_continuous else {})
        )
        tree = yu2012.one_level(network)
        problem = _problem(tree, people, beta, beta_max, 0.3)
        floor = solve(problem, "balance").load_factor
        if floor <= _ROOM * beta:
            break
    return PlacementInstance(f"set {number}, network {seed + 100 * attempt}", problem, floor)


def two_level_instance(
    subscribers: int, leaves: int, inner: int, seed: int, *, is_tight: bool
) -> PlacementInstance:
    """The multi-level network: loose as in the paper, or tight (delay 0.3, β and β_max 5 and 10 % above the least factor).

    The paper's tight setting, delay 0.2 with β and β_max at 7/6 and 8/6 of the least factor, is not tight for these networks:
    Gr* keeps it with seeds 1 and 2, and stays even within 2 % of the least factor. Gr* keeps our setting with seed 2, but not
    with seed 1, which is the default.
    """
    rng = np.random.default_rng(seed)
    network = yu2012.network(rng, leaves)
    people = yu2012.population(rng, network, subscribers, 1, skewness="L", broad="H")
    tree = yu2012.two_levels(rng, network, inner=inner)
    delay = 0.3 if is_tight else 1.0
    problem = _problem(tree, people, 1.3, 1.5, delay)
    floor = solve(problem, "balance").load_factor
    if is_tight:
        problem = _problem(tree, people, _TIGHT[0] * floor, _TIGHT[1] * floor, delay)
    return PlacementInstance("tight" if is_tight else "loose", problem, floor)


def _problem(
    tree: yu2012.Tree, people: yu2012.Population, beta: float, beta_max: float, delay: float
) -> PlacementProblem:
    return PlacementProblem.of(
        BrokerTree.of(tree.parents, tree.locations),
        people.locations,
        people.lows,
        people.highs,
        beta=beta,
        beta_max=beta_max,
        max_delay=delay,
        domain=people.domain,
    )
