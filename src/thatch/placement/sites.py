"""Where brokers and subscribers are, by name: what a problem of real subscriptions is made of beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.model.topology import Topology
from thatch.placement.rows import Floats, Ints
from thatch.placement.tree import BrokerTree

__all__ = ["COMPLEXITY", "Homes", "Sites", "latency_locations", "tree_parents"]

COMPLEXITY = 3  # boxes of a filter, unless something else is said [α]
_SHOWN = 5


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sites:
    """A tree of brokers with what each can bear.

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
    places : the row of each subscriber in the other two
    points : coordinates in network space
    limits : the longest way that each bears, NaN where nothing is said; None if it is said of nobody
    """

    places: Mapping[str, int]
    points: Floats
    limits: Floats | None = None

    def rows_of(self, subscribers: Sequence[str]) -> Ints:
        """The rows of these subscribers.

        Raises
        ------
        ParameterError
            If nobody knows where one of them is.
        """
        lost = [name for name in subscribers if name not in self.places]
        if lost:
            more = f" and {len(lost) - _SHOWN:,} more" if len(lost) > _SHOWN else ""
            told = ", ".join(shown(name) for name in lost[:_SHOWN])
            raise ParameterError("a location for every subscriber", f"none for {told}{more}", "locations")
        return np.array([self.places[name] for name in subscribers], np.int64)

    @classmethod
    def at_brokers(cls, brokers: Mapping[str, str], tree: BrokerTree, limits: Floats | None = None) -> Homes:
        """Subscribers that are right beside brokers, by the names of both."""
        nodes = {name: number for number, name in enumerate(tree.names)}
        for subscriber, broker in brokers.items():
            if broker not in nodes:
                raise ParameterError("brokers of the tree", shown(broker), f"home of {shown(subscriber)}")
        chosen = [nodes[broker] for broker in brokers.values()]
        places = {name: number for number, name in enumerate(brokers)}
        return cls(places=places, points=tree.locations[chosen], limits=limits)


def tree_parents(topology: Topology, root: str) -> list[int]:
    """The parent of each broker when a topology hangs from one of them, which has −1.

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
    lost = [name for name in topology.brokers if name not in parents]
    if lost:
        told = ", ".join(shown(name) for name in lost[:_SHOWN])
        raise ParameterError(f"links from {shown(root)} to every broker", f"none to {told}", "links")
    return [parents[name] for name in topology.brokers]


def latency_locations(topology: Topology) -> Floats:
    """Locations of the brokers of a topology by the latencies of its links: an axis for each link.

    Neighbours are as far apart as their link says, so that ways through the tree are exact. Brokers that are not neighbours
    seem nearer than by way of others: two links of latency a and b are taken as √(a² + b²).
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
