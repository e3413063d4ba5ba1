"""The engine as a contestant: a workload loaded, its events as dicts and as an Arrow table."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import thatch
from benchmarks.contest import Contestant, Rows
from thatch.workloads import Cells, Intervals, Matrix, Workload, generate

__all__ = ["BATCH", "SINGLE", "Prepared", "batch", "engine_of", "event_table", "ids_of", "prepare", "single"]

SINGLE = "thatch, an event a call"
BATCH = "thatch, a table of events"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prepared:
    """A workload, the engine that holds its subscriptions, and how long it took to load them."""

    workload: Workload
    count: int
    engine: thatch.Engine
    events: list[dict[str, Any]] = field(repr=False)
    seconds: float

    @property
    def name(self) -> str:
        """Which workload."""
        return self.workload.name

    @property
    def boxes(self) -> Intervals:
        """The subscriptions of a numeric workload."""
        assert isinstance(self.workload.subscriptions, Intervals)
        return self.workload.subscriptions

    @property
    def points(self) -> np.ndarray[Any, Any]:
        """The events of a numeric workload, a row each and a column an attribute, NaN = missing."""
        events = self.workload.publications
        if isinstance(events, Matrix):
            return events.values
        assert isinstance(events, Cells)
        values = np.full((len(events), len(self.workload.attributes)), np.nan)
        values[np.repeat(np.arange(len(events)), np.diff(events.offsets)), events.attribute] = events.value
        return values


def prepare(name: str, count: int, events: int, seed: int) -> Prepared:
    """Generate a workload and load an engine with it."""
    workload = generate(name, count, events, seed)
    ids = ids_of(count)
    started = time.perf_counter()
    engine = engine_of(workload, ids)
    seconds = time.perf_counter() - started
    return Prepared(workload=workload, count=count, engine=engine, events=workload.events(), seconds=seconds)


def ids_of(count: int) -> pa.Array:
    """`s0`, `s1`, ...: the row of a subscription is its id without the first letter."""
    return pc.binary_join_element_wise("s", pa.array(np.arange(count)).cast(pa.string()), "")


def engine_of(workload: Workload, ids: pa.Array) -> thatch.Engine:
    """An engine with the workload's subscriptions: from columns, or from text where they are no intervals."""
    boxes = workload.subscriptions
    if isinstance(boxes, Intervals):
        return thatch.Engine.from_columns(
            ids,
            workload.attributes,
            boxes.low,
            boxes.high,
            offsets=boxes.offsets,
            attribute=boxes.attribute,
        )
    engine = thatch.Engine()
    rejects = engine.subscribe_many(pa.table({"subscription": ids, "filter": workload.filter_texts()}))
    assert rejects.num_rows == 0, rejects.slice(0, 1).to_pylist()
    return engine


def event_table(workload: Workload) -> pa.Table:
    """The events of a dense numeric workload: a column an attribute, null = missing, whole numbers as integers."""
    assert isinstance(workload.publications, Matrix)
    columns = {}
    for name, values in zip(workload.attributes, workload.publications.values.T, strict=True):
        is_missing = np.isnan(values)
        column = pa.array(values, mask=is_missing)
        is_whole = bool(np.all(values[~is_missing] % 1 == 0))
        columns[name] = column.cast(pa.int64()) if is_whole else column
    return pa.table(columns)


def single(prepared: Prepared, events: int | None = None) -> Contestant:
    """A dict a call, the list of ids back."""
    return Contestant(
        name=SINGLE, call=prepared.engine.match, items=prepared.events[:events], rows=_rows_of_names
    )


def batch(prepared: Prepared) -> Contestant:
    """All events in one Arrow table, (event, id) pairs back."""
    count = len(prepared.events)
    return Contestant(
        name=BATCH,
        call=prepared.engine.match_batch,
        items=[event_table(prepared.workload)],
        events=count,
        split=lambda answer: _split(answer, count),
        rows=lambda found: _rows_of_names(found.to_pylist()),
    )


def _split(answer: pa.Table, events: int) -> list[pa.ChunkedArray]:
    """What was found for each event; the pairs of an event stand together, the events in any order."""
    numbers = answer.column("event").to_numpy()
    found = answer.column("subscription")
    starts = np.flatnonzero(np.diff(numbers, prepend=-1)) if len(numbers) else np.zeros(0, np.int64)
    ends = np.append(starts[1:], len(numbers))
    parts = [found.slice(0, 0)] * events
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        assert len(parts[numbers[start]]) == 0, "the pairs of an event stand apart"
        parts[numbers[start]] = found.slice(start, end - start)
    return parts


def _rows_of_names(names: list[str]) -> Rows:
    return np.sort(np.array([int(name[1:]) for name in names], np.int64))
