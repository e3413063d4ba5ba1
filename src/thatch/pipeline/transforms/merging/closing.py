"""Last pass of merging: join components across closed gaps, and list everything that is forwarded."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.model.conjunctions import close
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.lines import Constraint, union
from thatch.model.schema import Schema, line_of, tighten
from thatch.pipeline.columns import (
    FILTER,
    ROW,
    SUBSCRIBER,
    SUBSCRIPTION,
    DataFrame,
    arrow_schema,
    spark_schema,
)
from thatch.pipeline.tasks import Arrays, Batches, SharedFile, share_arrays
from thatch.pipeline.transforms.merging.gaps import KEY, PARTS
from thatch.reduction.boxes import Ints

__all__ = ["IN_VAIN", "close_gaps", "join_filters"]

IN_VAIN = "in_vain"  # the share of events that a row lets through although nobody wants them

_LIST = pa.list_(pa.string())
_FORWARDED = arrow_schema(
    *(ROW, SUBSCRIPTION, SUBSCRIBER, FILTER), (PARTS, _LIST), KEY, (IN_VAIN, pa.float64())
)
Floats = npt.NDArray[np.float64]


def close_gaps(
    found: DataFrame, *, closed: Ints, costs: Floats, prefix: str, schema: Schema | None
) -> DataFrame:
    """List what is forwarded: single subscriptions, and mergers.

    Parameters
    ----------
    found : as `find_gaps` gives it
    closed, costs : the rows of components before which the gap is closed, rising, and the cost of each
    prefix : of the ids of mergers
    """
    shared = share_arrays(found.sparkSession, {"closed": closed, "costs": costs})
    return found.mapInArrow(partial(_close, shared, prefix, schema), spark_schema(_FORWARDED))


def _close(shared: SharedFile[Arrays], prefix: str, schema: Schema | None, batches: Batches) -> Batches:
    """Close gaps between components, which arrive in the order of their lines, in a worker."""
    arrays = shared.open()
    costs = dict(zip(arrays["closed"].tolist(), arrays["costs"].tolist(), strict=True))
    run: list[dict[str, Any]] = []
    for batch in batches:
        rows = []
        for row in batch.to_pylist():
            row[IN_VAIN] = costs.get(row[ROW], 0.0)
            if run and row[ROW] not in costs:
                rows.append(_join(run, prefix, schema))
                run = []
            run.append(row)
        yield pa.RecordBatch.from_pylist(rows, _FORWARDED)
    yield pa.RecordBatch.from_pylist([_join(run, prefix, schema)] if run else [], _FORWARDED)


def _join(run: list[dict[str, Any]], prefix: str, schema: Schema | None) -> dict[str, Any]:
    if len(run) == 1 and not run[0][PARTS]:
        return {**run[0], KEY: None}
    first = min(each[ROW] for each in run)
    return {
        ROW: first,
        SUBSCRIPTION: f"{prefix}{first}",
        SUBSCRIBER: None,
        FILTER: run[0][FILTER] if len(run) == 1 else join_filters(run, schema),
        PARTS: [part for each in run for part in (each[PARTS] or [each[SUBSCRIPTION]])],
        KEY: run[0][KEY],
        IN_VAIN: sum(each[IN_VAIN] for each in run),
    }


def join_filters(run: list[dict[str, Any]], schema: Schema | None) -> str:
    """Join components of one line and the gaps between them into one filter.

    The `run` has the `filter` and `merged_on` of each, lowest first.
    """
    key = run[0][KEY]
    filters = [parse(each[FILTER], schema) for each in run]
    own: list[Constraint] = [dict(each.conjunctions[0].constraints)[key] for each in filters]
    gaps = [(low[-1], high[0]) for low, high in pairwise(own)]
    sides = dict(filters[0].conjunctions[0].constraints)
    sides[key] = tighten(union((*own, *gaps)), line_of(key, schema))
    return str(Filter((close(sides, filters[0].conjunctions[0].residuals, schema),), schema, ()))
