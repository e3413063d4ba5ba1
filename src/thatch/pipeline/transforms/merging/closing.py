"""Last pass: components with closed gaps between them become one filter, and everything that is forwarded is told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.engine import container
from thatch.model.conjunctions import close
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.lines import Constraint, union
from thatch.model.schema import Schema, line_of, tighten
from thatch.pipeline.adapter import Carried, carry
from thatch.pipeline.folders import work_folder
from thatch.pipeline.schemas import FILTER, ROW, SUBSCRIBER, SUBSCRIPTION
from thatch.pipeline.transforms.merging.gaps import KEY, PARTS
from thatch.reduction.boxes import Ints

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["IN_VAIN", "forwarded", "joined_text"]

IN_VAIN = "in_vain"  # the share of events that a row lets through though nobody wants them

_FORWARDED = pa.schema(
    [
        (ROW, pa.int64()),
        (SUBSCRIPTION, pa.string()),
        (SUBSCRIBER, pa.string()),
        (FILTER, pa.string()),
        (PARTS, pa.list_(pa.string())),
        (KEY, pa.string()),
        (IN_VAIN, pa.float64()),
    ]
)
_DDL = (
    f"{ROW} bigint, {SUBSCRIPTION} string, {SUBSCRIBER} string, {FILTER} string, {PARTS} array<string>, "
    f"{KEY} string, {IN_VAIN} double"
)

Batches = Iterator[pa.RecordBatch]
Floats = npt.NDArray[np.float64]


def forwarded(
    spark: SparkSession,
    found: DataFrame,
    *,
    closed: Ints,
    costs: Floats,
    prefix: str,
    schema: Schema | None,
) -> DataFrame:
    """What is forwarded: subscriptions that are alone, and mergers.

    Parameters
    ----------
    found : as `gaps_between` gives it
    closed, costs : the rows of components before which the gap is closed, rising, and what each costs
    prefix : what the ids of mergers begin with
    """
    path = work_folder() / f"{uuid4().hex}.closed"
    container.write(path, {}, {"closed": closed, "costs": costs})
    return found.mapInArrow(_Close(carry(spark, path), prefix, schema), _DDL)


@dataclass(frozen=True, slots=True)
class _Close:
    """Closes gaps between components, which come in the order of their line, in a worker."""

    file: Carried
    prefix: str
    schema: Schema | None

    def __call__(self, batches: Batches) -> Batches:
        closed = _closed(self.file.here())
        run: list[dict[str, Any]] = []
        for batch in batches:
            told = []
            for row in batch.to_pylist():
                row[IN_VAIN] = closed.get(row[ROW], 0.0)
                if run and row[ROW] not in closed:
                    told.append(self._told(run))
                    run = []
                run.append(row)
            yield _batch(told)
        yield _batch([self._told(run)] if run else [])

    def _told(self, run: list[dict[str, Any]]) -> dict[str, Any]:
        if len(run) == 1 and not run[0][PARTS]:
            return {**run[0], KEY: None}
        first = min(each[ROW] for each in run)
        return {
            ROW: first,
            SUBSCRIPTION: f"{self.prefix}{first}",
            SUBSCRIBER: None,
            FILTER: run[0][FILTER] if len(run) == 1 else joined_text(run, self.schema),
            PARTS: [part for each in run for part in (each[PARTS] or [each[SUBSCRIPTION]])],
            KEY: run[0][KEY],
            IN_VAIN: sum(each[IN_VAIN] for each in run),
        }


def joined_text(run: list[dict[str, Any]], schema: Schema | None) -> str:
    """The filter around components of one line and the gaps between them.

    Parameters
    ----------
    run : their `filter` and `merged_on`, lowest first
    """
    key = run[0][KEY]
    filters = [parse(each[FILTER], schema) for each in run]
    own: list[Constraint] = [dict(each.conjunctions[0].constraints)[key] for each in filters]
    gaps = [(low[-1], high[0]) for low, high in pairwise(own)]
    sides = dict(filters[0].conjunctions[0].constraints)
    sides[key] = tighten(union((*own, *gaps)), line_of(key, schema))
    return str(Filter((close(sides, filters[0].conjunctions[0].residuals, schema),), schema, ()))


def _batch(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(rows, schema=_FORWARDED)


@lru_cache(maxsize=2)
def _closed(path: Path) -> dict[int, float]:
    _, arrays = container.read(path)
    return dict(zip(arrays["closed"].tolist(), arrays["costs"].tolist(), strict=True))
