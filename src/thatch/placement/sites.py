"""Where brokers and subscribers are, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.model.topology import Topology
from thatch.placement.arrays import Floats, Ints
from thatch.placement.checks import list_some
from thatch.placement.tree import BrokerTree

__all__ = ["COMPLEXITY", "Homes", "Sites", "latency_locations", "tree_parents"]

COMPLEXITY = 3  # boxes of a filter by default [α]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sites:
    """A tree of brokers with the limits of each.

    Parameters
    ----------
    capacities : of the leaves, in any unit
    complexities : most boxes in the filter of each node
    """

    tree: BrokerTree
    capacities: Floats
    complexities: Ints


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Homes:
    """Where subscribers are.

    Parameters
    ----------
    row_of : the row of each subscriber in the other two
    points : coordinates in network space
    limits : the longest path that each accepts, NaN where no limit is given; None if none is given at all
    """

    row_of: Mapping[str, int]
    points: Floats
    limits: Floats | None = None

    def rows_of(self, subscribers: Sequence[str]) -> Ints:
        """The rows of these subscribers.

        Raises
        ------
        ParameterError
            If the location of one of them is unknown.
        """
        lost = [shown(name) for name in subscribers if name not in self.row_of]
        if lost:
            raise ParameterError(f"No location for subscriber {list_some(lost)}", where="locations")
        return np.array([self.row_of[name] for name in subscribers], np.int64)

    @classmethod
    def at_brokers(cls, brokers: Mapping[str, str], tree: BrokerTree, limits: Floats | None = None) -> Homes:
        """Subscribers at the locations of brokers, by the names of both."""
        nodes = {name: number for number, name in enumerate(tree.names)}
        for subscriber, broker in brokers.items():
            if broker not in nodes:
                raise ParameterError("a broker of the tree", shown(broker), f"home of {shown(subscriber)}")
        chosen = [nodes[broker] for broker in brokers.values()]
        row_of = {name: number for number, name in enumerate(brokers)}
        return cls(row_of=row_of, points=tree.locations[chosen], limits=limits)


def tree_parents(topology: Topology, root: str) -> list[int]:
    """The parent of each broker when one of them is the root, which has −1.

    Raises
    ------
    ParameterError
        If there is no such broker, or some are not connected to it.
    """
    numbers = {name: number for number, name in enumerate(topology.brokers)}
    if root not in numbers:
        raise ParameterError("one of the brokers as root", shown(root), "root")
    parents = {root: -1}
    pending = [root]
    for broker in pending:
        for near in topology.neighbours(broker):
            if near not in parents:
                parents[near] = numbers[broker]
                pending.append(near)
    lost = [shown(name) for name in topology.brokers if name not in parents]
    if lost:
        raise ParameterError(f"No path from {shown(root)} to {list_some(lost)}", where="links")
    return [parents[name] for name in topology.brokers]


def latency_locations(topology: Topology) -> Floats:
    """Locations for the brokers of a topology from the latencies of its links: an axis for each link.

    Neighbours are as far apart as their link says, so that paths through the tree are exact. Brokers that are not neighbours
    seem closer than they are: two links of latency a and b make a distance of √(a² + b²).
    """
    locations = np.zeros((len(topology.brokers), max(len(topology.links), 1)))
    numbers = {name: number for number, name in enumerate(topology.brokers)}
    axes = {frozenset(link.ends): (axis, link.latency) for axis, link in enumerate(topology.links)}
    reached: set[str] = set()
    for start in topology.brokers:
        pending = [] if start in reached else [start]
        reached.update(pending)
        for broker in pending:
            for near in topology.neighbours(broker):
                if near not in reached:
                    axis, latency = axes[frozenset((broker, near))]
                    locations[numbers[near]] = locations[numbers[broker]]
                    locations[numbers[near], axis] += latency
                    reached.add(near)
                    pending.append(near)
    return locations
