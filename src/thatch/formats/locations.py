"""Locations of subscribers in files: `subscriber` with coordinates, or with the `broker` next to it.

CSV and Parquet have a column for each coordinate, in order; Parquet may have one list `location`, as JSON lines do. A
subscriber may have a `limit` on its latency. Unlike with subscriptions, one bad row rejects the whole file: a subscriber
without a location cannot be placed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from thatch.errors import TableError, shown
from thatch.formats.columns import infer_types, read_table
from thatch.formats.files import kind_of, read_lines
from thatch.formats.reading import Reading
from thatch.model.values import finite
from thatch.placement.sites import Homes
from thatch.placement.tree import BrokerTree

__all__ = ["homes_of", "read_locations"]

_SUBSCRIBER, _LOCATION, _BROKER, _LIMIT = "subscriber", "location", "broker", "limit"


def read_locations(path: str, tree: BrokerTree, reading: Reading | None = None) -> Homes:
    """The locations in a file ending in `.jsonl`, `.csv` or `.parquet`; rows may name brokers of the tree.

    Raises `TableError` if the file or one of its rows cannot be read.
    """
    return homes_of(_rows(path, replace(reading or Reading(), schema=None)), tree, path)


def homes_of(rows: Iterator[tuple[int, dict[str, Any]]], tree: BrokerTree, where: str) -> Homes:
    """The locations in numbered objects."""
    places: dict[str, int] = {}
    points: list[Sequence[float]] = []
    limits: list[float] = []
    nodes = dict(zip(tree.names, tree.locations.tolist(), strict=True))
    for row, fields in rows:
        name = fields.get(_SUBSCRIBER)
        if not isinstance(name, str):
            raise TableError("text as `subscriber`", shown(name), f"{where}, row {row}")
        if name in places:
            raise TableError(f"Duplicate subscriber: {shown(name)}", where=f"{where}, row {row}")
        places[name] = len(points)
        points.append(_point(fields, nodes, tree.locations.shape[1], f"{where}, row {row}"))
        limits.append(_limit(fields.get(_LIMIT), f"{where}, row {row}"))
    bounds = np.array(limits)
    return Homes(
        row_of=places,
        points=np.array(points, np.float64).reshape(len(points), tree.locations.shape[1]),
        limits=None if np.isnan(bounds).all() else bounds,
    )


def _point(fields: dict[str, Any], nodes: dict[str, list[float]], axes: int, where: str) -> Sequence[float]:
    broker = fields.get(_BROKER)
    if broker is not None:
        if broker not in nodes:
            raise TableError("a broker of the tree", shown(broker), where)
        return nodes[broker]
    point = fields.get(_LOCATION)
    if point is None:
        point = [value for name, value in fields.items() if name not in (_SUBSCRIBER, _BROKER, _LIMIT)]
    if not isinstance(point, list) or len(point) != axes or any(finite(value) is None for value in point):
        raise TableError(f"a location of {axes} finite numbers", shown(point), where)
    return point


def _limit(value: Any, where: str) -> float:
    if value is None:
        return float("nan")
    if finite(value) is None or value < 0:
        raise TableError("a latency from 0 as `limit`", shown(value), where)
    return float(value)


def _say_nothing(_: str) -> None:
    """Each row is checked for its numbers."""


def _rows(path: str, reading: Reading) -> Iterator[tuple[int, dict[str, Any]]]:
    def reject(row: int, reason: str) -> NoReturn:
        raise TableError(f"Cannot read a row: {reason}", where=f"{path}, row {row}")

    kind = kind_of(path)
    if kind == "jsonl":
        yield from read_lines(path, reject, reading)
        return
    table, rows = read_table(path, reject, reading)
    if _SUBSCRIBER not in table.column_names:
        raise TableError(f"a column `{_SUBSCRIBER}`", ", ".join(table.column_names), path)
    if kind == "csv":
        names = [name for name in table.column_names if name not in (_SUBSCRIBER, _BROKER)]
        numbers = infer_types(table.select(names), rows, reading, path=path, tell=_say_nothing)
        for name in names:
            table = table.set_column(table.column_names.index(name), name, numbers.column(name))
    yield from zip(rows, table.to_pylist(), strict=True)
