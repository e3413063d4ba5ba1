"""Plan the placement of the clients of a live network, from the latencies of its links and their current brokers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from thatch.model.filters import Filter
from thatch.model.profile import Profile
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
from thatch.runtime.network import Network

__all__ = ["list_moves", "place_network", "sites_of_network", "subscriptions_of_network"]


def sites_of_network(network: Network, root: str, *, complexity: int = COMPLEXITY) -> Sites:
    """The brokers of a network as a tree below one of them; all leaves have the same capacity.

    Raises
    ------
    ParameterError
        If there is no such broker, or if brokers are not connected to it.
    """
    topology = network.topology
    parents = np.array(tree_parents(topology, root))
    tree = BrokerTree.of(parents, latency_locations(topology), topology.brokers)
    return Sites(
        tree=tree, capacities=np.ones(len(tree.leaves)), complexities=np.full(len(parents), complexity)
    )


def subscriptions_of_network(network: Network) -> tuple[SubscriptionList, dict[str, str]]:
    """The subscriptions of all clients, and the broker of each client that has subscriptions."""
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
    network: Network,
    root: str,
    wanted: PlacementOptions | None = None,
    *,
    sites: Sites | None = None,
    homes: Homes | None = None,
    profile: Profile | None = None,
    now: Callable[[], float] | None = None,
) -> PlacementPlan:
    """A plan for the current clients of a network; the network does not change.

    Parameters
    ----------
    root : the broker through which publishers send
    sites : locations and capacities of brokers; by default `sites_of_network`
    homes : locations of clients; by default those of their brokers
    """
    sites = sites or sites_of_network(network, root)
    subscriptions, at = subscriptions_of_network(network)
    homes = homes or Homes.at_brokers(at, sites.tree)
    return place(subscriptions, sites, homes, wanted, profile=profile, schema=network.schema, now=now)


def list_moves(network: Network, plan: PlacementPlan) -> list[tuple[str, str, str]]:
    """List the clients that a plan moves: each with its current broker and its new one."""
    at = subscriptions_of_network(network)[1]
    wanted = zip(plan.subscribers, plan.assignment.tolist(), strict=True)
    return [
        (client, at[client], plan.tree.names[node])
        for client, node in wanted
        if client in at and at[client] != plan.tree.names[node]
    ]
