"""Nodes and brokers of three regions in network space, where distance is latency; and trees of these brokers.

The paper embeds PlanetLab, 1,019 nodes at 484 sites, in five dimensions. Our stand-in has the same numbers: sites around
metros, metros around the centres of regions that are about 92, 61 and 153 milliseconds apart. Brokers are near nodes,
spread over metros as nodes are. Within a maximum delay of 0.3 a node reaches about a fifth of 100 brokers; the paper
says 17 %.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from thatch.errors import ParameterError, shown

__all__ = ["REGIONS", "Floats", "Ints", "NetworkSpace", "Tree", "network", "one_level", "two_levels"]

REGIONS = ("Asia", "North America", "Europe")
RATIO = (4.0, 1.0, 4.0)  # of subscribers, and of brokers by default

_AXES = 5
_CENTRES = np.array([[-90, 20, 0, 0, 0], [0, 0, 0, 0, 0], [60, -10, 0, 0, 0]], np.float64)
_NODES, _SITES, _METROS = 1_019, 484, 12  # metros: in each region
_METRO_SPREAD, _SITE_SPREAD, _NODE_SPREAD = 17.0, 5.0, 1.0  # standard deviation on each axis

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NetworkSpace:
    """The locations of nodes and brokers, and of the publisher in North America.

    Parameters
    ----------
    publisher : a point
    nodes, node_regions : the locations of nodes, where subscribers are, and their regions
    brokers, broker_regions : the locations of brokers and their regions
    """

    publisher: Floats
    nodes: Floats
    node_regions: Ints
    brokers: Floats
    broker_regions: Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tree:
    """A broker tree for `BrokerTree.of`: node 0 is the publisher."""

    parents: Ints
    locations: Floats


def network(
    rng: np.random.Generator, brokers: int = 100, *, ratio: tuple[float, float, float] = RATIO
) -> NetworkSpace:
    """A random network with this many brokers.

    Parameters
    ----------
    ratio : brokers in Asia, North America and Europe, in any unit; nodes are always 4 : 1 : 4
    """
    if brokers < 1:
        raise ParameterError("at least one broker", shown(brokers), "brokers")
    if len(ratio) != len(REGIONS) or min(ratio) < 0 or not 0 < sum(ratio) < np.inf:
        raise ParameterError("a share for each of three regions, none negative", shown(ratio), "ratio")
    metros = _CENTRES[:, None, :] + rng.normal(0, _METRO_SPREAD, (len(REGIONS), _METROS, _AXES))
    site_regions = np.repeat(np.arange(len(REGIONS)), _split(_SITES, RATIO))
    site_metros = rng.integers(0, _METROS, _SITES)
    sites = metros[site_regions, site_metros] + rng.normal(0, _SITE_SPREAD, (_SITES, _AXES))
    site_of = np.concatenate([np.arange(_SITES), rng.integers(0, _SITES, _NODES - _SITES)])
    nodes = sites[site_of] + rng.normal(0, _NODE_SPREAD, (_NODES, _AXES))
    regions = site_regions[site_of]
    near = _spread_over(rng, regions, site_metros[site_of], _split(brokers, ratio))
    return NetworkSpace(
        publisher=_CENTRES[1] + rng.normal(0, _SITE_SPREAD, _AXES),
        nodes=nodes,
        node_regions=regions,
        brokers=nodes[near] + rng.normal(0, _NODE_SPREAD, (brokers, _AXES)),
        broker_regions=regions[near],
    )


def one_level(network: NetworkSpace) -> Tree:
    """All brokers directly below the publisher."""
    parents = np.zeros(len(network.brokers) + 1, np.int64)
    parents[0] = -1
    return Tree(parents=parents, locations=np.vstack([network.publisher, network.brokers]))


def two_levels(rng: np.random.Generator, network: NetworkSpace, *, inner: int = 13, degree: int = 15) -> Tree:
    """All brokers as leaves below additional inner brokers, which are nodes 1 to `inner`.

    Leaves are clustered by location; the inner broker of a cluster is at the location of its most central leaf. With 187
    brokers this is the multi-level network of the paper: 200 brokers, none with more than 15 children.

    Parameters
    ----------
    inner : number of inner brokers, at most that of leaves
    degree : most children of an inner broker
    """
    leaves = len(network.brokers)
    if not 1 <= inner <= leaves or inner * degree < leaves:
        raise ParameterError(
            f"inner brokers from 1 to {leaves}, with room for {leaves} leaves",
            f"{shown(inner)} of degree {shown(degree)}",
            "inner",
        )
    cluster = _clusters(rng, network.brokers, inner, degree)
    middles = np.empty((inner, network.brokers.shape[1]))
    for each in range(inner):
        mine = network.brokers[cluster == each]
        middles[each] = mine[((mine - mine.mean(axis=0)) ** 2).sum(axis=1).argmin()]
    parents = np.concatenate([[-1], np.zeros(inner, np.int64), 1 + cluster]).astype(np.int64)
    return Tree(parents=parents, locations=np.vstack([network.publisher, middles, network.brokers]))


def _split(count: int, ratio: tuple[float, ...]) -> Ints:
    """Split a count in these proportions, rounded by largest remainder."""
    exact = count * np.asarray(ratio, np.float64) / sum(ratio)
    whole = np.floor(exact).astype(np.int64)
    whole[np.argsort(whole - exact, kind="stable")[: count - whole.sum()]] += 1
    return whole


def _spread_over(rng: np.random.Generator, regions: Ints, metros: Ints, counts: Ints) -> Ints:
    """Choose nodes of each region by systematic sampling over its nodes, sorted by metro."""
    chosen = []
    for region, count in enumerate(counts.tolist()):
        mine = np.flatnonzero(regions == region)
        mine = mine[np.lexsort((rng.random(len(mine)), metros[mine]))]
        chosen.append(mine[((np.arange(count) + rng.random()) * len(mine) / max(count, 1)).astype(np.int64)])
    return np.concatenate(chosen)


def _clusters(rng: np.random.Generator, points: Floats, count: int, most: int) -> Ints:
    """The cluster of each point by Lloyd's method; no cluster is empty or has more than `most` points."""
    centres = points[rng.permutation(len(points))[:count]]
    cluster = np.zeros(len(points), np.int64)
    for _ in range(20):
        squares = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        cluster = _assign(squares, most)
        centres = np.stack([points[cluster == each].mean(axis=0) for each in range(count)])
    return cluster


def _assign(squares: Floats, most: int) -> Ints:
    """Assign each point to the nearest centre with free capacity; every centre gets its nearest point first."""
    points, count = squares.shape
    cluster = np.full(points, -1, np.int64)
    free = np.full(count, most, np.int64)
    for centre in range(count):
        point = int(np.where(cluster < 0, squares[:, centre], np.inf).argmin())
        cluster[point] = centre
        free[centre] -= 1
    for point in np.argsort(squares.min(axis=1), kind="stable").tolist():
        if cluster[point] < 0:
            centre = int(np.where(free > 0, squares[point], np.inf).argmin())
            cluster[point] = centre
            free[centre] -= 1
    return cluster
