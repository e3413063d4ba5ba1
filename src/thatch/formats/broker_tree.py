"""Broker trees in files: topologies with a root, and with what placement must know of brokers.

    root: hub                                   # publishers send through it; it takes no subscribers
    brokers:
      - {name: hub, location: [0, 0]}
      - {name: north, location: [0, 40], capacity: 2, boxes: 5}
      - {name: south, location: [3, -30]}
    links: [[hub, north], [hub, south]]

Distance stands for latency. Without any locations the latencies of links count. `capacity` (of leaves, in any unit) is 1
unless said, `boxes` (the most that the broker's filter has) what is asked for all.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from thatch.errors import ParameterError, TableError, shown
from thatch.formats.topology import file_content, topology_of
from thatch.model.topology import Topology
from thatch.model.values import finite
from thatch.placement.arrays import Floats
from thatch.placement.sites import COMPLEXITY, Sites, latency_locations, tree_parents
from thatch.placement.tree import BrokerTree

__all__ = ["read_broker_tree", "sites_of"]


def read_broker_tree(path: str | Path, *, complexity: int = COMPLEXITY) -> Sites:
    """The broker tree of a file ending in `.yaml`, `.yml` or `.json`; `complexity` is the default of `boxes`.

    Raises `TableError` if the file cannot be read, or has a cycle, no root, brokers apart from it, or wrong numbers.
    """
    try:
        return sites_of(file_content(path), complexity=complexity)
    except TableError as error:
        where = f"{path}, {error.where}" if error.where and error.where != str(path) else str(path)
        raise TableError(error.expected, error.got, where) from error


def sites_of(content: object, *, complexity: int = COMPLEXITY) -> Sites:
    """The broker tree that an object as of JSON describes."""
    topology = topology_of(content)
    assert isinstance(content, Mapping)
    root = content.get("root")
    if not isinstance(root, str):
        raise TableError("a `root`, the broker that publishers send through", shown(root), "root")
    entries = {each["name"]: each for each in content.get("brokers", ()) if isinstance(each, Mapping)}
    try:
        parents = tree_parents(topology, root)
        locations = _locations(topology, entries)
        tree = BrokerTree.of(np.array(parents), locations, topology.brokers)
    except ParameterError as error:
        raise TableError(error.expected, error.got, error.where) from error
    capacities = [_number(entries, tree.names[leaf], "capacity", 1.0, 0.0) for leaf in tree.leaves.tolist()]
    complexities = [_number(entries, name, "boxes", complexity, 1.0) for name in tree.names]
    if any(each != int(each) for each in complexities):
        raise TableError("whole numbers of boxes", shown(complexities), "brokers")
    return Sites(
        tree=tree, capacities=np.array(capacities), complexities=np.array(complexities).astype(np.int64)
    )


def _locations(topology: Topology, entries: Mapping[str, Mapping[str, Any]]) -> Floats:
    given = [entries.get(name, {}).get("location") for name in topology.brokers]
    if all(each is None for each in given):
        return latency_locations(topology)
    axes = next(len(each) if isinstance(each, list) else 0 for each in given if each is not None)
    rows = []
    for name, each in zip(topology.brokers, given, strict=True):
        if (
            not isinstance(each, list)
            or len(each) != axes
            or any(finite(value) is None for value in each)
            or not each
        ):
            raise TableError(
                f"a location of {axes} numbers for every broker, or for none",
                shown(each),
                f"broker {shown(name)}",
            )
        rows.append([float(value) for value in each])
    return np.array(rows)


def _number(
    entries: Mapping[str, Mapping[str, Any]], name: str, field: str, default: float, least: float
) -> float:
    value = entries.get(name, {}).get(field, default)
    if finite(value) is None or value < least:
        raise TableError(f"a number from {least:g} as `{field}`", shown(value), f"broker {shown(name)}")
    return float(value)
