"""The answer of an algorithm: an assignment, filters, and how good they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from thatch.placement.arrays import Floats, Ints
from thatch.placement.boxes import union_volume
from thatch.placement.candidates import LATENCY_SLACK
from thatch.placement.problem import PlacementProblem

__all__ = ["Answer", "BandwidthBounds", "Delays", "Placement", "Status", "measure"]

Answer = tuple[Ints, tuple[Floats, ...]]
"""What algorithms return: the leaf of each subscriber, numbered as in `tree.leaves`, and the filters of all nodes."""


class Status(Enum):
    """Whether a placement keeps its limits."""

    FEASIBLE = "feasible"
    OVER_BETA = "over beta"  # a load factor above β, not above β_max
    INFEASIBLE = "infeasible"  # best effort: loads above β_max, or paths that are too long


@dataclass(frozen=True, slots=True)
class Delays:
    """How much longer paths are than the shortest ones, as a share; `broken` of them exceed their limit."""

    rms: float
    largest: float
    broken: int


@dataclass(frozen=True, slots=True)
class BandwidthBounds:
    """Lower bounds on bandwidth.

    Parameters
    ----------
    rigorous : proved for every placement that keeps nesting and latency
    fractional : the value of the linear program on a sample, which adds volumes of boxes instead of uniting them: a yardstick,
        not a proof
    """

    rigorous: float | None = None
    fractional: float | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Placement:
    """The answer to a problem, with its figures.

    Parameters
    ----------
    assignment : the leaf of each subscriber, as a node of the tree
    filters : the boxes of each node, lows before highs; the publisher has none
    algorithm, seed : how it was found
    bandwidth : the sum of the volumes of all filters [Q(T)]
    loads : how many subscribers each leaf serves, in the order of `tree.leaves`
    load_factor : the largest load relative to its share [lbf]
    seconds : time for each phase, empty without a clock
    """

    problem: PlacementProblem
    assignment: Ints
    filters: tuple[Floats, ...]
    algorithm: str
    seed: int | None
    status: Status
    bandwidth: float
    loads: Ints
    load_factor: float
    delays: Delays
    bounds: BandwidthBounds = field(default_factory=BandwidthBounds)
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def served_by(self) -> Ints:
        """The leaf of each subscriber, numbered as in `tree.leaves`."""
        return np.searchsorted(self.problem.tree.leaves, self.assignment)


def measure(
    problem: PlacementProblem,
    answer: Answer,
    *,
    algorithm: str,
    seed: int | None = None,
    bounds: BandwidthBounds | None = None,
) -> Placement:
    """The placement of an answer, with its figures."""
    served_by, filters = answer
    loads = np.bincount(served_by, minlength=len(problem.tree.leaves))
    distances = problem.distances(served_by)
    delays = problem.delays(distances)
    broken = int((distances > problem.limits * (1 + LATENCY_SLACK)).sum())
    return Placement(
        problem=problem,
        assignment=problem.tree.leaves[served_by],
        filters=filters,
        algorithm=algorithm,
        seed=seed,
        status=_status(problem, loads, broken),
        bandwidth=float(sum(map(union_volume, filters))),
        loads=loads,
        load_factor=problem.load_factor(loads),
        delays=Delays(rms=float(np.sqrt((delays**2).mean())), largest=float(delays.max()), broken=broken),
        bounds=bounds or BandwidthBounds(),
    )


def _status(problem: PlacementProblem, loads: Ints, broken: int) -> Status:
    if broken or (loads > problem.capacities(problem.beta_max)).any():
        return Status.INFEASIBLE
    if (loads > problem.capacities(problem.beta)).any():
        return Status.OVER_BETA
    return Status.FEASIBLE
