"""Find in a log which events that nobody wants lie in which gaps.

The log is matched once. Every worker maps two indexes: that of the gaps, and for events that lie in one, that of all
components, which want what all subscriptions want. Each batch of events yields one value: the gaps of its unwanted events.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.engine import Engine, container
from thatch.pipeline.columns import EVENT, SLOT, DataFrame, f
from thatch.pipeline.indexes import SharedIndex
from thatch.pipeline.tasks import Arrays, Batches, SharedFile, binary_row, share_arrays
from thatch.pipeline.transforms.events import KEY, EventReader
from thatch.pipeline.transforms.merging.frontier import GapCounts
from thatch.reduction.boxes import Ints

__all__ = [
    "HELD",
    "LogCounts",
    "combine_sums",
    "count_by_rank",
    "find_false_positives",
    "look_at_events",
    "split_log",
    "sum_by_rank",
]

HELD = "thatch held"  # whether an event is in the second half of the log
_HALVES = (False, True)


@dataclass(frozen=True, slots=True)
class LogCounts:
    """What was counted in a log."""

    # Its two halves.
    trained: GapCounts
    held: GapCounts
    refused: int  # rows that are not events


def split_log(events: DataFrame) -> DataFrame:
    """Add `HELD`: which half of the log each event is in, by a hash of its name."""
    return events.withColumn(HELD, f.pmod(f.xxhash64(f"`{KEY}`"), f.lit(2)) == 1)


def find_false_positives(
    events: DataFrame, gaps: SharedIndex, wanted: SharedIndex, reader: EventReader
) -> DataFrame:
    """Find the gaps that unwanted events lie in, for `count_by_rank`.

    Parameters
    ----------
    events : as `prepare_events` and then `split_log` give them
    gaps, wanted : indexes of the gaps, and of all that subscriptions want
    """
    return events.mapInArrow(partial(look_at_events, gaps, wanted, reader), "found binary")


def count_by_rank(found: DataFrame, ranks: Ints) -> LogCounts:
    """Count the unwanted events in each gap, by the rank of the gap.

    Parameters
    ----------
    found : as `find_false_positives` gives it
    ranks : of each gap, its turn to be closed
    """
    task = partial(sum_by_rank, share_arrays(found.sparkSession, {"ranks": ranks}))
    return combine_sums(found.mapInArrow(task, "sums binary").toArrow(), len(ranks))


def combine_sums(sums: pa.Table, gaps: int) -> LogCounts:
    """Combine the sums of all tasks."""
    first, every = (np.zeros((2, gaps), np.int64) for _ in range(2))
    events = np.zeros(2, np.int64)
    refused = 0
    for each in sums.column(0):
        arrays = container.loads(each.as_buffer())[1]
        first[:, arrays["ranks"]] += arrays["first"]
        every[:, arrays["ranks"]] += arrays["every"]
        events += arrays["events"]
        refused += int(arrays["refused"][0])
    trained, held = (GapCounts(int(events[half]), first[half], every[half]) for half in (0, 1))
    return LogCounts(trained, held, refused)


def look_at_events(gaps: SharedIndex, wanted: SharedIndex, reader: EventReader, batches: Batches) -> Batches:
    """Find the gaps of unwanted events, in a worker."""
    gap_engine, wanted_engine = gaps.open(), wanted.open()
    for batch in batches:
        is_held = batch.column(HELD).to_numpy(zero_copy_only=False)
        events = batch.drop_columns([HELD])
        refused: set[int] = set()
        event, gap = _match(gap_engine, events, reader, refused)
        # Only an event that lies in a gap can be a false positive.
        inside = np.unique(event)
        some = events.take(pa.array(inside))
        is_wanted = np.zeros(len(batch), np.bool_)
        is_wanted[inside[_match(wanted_engine, some, reader, set())[0]]] = True
        in_vain = ~is_wanted[event]
        is_good = np.ones(len(batch), np.bool_)
        is_good[list(refused)] = False
        halves = [int((is_good & (is_held == each)).sum()) for each in _HALVES]
        arrays = {
            "event": event[in_vain],
            "gap": gap[in_vain],
            "held": is_held[event[in_vain]],
            "events": np.array(halves, np.int64),
            "refused": np.array([len(refused)], np.int64),
        }
        yield binary_row(found=container.dumps({}, arrays))


def _match(
    engine: Engine, batch: pa.RecordBatch, reader: EventReader, refused: set[int]
) -> tuple[Ints, Ints]:
    """Match a batch: events and slots; adds the rows that are not events to `refused`."""
    reject_row = reader.reject(batch.column(KEY))

    def reject(row: int, reason: str) -> None:
        reject_row(row, reason)
        refused.add(row)

    found = [np.empty((0, 2), np.int64)]
    for piece in engine.match_pieces(
        reader.attributes(batch), nulls=reader.nulls, json=reader.json, reject=reject
    ):
        pair = [piece.column(name).to_numpy().astype(np.int64) for name in (EVENT, SLOT)]
        found.append(np.stack(pair, axis=1))
    pairs = np.concatenate(found)
    return pairs[:, 0], pairs[:, 1]


def sum_by_rank(shared: SharedFile[Arrays], batches: Batches) -> Batches:
    """Add up the unwanted events by the rank of their gaps, in a worker."""
    ranks = shared.open()["ranks"]
    first, every = (np.zeros((2, len(ranks)), np.int64) for _ in range(2))
    events = np.zeros(2, np.int64)
    refused = 0
    for batch in batches:
        for each in batch.column(0):
            arrays = container.loads(each.as_buffer())[1]
            _add(arrays, ranks, first, every)
            events += arrays["events"]
            refused += int(arrays["refused"][0])
    used = np.flatnonzero(every.any(axis=0))
    sums = {"ranks": used, "first": first[:, used], "every": every[:, used], "events": events}
    yield binary_row(sums=container.dumps({}, {**sums, "refused": np.array([refused], np.int64)}))


def _add(arrays: dict[str, npt.NDArray[Any]], ranks: Ints, first: Ints, every: Ints) -> None:
    """Count the gaps of one batch, and for each event the gap that is closed first."""
    rank, half = ranks[arrays["gap"]], arrays["held"].astype(np.int64)
    np.add.at(every, (half, rank), 1)
    order = np.lexsort((rank, arrays["event"]))
    event = arrays["event"][order]
    is_first = np.ones(len(event), np.bool_)
    is_first[1:] = event[1:] != event[:-1]
    chosen = order[is_first]
    np.add.at(first, (half[chosen], rank[chosen]), 1)
