"""The strategy `mapped`: one index, built once and mapped by every worker; only events are partitioned.

Events come as `prepare_events` gives them.
Tasks hold no more than one piece of matches at a time. A task that has seen a few thousand events has counts for most of a
million slots. One row for each would cost more than the matching, so a row holds the counts of a block of slots in bytes.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from thatch.pipeline.columns import (
    EVENT,
    EVENTS,
    HOUR,
    SLOT,
    SLOTS,
    SUBSCRIBER,
    SUBSCRIPTION,
    Column,
    DataFrame,
    f,
)
from thatch.pipeline.indexes import SharedIndex
from thatch.pipeline.tasks import Batches
from thatch.pipeline.transforms.deliveries import Deliveries
from thatch.pipeline.transforms.events import HOURS, KEY, EventReader

__all__ = ["hour_start", "match_counts", "match_hours", "match_pairs", "match_slots"]

_ROWS = 1 << 16  # of a batch that goes back to Spark
_BLOCK = 1 << 14  # slots of a block
_BLOCKS = "block int, slots binary, counts binary"

Counts = npt.NDArray[np.int64]


def match_pairs(events: DataFrame, index: SharedIndex, reader: EventReader) -> DataFrame:
    """Who wants which event: `event`, `subscription`."""
    schema = f"`{EVENT}` {dict(events.dtypes)[KEY]}, {SUBSCRIPTION} string"
    return events.mapInArrow(partial(_find_pairs, index, reader), schema)


def match_slots(events: DataFrame, index: SharedIndex, reader: EventReader) -> DataFrame:
    """The slots in the index of those who want an event: `event`, `slots`.

    An event has several rows if it has many slots, or if they are found in several parts of the index. Spark handles
    lists much faster than a row for every pair.
    """
    schema = f"`{EVENT}` {dict(events.dtypes)[KEY]}, {SLOTS} array<int>"
    return events.mapInArrow(partial(_find_slots, index, reader), schema)


def match_counts(events: DataFrame, index: SharedIndex, reader: EventReader) -> DataFrame:
    """How many events each subscription gets, zero included: `subscription`, `events`."""
    counted = events.mapInArrow(partial(_count, index, reader), _BLOCKS)
    nothing = (f.lit(b"").alias("slots"), f.lit(b"").alias("counts"))
    blocks = events.sparkSession.range(-(-index.slots // _BLOCK))
    every = blocks.select(f.col("id").cast("int").alias("block"), *nothing)
    together = counted.union(every).repartition("block").sortWithinPartitions("block")
    return together.mapInArrow(partial(_add_blocks, index), f"{SUBSCRIPTION} string, {EVENTS} bigint")


def match_hours(events: DataFrame, index: SharedIndex, reader: EventReader) -> DataFrame:
    """How many events each subscriber gets in each hour: `subscriber`, `hour`, `events`."""
    schema = f"{SUBSCRIBER} string, {HOUR} int, {EVENTS} bigint"
    counted = events.mapInArrow(partial(_count_hours, index, reader), schema)
    summed = counted.groupBy(SUBSCRIBER, HOUR).agg(f.sum(EVENTS).alias(EVENTS))
    return summed.select(SUBSCRIBER, hour_start(), EVENTS)


def hour_start() -> Column:
    """The beginning of an hour that is counted since 1970."""
    return f.timestamp_seconds(f.col(HOUR).cast("bigint") * 3_600).alias(HOUR)


# --- in workers ------------------------------------------------------------------------------------------------------


def _find_pairs(index: SharedIndex, reader: EventReader, batches: Batches) -> Batches:
    engine = index.open()
    ids = engine.ids()
    for batch in batches:
        keys = batch.column(KEY)
        for piece in reader.pieces(engine, batch):
            for start in range(0, piece.num_rows, _ROWS):
                part = piece.slice(start, _ROWS)
                columns = [keys.take(part.column(EVENT)), ids.take(part.column(SLOT))]
                yield pa.RecordBatch.from_arrays(columns, [EVENT, SUBSCRIPTION])


def _find_slots(index: SharedIndex, reader: EventReader, batches: Batches) -> Batches:
    engine = index.open()
    for batch in batches:
        keys = batch.column(KEY)
        for piece in reader.pieces(engine, batch, grouped=True):
            # Spark handles a row as a whole, so no list may be long.
            yield from _split_lists(keys.take(piece.column(EVENT)), piece.column(SLOTS))


def _split_lists(keys: pa.Array, lists: pa.ListArray) -> Batches:
    """Cut lists to at most `_ROWS` slots, in batches of about as many."""
    offsets = lists.offsets.to_numpy()
    sizes = np.diff(offsets)
    if len(sizes) and sizes.max() > _ROWS:
        parts = -(-sizes // _ROWS)
        keys = keys.take(pa.array(np.repeat(np.arange(len(sizes)), parts)))
        inside = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
        offsets = np.append(np.repeat(offsets[:-1], parts) + inside * _ROWS, offsets[-1])
    lists = pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), lists.values)
    start = 0
    while start < len(lists):
        end = max(start + 1, int(np.searchsorted(offsets, offsets[start] + _ROWS, side="right")) - 1)
        end = min(end, len(lists))
        columns = [keys.slice(start, end - start), lists.slice(start, end - start)]
        yield pa.RecordBatch.from_arrays(columns, [EVENT, SLOTS])
        start = end


def _count(index: SharedIndex, reader: EventReader, batches: Batches) -> Batches:
    """Count events by slot, as blocks of counts that are not 0."""
    engine = index.open()
    total = np.zeros(index.slots, np.int64)
    for batch in batches:
        total += reader.counts(engine, batch)
    for block, start in enumerate(range(0, len(total), _BLOCK)):
        some = total[start : start + _BLOCK]
        slots = np.flatnonzero(some)
        if len(slots):
            columns = [
                pa.array([block], pa.int32()),
                pa.array([slots.astype(np.uint16).tobytes()], pa.binary()),
                pa.array([some[slots].tobytes()], pa.binary()),
            ]
            yield pa.RecordBatch.from_arrays(columns, ["block", "slots", "counts"])


def _add_blocks(index: SharedIndex, batches: Batches) -> Batches:
    """Add up the blocks of all tasks, which arrive in order, and name their slots."""
    ids = index.open().ids()
    current, total = -1, np.zeros(_BLOCK, np.int64)
    for batch in batches:
        for block, slots, counts in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            if block != current:
                yield from _name_block(ids, current, total)
                current, total = block, np.zeros(_BLOCK, np.int64)
            total[np.frombuffer(slots, np.uint16)] += np.frombuffer(counts, np.int64)
    yield from _name_block(ids, current, total)


def _name_block(ids: pa.Array, block: int, total: Counts) -> Batches:
    if block < 0:
        return
    names = ids.slice(block * _BLOCK, _BLOCK)
    columns = [names.cast(pa.string()), pa.array(total[: len(names)])]
    named = pa.RecordBatch.from_arrays(columns, [SUBSCRIPTION, EVENTS])
    yield named.filter(names.is_valid())  # a slot may be empty


def _count_hours(index: SharedIndex, reader: EventReader, batches: Batches) -> Batches:
    engine = index.open()
    names, who = _subscribers(engine.ids(), engine.subscribers())
    deliveries = Deliveries(who, len(names))
    for batch in batches:

        def pieces(start: int, count: int) -> Batches:
            some = batch.slice(start, count)  # noqa: B023 - used before the next batch
            return reader.pieces(engine, some)

        deliveries.add(batch.column(HOURS), pieces)
        if deliveries.is_large:
            yield from _name_deliveries(names, deliveries)
    yield from _name_deliveries(names, deliveries)


def _name_deliveries(names: pa.Array, deliveries: Deliveries) -> Batches:
    who, hour, events = deliveries.take()
    for start in range(0, len(who), _ROWS):
        end = start + _ROWS
        columns = [names.take(who[start:end]), hour[start:end], events[start:end]]
        yield pa.RecordBatch.from_arrays(columns, [SUBSCRIBER, HOUR, EVENTS])


def _subscribers(ids: pa.Array, subscribers: pa.Array) -> tuple[pa.Array, npt.NDArray[np.int32]]:
    """All subscribers, and the number of each slot's: its subscriber, or its id if it has none."""
    encoded = pc.coalesce(subscribers.cast(pa.string()), ids.cast(pa.string())).dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return encoded.dictionary, encoded.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int32)
