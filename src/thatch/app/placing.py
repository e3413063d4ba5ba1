"""A live network as a placement problem: its brokers by the latencies of their links, its clients where they are now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from thatch.broker.broker import Broker
from thatch.model.filters import Filter
from thatch.model.profile import Profile
from thatch.model.schema import Schema
from thatch.model.topology import Topology
from thatch.placement import (
    BrokerTree,
    Homes,
    PlacementOptions,
    PlacementPlan,
    Sites,
    SubscriptionList,
    place,
)
from thatch.placement.sites import COMPLEXITY, latency_locations, tree_parents

__all__ = ["LiveNetwork", "moves", "place_network", "sites_of_network", "subscriptions_of_network"]


class LiveNetwork(Protocol):
    """What is asked of a network, such as `thatch.Network` gives."""

    @property
    def topology(self) -> Topology: ...

    @property
    def schema(self) -> Schema | None: ...

    def broker(self, name: str) -> Broker:
        """The core of a broker, to be looked at."""


def sites_of_network(network: LiveNetwork, root: str, *, complexity: int = COMPLEXITY) -> Sites:
    """The brokers of a network as a tree below one of them, all leaves with the same capacity.

    Raises
    ------
    ParameterError
        If there is no such broker, or some are not connected to it.
    """
    topology = network.topology
    parents = np.array(tree_parents(topology, root))
    tree = BrokerTree.of(parents, latency_locations(topology), topology.brokers)
    return Sites(
        tree=tree,
        capacities=np.ones(len(tree.leaves)),
        complexities=np.full(len(parents), complexity),
    )


def subscriptions_of_network(network: LiveNetwork) -> tuple[SubscriptionList, dict[str, str]]:
    """The subscriptions of all clients, broker by broker, and the broker of each client that has some."""
    rows: list[tuple[str, Filter]] = []
    homes: dict[str, str] = {}
    for name in network.topology.brokers:
        for client in network.broker(name).tables.clients.values():
            for subscription in client.subscriptions.values():
                if subscription.leaving is None:
                    rows.append((client.name, subscription.filter))
                    homes[client.name] = name
    return SubscriptionList(rows), homes


def place_network(
    network: LiveNetwork,
    root: str,
    wanted: PlacementOptions | None = None,
    *,
    sites: Sites | None = None,
    homes: Homes | None = None,
    profile: Profile | None = None,
    now: Callable[[], float] | None = None,
) -> PlacementPlan:
    """A plan for the clients of a network as it is at this moment; nothing in the network changes.

    Parameters
    ----------
    root : the broker that publishers send through
    sites : the brokers with their locations and capacities, instead of what links tell; see `sites_of_network`
    homes : where clients are, instead of right beside their brokers
    """
    sites = sites or sites_of_network(network, root)
    subscriptions, at = subscriptions_of_network(network)
    homes = homes or Homes.at_brokers(at, sites.tree)
    return place(subscriptions, sites, homes, wanted, profile=profile, schema=network.schema, now=now)


def moves(network: LiveNetwork, plan: PlacementPlan) -> list[tuple[str, str, str]]:
    """The clients that a plan wants elsewhere: each with its broker now and the one that should serve it."""
    at = subscriptions_of_network(network)[1]
    wanted = zip(plan.subscribers, plan.assignment.tolist(), strict=True)
    return [
        (client, at[client], plan.tree.names[node])
        for client, node in wanted
        if client in at and at[client] != plan.tree.names[node]
    ]
