"""What a log says of gaps: which events that nobody wants lie in which of them.

The log is matched once. An event is looked at in two indexes that every worker maps: that of the gaps, and if it lies in
one, that of all components, which want what all subscriptions want. What is kept of a batch of events is one value, with
the gaps of each event that lies in one in vain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.engine import Engine, container
from thatch.pipeline.adapter import Carried, carry
from thatch.pipeline.folders import work_folder
from thatch.pipeline.indexes import Index
from thatch.pipeline.schemas import EVENT, PLACE
from thatch.pipeline.transforms.events import KEY, Reading
from thatch.pipeline.transforms.merging.frontier import Counts
from thatch.reduction.boxes import Ints

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["HELD", "Look", "Measured", "Sum", "added", "counted", "measured", "split"]

HELD = "thatch held"  # whether an event is in the second half of the log
_PIECE = "found binary"
_SUMS = "held boolean, ranks binary, first binary, every binary, events bigint, refused bigint"
_HALVES = (False, True)

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class Measured:
    """What was found of a log.

    Parameters
    ----------
    trained, held : its two halves
    refused : rows that are no events
    """

    trained: Counts
    held: Counts
    refused: int


def split(events: DataFrame) -> DataFrame:
    """Events with `HELD`: which half of the log each is in, by what names it."""
    from pyspark.sql import functions as f

    return events.withColumn(HELD, f.pmod(f.xxhash64(f"`{KEY}`"), f.lit(2)) == 1)


def measured(events: DataFrame, gaps: Index, wanted: Index, reading: Reading) -> DataFrame:
    """The gaps that events lie in although nobody wants them, for `counted`; to be kept, since it is asked twice.

    Parameters
    ----------
    events : as `prepared` and then `split` give them
    gaps, wanted : what is looked at
    """
    return events.mapInArrow(Look(gaps, wanted, reading), _PIECE)


def counted(spark: SparkSession, found: DataFrame, ranks: Ints) -> Measured:
    """How many events lie in each gap in vain, by the rank of the gap.

    Parameters
    ----------
    found : as `measured` gives it
    ranks : of each gap, its turn to be closed
    """
    path = work_folder() / f"{uuid4().hex}.ranks"
    container.write(path, {}, {"ranks": ranks})
    return added(found.mapInArrow(Sum(carry(spark, path)), _SUMS).toArrow().to_batches(), len(ranks))


def added(sums: Iterable[pa.RecordBatch], gaps: int) -> Measured:
    """What tasks have summed up, brought together."""
    halves = {is_held: Counts.none(gaps) for is_held in _HALVES}
    events = dict.fromkeys(_HALVES, 0)
    refused = 0
    for row in (row for batch in sums for row in batch.to_pylist()):
        half = halves[row["held"]]
        places = np.frombuffer(row["ranks"], np.int64)
        half.first[places] += np.frombuffer(row["first"], np.int64)
        half.every[places] += np.frombuffer(row["every"], np.int64)
        events[row["held"]] += row["events"]
        refused += row["refused"]
    trained, held = (Counts(events[each], halves[each].first, halves[each].every) for each in _HALVES)
    return Measured(trained, held, refused)


@dataclass(frozen=True, slots=True)
class Look:
    """Looks at events, in a worker."""

    gaps: Index
    wanted: Index
    reading: Reading

    def __call__(self, batches: Batches) -> Batches:
        gaps, wanted = self.gaps.open(), self.wanted.open()
        for batch in batches:
            is_held = batch.column(HELD).to_numpy(zero_copy_only=False)
            events = batch.drop_columns([HELD])
            refused: set[int] = set()
            event, place = self._pairs(gaps, events, refused)
            # Only what lies in a gap may be in vain.
            inside = np.unique(event)
            some = events.take(pa.array(inside))
            is_wanted = np.zeros(len(batch), np.bool_)
            is_wanted[inside[self._pairs(wanted, some, set())[0]]] = True
            in_vain = ~is_wanted[event]
            is_good = np.ones(len(batch), np.bool_)
            is_good[list(refused)] = False
            halves = [int((is_good & (is_held == each)).sum()) for each in _HALVES]
            arrays = {
                "event": event[in_vain],
                "place": place[in_vain],
                "held": is_held[event[in_vain]],
                "events": np.array(halves, np.int64),
                "refused": np.array([len(refused)], np.int64),
            }
            told = pa.array([container.dumps({}, arrays)], pa.binary())
            yield pa.RecordBatch.from_arrays([told], ["found"])

    def _pairs(self, engine: Engine, batch: pa.RecordBatch, refused: set[int]) -> tuple[Ints, Ints]:
        """Who wants which event of a batch, and in `refused` the rows that are none."""
        refuse = self.reading.refuse(batch.column(KEY))

        def reject(row: int, reason: str) -> None:
            refuse(row, reason)
            refused.add(row)

        found = [np.empty((0, 2), np.int64)]
        for piece in engine.match_pieces(
            self.reading.attributes(batch), nulls=self.reading.nulls, json=self.reading.json, reject=reject
        ):
            pair = [piece.column(name).to_numpy().astype(np.int64) for name in (EVENT, PLACE)]
            found.append(np.stack(pair, axis=1))
        pairs = np.concatenate(found)
        return pairs[:, 0], pairs[:, 1]


@dataclass(frozen=True, slots=True)
class Sum:
    """Adds up what was found, gap by gap, in a worker."""

    file: Carried

    def __call__(self, batches: Batches) -> Batches:
        ranks = _ranks(self.file.here())
        first, every = (np.zeros((2, len(ranks)), np.int64) for _ in range(2))
        events = np.zeros(2, np.int64)
        refused = 0
        for batch in batches:
            for told in batch.column(0):
                arrays = container.loads(told.as_buffer())[1]
                _add(arrays, ranks, first, every)
                events += arrays["events"]
                refused += int(arrays["refused"][0])
        yield _sums(first, every, events, refused)


def _add(arrays: dict[str, npt.NDArray[Any]], ranks: Ints, first: Ints, every: Ints) -> None:
    """Count the gaps of one batch, and of each event the one that is closed first."""
    rank, half = ranks[arrays["place"]], arrays["held"].astype(np.int64)
    np.add.at(every, (half, rank), 1)
    order = np.lexsort((rank, arrays["event"]))
    event = arrays["event"][order]
    is_first = np.ones(len(event), np.bool_)
    is_first[1:] = event[1:] != event[:-1]
    chosen = order[is_first]
    np.add.at(first, (half[chosen], rank[chosen]), 1)


def _sums(first: Ints, every: Ints, events: Ints, refused: int) -> pa.RecordBatch:
    rows = []
    for half, is_held in enumerate(_HALVES):
        places = np.flatnonzero(every[half])
        rows.append(
            {
                "held": is_held,
                "ranks": places.tobytes(),
                "first": first[half, places].tobytes(),
                "every": every[half, places].tobytes(),
                "events": int(events[half]),
                "refused": 0 if is_held else refused,
            }
        )
    return pa.RecordBatch.from_pylist(rows)


@lru_cache(maxsize=2)
def _ranks(path: Path) -> Ints:
    ranks: Ints = container.read(path)[1]["ranks"]
    return ranks
