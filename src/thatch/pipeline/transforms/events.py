"""Events of a DataFrame as an engine takes them: what names each, what is in it, when it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.engine import Engine
from thatch.engine.tables import NULLS
from thatch.errors import TableError, shown

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["HOURS", "KEY", "Reading", "prepared"]

KEY = "thatch event"  # with a blank, as no column that filters can ask for without quotes
HOURS = "thatch hour"


@dataclass(frozen=True, slots=True)
class Reading:
    """How workers read events.

    Parameters
    ----------
    json : the column that holds each event as JSON text, None if columns are attributes
    nulls : whether null in a column means "missing" or "null"
    skips : leave out what is no event; else it is an error
    """

    json: str | None = None
    nulls: Literal["missing", "null"] = "missing"
    skips: bool = False

    def attributes(self, batch: pa.RecordBatch) -> pa.Table:
        """The columns of a batch that are attributes."""
        kept = [name for name in batch.schema.names if name not in (KEY, HOURS)]
        return pa.Table.from_batches([batch.select(kept)])

    def pieces(
        self, engine: Engine, batch: pa.RecordBatch, now: float | None, *, grouped: bool = False
    ) -> Iterator[pa.RecordBatch]:
        """What an engine finds for a batch, as `Engine.match_pieces` gives it."""
        return engine.match_pieces(
            self.attributes(batch),
            nulls=self.nulls,
            json=self.json,
            now=now,
            reject=self.refuse(batch.column(KEY)),
            grouped=grouped,
        )

    def counts(self, engine: Engine, batch: pa.RecordBatch, now: float | None) -> npt.NDArray[np.int64]:
        """How many events of a batch each place of an engine wants."""
        refuse = self.refuse(batch.column(KEY))
        return engine.count_batch(
            self.attributes(batch), nulls=self.nulls, json=self.json, now=now, reject=refuse
        )

    def refuse(self, keys: pa.Array) -> Callable[[int, str], None]:
        """What to do with rows that are no events."""

        def refuse(row: int, reason: str) -> None:
            if not self.skips:
                raise TableError("an event", reason, f"event {shown(keys[row].as_py())}")

        return refuse


def prepared(events: DataFrame, reading: Reading, *, event: str | None, time: str | None = None) -> DataFrame:
    """The events with `KEY` in front, what names each, and with `HOURS` if there is a time.

    Parameters
    ----------
    event : the column that names events, which is then no attribute; by default they are numbered
    time : the column, or with JSON the path, that tells when an event was
    """
    from pyspark.sql import functions as f

    if reading.nulls not in NULLS:
        raise TableError("nulls='missing' or nulls='null'", shown(reading.nulls))
    types = dict(events.dtypes)
    for name, kind in ((reading.json, "the JSON texts"), (event, "the events' names")):
        if name is not None and name not in types:
            raise TableError(f"a column `{name}` with {kind}", ", ".join(types) or "no columns")
    if reading.json is not None and types[reading.json] != "string":
        raise TableError("text", types[reading.json], f"column `{reading.json}` of the events")
    key = f.monotonically_increasing_id() if event is None else _quoted(event)
    added = [key.alias(KEY)]
    if time is not None:
        added.append(_hours(types, reading.json, time).alias(HOURS))
    data = [reading.json] if reading.json is not None else [name for name in types if name != event]
    return events.select(*added, *(_quoted(name) for name in data))


def _quoted(name: str) -> Column:
    from pyspark.sql import functions as f

    return f.col("`" + name.replace("`", "``") + "`")


def _hours(types: dict[str, str], json: str | None, time: str) -> Any:
    """Whole hours since 1970 of a moment, null where there is none."""
    from pyspark.sql import functions as f

    if json is not None:
        path = "".join(f"['{part}']" for part in time.split("."))
        moment = f.try_to_timestamp(f.get_json_object(_quoted(json), "$" + path))
    else:
        if time not in types:
            raise TableError(f"a column `{time}` with the time of events", ", ".join(types) or "no columns")
        moment = _quoted(time)
        if types[time] == "string":
            moment = f.try_to_timestamp(moment)
        elif types[time] not in ("timestamp", "timestamp_ntz", "date"):
            raise TableError("a timestamp, a date or text", types[time], f"column `{time}` of the events")
    return f.floor(f.unix_micros(moment.cast("timestamp")) / f.lit(3_600_000_000)).cast("int")
