"""A plan: a placement of named subscribers, in terms that brokers can work with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from thatch.model.filters import Filter
from thatch.placement.certificate import Certificate
from thatch.placement.each import Each, here, spans
from thatch.placement.event_space import EventSpace
from thatch.placement.placement import Placement
from thatch.placement.rows import Floats, Ints
from thatch.placement.tree import BrokerTree
from thatch.placement.volumes import union_volume

__all__ = ["Plan", "Statistics", "plan_of"]

Statistics = Mapping[str, str | int | float | None]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Plan:
    """Who is served by which broker, and what each broker asks of the one above it.

    Parameters
    ----------
    tree : publisher and brokers
    shares, loads : the capacity of each leaf as a share of the whole, and how many subscribers it serves
    complexities : most boxes in the filter of each node
    subscribers : by name
    assignment : the leaf of each subscriber, as a node of the tree
    ways, delays : how long the way to each subscriber is, and by what share longer than the shortest
    axes : the attributes that boxes are made of
    boxes : of each node, in shares of events: the low ends on all axes, then the high ends
    filters : the same as filters; None for a broker that serves nobody, and for the publisher
    volumes : the share of events that each filter lets through, where attributes are independent
    counted : the same counted in a log, however attributes hang together; None if there was none
    certificate : what the independent check found
    statistics : status, algorithm, bandwidth, bounds and the like, by name
    yardsticks : the same of what simpler ways to place would give
    """

    tree: BrokerTree
    shares: Floats
    loads: Ints
    complexities: Ints
    subscribers: tuple[str, ...]
    assignment: Ints
    ways: Floats
    delays: Floats
    axes: tuple[str, ...]
    boxes: tuple[Floats, ...]
    filters: tuple[Filter | None, ...]
    volumes: Floats
    certificate: Certificate
    statistics: Statistics
    yardsticks: tuple[Statistics, ...] = ()
    counted: Floats | None = None

    def counted_in(self, events: int, passing: Mapping[str, int]) -> Plan:
        """The plan with what a log tells of it: how many of so many events pass the filter of each broker."""
        shares = np.array([passing.get(name, 0) / max(events, 1) for name in self.tree.names])
        statistics = {**self.statistics, "counted_events": events, "counted_bandwidth": float(shares.sum())}
        return replace(self, counted=shares, statistics=statistics)

    def broker_of(self, subscriber: str) -> str:
        """The name of the broker that serves a subscriber; KeyError for an unknown one."""
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
    each: Each = here,
) -> Plan:
    """The plan of a placement; `density` says what shares of events rest on, `each` measures ways."""
    problem = placement.problem
    offsets = problem.tree.distances if problem.latency == "path" else np.zeros(len(problem.tree.parents))
    ground = _Ways(problem.locations, placement.assignment, problem.tree.locations, offsets)
    ways = np.concatenate(each(ground, _ways, spans(problem.subscribers, problem.locations.shape[1])))
    with np.errstate(divide="ignore", invalid="ignore"):
        delays = np.where(ways <= problem.shortest, 0.0, ways / problem.shortest - 1)
    return Plan(
        tree=problem.tree,
        shares=problem.shares,
        loads=placement.loads,
        complexities=problem.complexities,
        subscribers=subscribers,
        assignment=placement.assignment,
        ways=ways,
        delays=delays,
        axes=tuple(axis.key for axis in space.axes),
        boxes=placement.filters,
        filters=tuple(space.filter_of(boxes) for boxes in placement.filters),
        volumes=np.array([union_volume(boxes) for boxes in placement.filters]),
        certificate=certificate,
        statistics={**_statistics(placement), "density": density},
        yardsticks=tuple(map(_statistics, yardsticks)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Ways:
    """Where subscribers are and the leaf of each; where nodes are, and how long the way to each is."""

    locations: Floats
    assignment: Ints
    nodes: Floats
    offsets: Floats


def _ways(ground: _Ways, span: tuple[int, int]) -> Floats:
    """The length of the way to some subscribers."""
    leaves = ground.assignment[slice(*span)]
    steps = ground.locations[slice(*span)] - ground.nodes[leaves]
    ways: Floats = np.sqrt((steps**2).sum(axis=1)) + ground.offsets[leaves]
    return ways


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
