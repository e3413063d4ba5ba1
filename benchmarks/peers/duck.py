"""DuckDB: a join of a table of events with a table of boxes, on one thread, with the plan that DuckDB chooses."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from benchmarks.contest import Contestant
from thatch.workloads import Intervals

__all__ = ["DUCKDB", "duckdb_join"]

DUCKDB = "DuckDB join"


def duckdb_join(boxes: Intervals, points: np.ndarray[Any, Any]) -> Contestant:
    """Match all events in one query."""
    dimensions = points.shape[1]
    connection = duckdb.connect(config={"threads": 1})
    _table(
        connection,
        "boxes",
        {"id": np.arange(len(boxes))}
        | _columns("low", boxes.low.reshape(-1, dimensions))
        | _columns("high", boxes.high.reshape(-1, dimensions)),
    )
    _table(connection, "events", {"event": np.arange(len(points))} | _columns("value", points))
    holds = " and ".join(f"value{at} between low{at} and high{at}" for at in range(dimensions))
    query = f"select event, id from events join boxes on {holds}"

    def split(answer: pa.Table) -> list[np.ndarray[Any, Any]]:
        ordered = answer.sort_by([("event", "ascending"), ("id", "ascending")])
        counts = np.bincount(ordered.column("event").to_numpy(), minlength=len(points))
        return np.split(ordered.column("id").to_numpy(), np.cumsum(counts)[:-1])

    return Contestant(
        name=DUCKDB,
        call=lambda query: connection.sql(query).to_arrow_table(),
        items=[query],
        events=len(points),
        split=split,
    )


def _columns(name: str, matrix: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
    return {f"{name}{at}": np.ascontiguousarray(column) for at, column in enumerate(matrix.T)}


def _table(connection: Any, name: str, columns: dict[str, np.ndarray[Any, Any]]) -> None:
    connection.register("source", pa.table(columns))
    connection.execute(f"create table {name} as select * from source")
    connection.unregister("source")
