"""A plan: a placement of named subscribers, with filters that brokers can use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from thatch.model.filters import Filter
from thatch.placement.arrays import Floats, Ints
from thatch.placement.boxes import union_volume
from thatch.placement.certificate import Certificate
from thatch.placement.event_space import EventSpace
from thatch.placement.placement import Placement
from thatch.placement.tree import BrokerTree

__all__ = ["PlacementPlan", "Statistics", "plan_of"]

Statistics = Mapping[str, str | int | float | None]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PlacementPlan:
    """Which broker serves which subscriber, and what each broker subscribes to at the one above it.

    Parameters
    ----------
    tree : publisher and brokers
    shares, loads : the capacity of each leaf as a share of the whole, and how many subscribers it serves
    complexities : most boxes in the filter of each node
    subscribers : by name
    assignment : the leaf of each subscriber, as a node of the tree
    homes : the location of each subscriber
    distances, delays : how long the path to each subscriber is, and by what share longer than the shortest
    axes : the attributes that boxes are made of
    boxes : of each node, in shares of events: the low ends on all axes, then the high ends
    filters : the same as filters; None for a broker that serves no subscriber, and for the publisher
    volumes : the share of events that each filter lets through, where attributes are independent
    counted : the same counted in a log, where attributes need not be independent; None without a log
    certificate : the result of the independent check
    statistics : status, algorithm, bandwidth, bounds and the like, by name
    yardsticks : the same for the placements of simpler algorithms
    """

    tree: BrokerTree
    shares: Floats
    loads: Ints
    complexities: Ints
    subscribers: tuple[str, ...]
    assignment: Ints
    homes: Floats
    distances: Floats
    delays: Floats
    axes: tuple[str, ...]
    boxes: tuple[Floats, ...]
    filters: tuple[Filter | None, ...]
    volumes: Floats
    certificate: Certificate
    statistics: Statistics
    yardsticks: tuple[Statistics, ...] = ()
    counted: Floats | None = None

    def with_counts(self, events: int, passing: Mapping[str, int]) -> PlacementPlan:
        """The plan with counts from a log: how many of its events pass the filter of each broker, by name."""
        shares = np.array([passing.get(name, 0) / max(events, 1) for name in self.tree.names])
        statistics = {**self.statistics, "counted_events": events, "counted_bandwidth": float(shares.sum())}
        return replace(self, counted=shares, statistics=statistics)

    def broker_of(self, subscriber: str) -> str:
        """The name of the broker that serves a subscriber; KeyError if it is unknown."""
        try:
            return self.tree.names[int(self.assignment[self.subscribers.index(subscriber)])]
        except ValueError:
            raise KeyError(subscriber) from None


def plan_of(
    placement: Placement,
    certificate: Certificate,
    subscribers: tuple[str, ...],
    space: EventSpace,
    *,
    density: str = "",
    yardsticks: Sequence[Placement] = (),
) -> PlacementPlan:
    """The plan of a placement; `density` says where shares of events come from."""
    problem = placement.problem
    distances = problem.distances(placement.served_by)
    return PlacementPlan(
        tree=problem.tree,
        shares=problem.shares,
        loads=placement.loads,
        complexities=problem.complexities,
        subscribers=subscribers,
        assignment=placement.assignment,
        homes=problem.locations,
        distances=distances,
        delays=problem.delays(distances),
        axes=tuple(axis.key for axis in space.axes),
        boxes=placement.filters,
        filters=tuple(space.filter_of(boxes) for boxes in placement.filters),
        volumes=np.array([union_volume(boxes) for boxes in placement.filters]),
        certificate=certificate,
        statistics={**_statistics(placement), "density": density},
        yardsticks=tuple(map(_statistics, yardsticks)),
    )


def _statistics(placement: Placement) -> Statistics:
    problem, bounds = placement.problem, placement.bounds
    return {
        "status": placement.status.value,
        "algorithm": placement.algorithm,
        "seed": placement.seed,
        "subscribers": problem.subscribers,
        "interests": len(problem.interests),
        "bandwidth": placement.bandwidth,
        "rigorous_bound": bounds.rigorous,
        "fractional_bound": bounds.fractional,
        "load_factor": placement.load_factor,
        "beta": problem.beta,
        "beta_max": problem.beta_max,
        "load_deviation": float(placement.loads.std()),
        "rms_delay": placement.delays.rms,
        "largest_delay": placement.delays.largest,
        "broken_limits": placement.delays.broken,
        "latency": problem.latency,
        **{f"seconds_{phase}": seconds for phase, seconds in placement.seconds.items()},
    }
