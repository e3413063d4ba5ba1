"""Rows of a log that are no events, each with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from thatch.engine import Engine
from thatch.pipeline.schemas import EVENT, REASON
from thatch.pipeline.transforms.events import KEY, Reading, prepared

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["refused"]


def refused(events: DataFrame, *, event: str | None, json: str) -> DataFrame:
    """The rows of a column of JSON texts that are no events: `event`, `reason`."""
    log = prepared(events, Reading(json=json), event=event)
    return log.mapInArrow(_Refused(json), f"`{EVENT}` {dict(log.dtypes)[KEY]}, {REASON} string")


@dataclass(frozen=True, slots=True)
class _Refused:
    json: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        nobody = Engine()  # which reads events as every engine does, and then has nothing to do
        for batch in batches:
            rows: list[int] = []
            reasons: list[str] = []

            def note(row: int, reason: str) -> None:
                rows.append(row)  # noqa: B023 - called before the next batch
                reasons.append(reason)  # noqa: B023

            nobody.count_batch(batch.select([self.json]), json=self.json, reject=note)
            yield pa.RecordBatch.from_arrays(
                [batch.column(KEY).take(pa.array(rows, pa.int64())), pa.array(reasons, pa.string())],
                [EVENT, REASON],
            )
