"""The broker tree: the publisher at its root, brokers below, subscribers served by the leaves (yu2012, section 2).

A node has a location in network space, where euclidean distance stands for latency.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.placement.arrays import ArrayLike, Floats, Ints
from thatch.placement.checks import list_some, read_points

__all__ = ["BrokerTree"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BrokerTree:
    """A valid tree of brokers; `BrokerTree.of` checks and builds one.

    Parameters
    ----------
    parents : the parent of each node, −1 for the publisher
    locations : a row of coordinates for each node
    names : what people call the nodes
    root : the publisher
    leaves : the nodes without children, rising; these serve subscribers
    order : all nodes, parents before their children
    distances : the length of the path from the publisher to each node
    path_start, path_nodes : the brokers from leaf number `k` up to below the publisher are
        `path_nodes[path_start[k]:path_start[k + 1]]`
    """

    parents: Ints
    locations: Floats
    names: tuple[str, ...]
    root: int
    leaves: Ints
    order: Ints
    distances: Floats
    path_start: Ints
    path_nodes: Ints

    @classmethod
    def of(cls, parents: ArrayLike, locations: ArrayLike, names: Sequence[str] | None = None) -> BrokerTree:
        """Build the tree with these parents and locations.

        Parameters
        ----------
        parents : for each node the number of its parent, −1 for the publisher
        names : by default `node 0`, `node 1`, …

        Raises
        ------
        ParameterError
            If this is not a tree with one root and at least one broker, or a location is not finite.
        """
        parents = _parents(parents)
        locations = read_points(locations, len(parents), None, "node")
        names = tuple(f"node {each}" for each in range(len(parents))) if names is None else tuple(names)
        if len(names) != len(parents):
            raise ParameterError(f"a name for each of {len(parents)} nodes", f"{len(names)} names", "names")
        roots = np.flatnonzero(parents < 0)
        if len(roots) != 1:
            found = list_some([names[each] for each in roots.tolist()]) or "none"
            raise ParameterError("one root, the publisher (parent -1)", f"{len(roots)}: {found}", "parents")
        order = _order(parents, int(roots[0]), names)
        distances = np.zeros(len(parents))
        for node in order[1:]:
            parent = parents[node]
            distances[node] = distances[parent] + np.linalg.norm(locations[node] - locations[parent])
        is_leaf = np.ones(len(parents), np.bool_)
        is_leaf[parents[parents >= 0]] = False
        leaves = np.flatnonzero(is_leaf)
        starts, nodes = [0], []
        for leaf in leaves.tolist():
            while leaf != roots[0]:
                nodes.append(leaf)
                leaf = int(parents[leaf])
            starts.append(len(nodes))
        return cls(
            parents=parents,
            locations=locations,
            names=names,
            root=int(roots[0]),
            leaves=leaves,
            order=order,
            distances=distances,
            path_start=np.array(starts, np.int64),
            path_nodes=np.array(nodes, np.int64),
        )

    @classmethod
    def star(cls, publisher: ArrayLike, brokers: ArrayLike) -> BrokerTree:
        """Build a tree of one level: every broker right below the publisher, which is node 0."""
        points = np.asarray(brokers, np.float64)
        if points.ndim != 2 or not len(points):
            raise ParameterError("a row of coordinates for each broker", shown(brokers), "brokers")
        parents = np.zeros(len(points) + 1, np.int64)
        parents[0] = -1
        return cls.of(parents, np.vstack([np.asarray(publisher, np.float64)[None, :], points]))

    @property
    def brokers(self) -> Ints:
        """All nodes but the publisher, rising."""
        return np.flatnonzero(self.parents >= 0)

    @property
    def is_one_level(self) -> bool:
        """Whether every broker is a leaf."""
        return len(self.leaves) == len(self.parents) - 1

    def children(self, node: int) -> Ints:
        """The nodes right below a node, rising."""
        return np.flatnonzero(self.parents == node)


def _parents(values: ArrayLike) -> Ints:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iu" or len(array) < 2:
        raise ParameterError("a parent for each of at least 2 nodes", shown(values), "parents")
    parents = array.astype(np.int64)
    bad = np.flatnonzero((parents < -1) | (parents >= len(parents)))
    if len(bad):
        raise ParameterError(
            f"-1 or the number of a node below {len(parents)}", str(parents[bad[0]]), f"parents[{bad[0]}]"
        )
    return parents


def _order(parents: Ints, root: int, names: tuple[str, ...]) -> Ints:
    """Nodes with parents before children; a node that is not reached is in, or below, a cycle."""
    below: dict[int, list[int]] = {}
    for node, parent in enumerate(parents.tolist()):
        below.setdefault(parent, []).append(node)
    order = [root]
    for node in order:
        order.extend(below.get(node, ()))
    if len(order) != len(parents):
        lost = sorted(set(range(len(parents))) - set(order))
        some = list_some([names[each] for each in lost])
        raise ParameterError("a tree", f"a cycle, at or above {some}", "parents")
    return np.array(order, np.int64)
