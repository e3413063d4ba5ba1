"""What an algorithm answers: an assignment, filters, and how good they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from thatch.placement.problem import LATENCY_SLACK, Problem
from thatch.placement.rows import Floats, Ints
from thatch.placement.volumes import union_volume

__all__ = ["Bounds", "Delays", "Placement", "Status", "measured"]


class Status(Enum):
    """Whether a placement keeps the limits."""

    FEASIBLE = "feasible"
    OVER_BETA = "over beta"  # a load factor above β, not above β_max
    INFEASIBLE = "infeasible"  # best effort: loads above β_max, or ways that are too long


@dataclass(frozen=True, slots=True)
class Delays:
    """How much longer ways are than they need to be, relative to the shortest; `broken` limits are exceeded."""

    rms: float
    largest: float
    broken: int


@dataclass(frozen=True, slots=True)
class Bounds:
    """What no placement can undercut.

    Parameters
    ----------
    rigorous : proved, for every placement that keeps nesting and latency
    fractional : the value of the linear program on a sample, of sums of boxes instead of unions: a yardstick, no proof
    """

    rigorous: float | None = None
    fractional: float | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Placement:
    """An answer to a problem.

    Parameters
    ----------
    assignment : the leaf of each subscriber, as a node of the tree
    filters : the boxes of each node, lows before highs; the publisher has none
    algorithm, seed : what made it
    bandwidth : the sum of the volumes of all filters [Q(T)]
    loads : how many subscribers each leaf has, in the order of `tree.leaves`
    load_factor : the largest load relative to its share [lbf]
    seconds : time for each phase, empty without a clock
    """

    problem: Problem
    assignment: Ints
    filters: tuple[Floats, ...]
    algorithm: str
    seed: int | None
    status: Status
    bandwidth: float
    loads: Ints
    load_factor: float
    delays: Delays
    bounds: Bounds = field(default_factory=Bounds)
    seconds: Mapping[str, float] = field(default_factory=dict)


def measured(
    problem: Problem,
    served_by: Ints,
    filters: tuple[Floats, ...],
    *,
    algorithm: str,
    seed: int | None = None,
    bounds: Bounds | None = None,
) -> Placement:
    """The placement that serves each subscriber by a leaf (numbered as in `tree.leaves`), with its figures."""
    loads = np.bincount(served_by, minlength=len(problem.tree.leaves))
    factor = problem.load_factor(loads)
    delays = _delays(problem, served_by)
    return Placement(
        problem=problem,
        assignment=problem.tree.leaves[served_by],
        filters=filters,
        algorithm=algorithm,
        seed=seed,
        status=_status(problem, loads, delays),
        bandwidth=float(sum(union_volume(each) for each in filters)),
        loads=loads,
        load_factor=factor,
        delays=delays,
        bounds=bounds or Bounds(),
    )


def _status(problem: Problem, loads: Ints, delays: Delays) -> Status:
    if delays.broken or (loads > problem.capacities(problem.beta_max)).any():
        return Status.INFEASIBLE
    if (loads > problem.capacities(problem.beta)).any():
        return Status.OVER_BETA
    return Status.FEASIBLE


def _delays(problem: Problem, served_by: Ints) -> Delays:
    leaves = problem.tree.leaves[served_by]
    ways = np.sqrt(((problem.locations - problem.tree.locations[leaves]) ** 2).sum(axis=1))
    if problem.latency == "path":
        ways += problem.tree.distances[leaves]
    with np.errstate(divide="ignore", invalid="ignore"):
        delays = np.where(ways <= problem.shortest, 0.0, ways / problem.shortest - 1)
    return Delays(
        rms=float(np.sqrt((delays**2).mean())),
        largest=float(delays.max()),
        broken=int((ways > problem.limits * (1 + LATENCY_SLACK)).sum()),
    )
