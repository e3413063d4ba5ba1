"""Prepare the events of a DataFrame for an engine: what names each, what is in it, when it happened."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.engine import Engine
from thatch.engine.tables import NULLS
from thatch.errors import TableError, shown
from thatch.pipeline.columns import EVENT, REASON, Column, DataFrame, f, quote
from thatch.pipeline.pruning import attribute_columns
from thatch.pipeline.tasks import Batches

if TYPE_CHECKING:
    from pyspark.accumulators import Accumulator

__all__ = ["HOURS", "KEY", "EventReader", "find_refused", "prepare_events"]

KEY = "thatch event"  # with a blank, so that a filter can name such a column only in quotes
HOURS = "thatch hour"


@dataclass(frozen=True, slots=True)
class EventReader:
    """How workers read events."""

    json: str | None = None  # the column that holds each event as JSON text, None if columns are attributes
    nulls: Literal["missing", "null"] = "missing"  # whether null in a column means "missing" or "null"
    skips: bool = False  # whether to leave out rows that are not events; else they are an error
    now: float | None = None  # leave out subscriptions that have expired by this moment
    # Grows with every row that is left out; a row may count more than once.
    skipped: Accumulator[int] | None = None

    def attributes(self, batch: pa.RecordBatch) -> pa.Table:
        """The columns of a batch that are attributes."""
        kept = [name for name in batch.schema.names if name not in (KEY, HOURS)]
        return pa.Table.from_batches([batch.select(kept)])

    def pieces(self, engine: Engine, batch: pa.RecordBatch, *, grouped: bool = False) -> Batches:
        """Match a batch, as `Engine.match_pieces` does."""
        return engine.match_pieces(
            self.attributes(batch),
            nulls=self.nulls,
            json=self.json,
            now=self.now,
            reject=self.reject(batch.column(KEY)),
            grouped=grouped,
        )

    def counts(self, engine: Engine, batch: pa.RecordBatch) -> npt.NDArray[np.int64]:
        """Count how many events of a batch each slot of an engine wants."""
        reject = self.reject(batch.column(KEY))
        return engine.count_batch(
            self.attributes(batch), nulls=self.nulls, json=self.json, now=self.now, reject=reject
        )

    def reject(self, keys: pa.Array) -> Callable[[int, str], None]:
        """The function to call for a row that is not an event."""

        def reject(row: int, reason: str) -> None:
            if not self.skips:
                raise TableError("an event", reason, f"event {shown(keys[row].as_py())}")
            if self.skipped is not None:
                self.skipped.add(1)

        return reject


def prepare_events(
    events: DataFrame,
    reader: EventReader,
    *,
    event: str | None,
    time: str | None = None,
    names: Collection[str] | None = None,
) -> DataFrame:
    """Put `KEY`, which names each event, in front of its columns, and `HOURS` if there is a time.

    Parameters
    ----------
    event : the column that names events, which is then no attribute; by default they are numbered
    time : the column, or with JSON the path, of the time of an event
    names : the attributes that filters name, if known; columns that hold none of them are not sent to workers
    """
    if reader.nulls not in NULLS:
        raise TableError("nulls='missing' or nulls='null'", shown(reader.nulls))
    types = dict(events.dtypes)
    for name, kind in ((reader.json, "the JSON texts"), (event, "the events' names")):
        if name is not None and name not in types:
            raise TableError(f"a column `{name}` with {kind}", ", ".join(types) or "no columns")
    if reader.json is not None and types[reader.json] != "string":
        raise TableError("text", types[reader.json], f"column `{reader.json}` of the events")
    key = f.monotonically_increasing_id() if event is None else f.col(quote(event))
    added = [key.alias(KEY)]
    if time is not None:
        added.append(_hours(types, reader.json, time).alias(HOURS))
    if reader.json is not None:
        return events.select(*added, quote(reader.json))
    return events.select(*added, *attribute_columns(events, names, besides=event))


def _hours(types: dict[str, str], json: str | None, time: str) -> Column:
    """Whole hours since 1970, null where there is no time."""
    if json is not None:
        path = "".join(f"['{part}']" for part in time.split("."))
        moment = f.try_to_timestamp(f.get_json_object(f.col(quote(json)), "$" + path))
    else:
        if time not in types:
            raise TableError(f"a column `{time}` with the time of events", ", ".join(types) or "no columns")
        moment = f.col(quote(time))
        if types[time] == "string":
            moment = f.try_to_timestamp(moment)
        elif types[time] not in ("timestamp", "timestamp_ntz", "date"):
            raise TableError("a timestamp, a date or text", types[time], f"column `{time}` of the events")
    return f.floor(f.unix_micros(moment.cast("timestamp")) / f.lit(3_600_000_000)).cast("int")


def find_refused(events: DataFrame, *, event: str | None, json: str) -> DataFrame:
    """Find the rows of a column of JSON texts that are not events: `event`, `reason`."""
    log = prepare_events(events, EventReader(json=json), event=event)
    return log.mapInArrow(partial(_list_refused, json), f"`{EVENT}` {dict(log.dtypes)[KEY]}, {REASON} string")


def _list_refused(json: str, batches: Batches) -> Batches:
    engine = Engine()  # an empty engine reads events as every engine does, and does nothing else
    for batch in batches:
        rows: dict[int, str] = {}
        engine.count_batch(batch.select([json]), json=json, reject=rows.__setitem__)
        keys = batch.column(KEY).take(pa.array(rows, pa.int64()))
        yield pa.RecordBatch.from_arrays([keys, pa.array(rows.values(), pa.string())], [EVENT, REASON])
