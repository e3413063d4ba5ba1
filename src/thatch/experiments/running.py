"""Trials run, here or on Spark, and their results kept as they come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thatch.experiments.attempts import ERROR, Attempts, attempt_schema, attempted
from thatch.experiments.store import KEY, Store
from thatch.experiments.trials import Grid, Simulation, Trial
from thatch.pipeline.adapter import parallelism
from thatch.pipeline.failures import failures_told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Failure", "Outcome", "run"]

_ROUND = 20.0  # seconds of work that an interruption may cost at most, about
_MOST = 20_000  # trials that Spark gets at once
_PARTS = 4  # tasks for each core: trials differ in length
_TYPES = {pa.int64(): "bigint", pa.float64(): "double", pa.string(): "string", pa.bool_(): "boolean"}

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Failure:
    """A trial that failed, and why."""

    trial: Trial
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run has done: trials finished before, finished now, and failed; a failed one is tried again next time."""

    before: int
    finished: int
    failures: tuple[Failure, ...]


def run(
    simulation: Simulation,
    grid: Grid,
    store: Store,
    *,
    spark: SparkSession | None = None,
    report: Progress | None = None,
) -> Outcome:
    """Run the trials of a grid that are not finished, in an order that mixes short and long ones.

    Parameters
    ----------
    spark : where; None runs them one after the other in this process
    report : is told how many are done of how many
    """
    missing = store.missing(grid)
    total, done, failures = len(grid), 0, []
    before = total - len(missing)
    order = np.random.default_rng(0).permutation(len(missing))
    trials = [missing[place] for place in order]
    if report is not None:
        report(before, total)
    for count, rows in _rounds(simulation, trials, spark):
        is_failed = pc.is_valid(rows.column(ERROR))
        store.add(rows.filter(pc.invert(is_failed)).drop_columns([ERROR]))
        failures += [
            Failure(Trial.of(row[KEY]), row[ERROR])
            for row in rows.filter(is_failed).select([KEY, ERROR]).to_pylist()
        ]
        done += count
        if report is not None:
            report(before + done, total)
    return Outcome(before=before, finished=done - len(failures), failures=tuple(failures))


def _rounds(
    simulation: Simulation, trials: Sequence[Trial], spark: SparkSession | None
) -> Iterator[tuple[int, pa.Table]]:
    """Rows of some trials after the other; how many at once follows how long they take."""
    at_once = 1 if spark is None else _PARTS * parallelism(spark)
    least, start = at_once, 0
    while start < len(trials):
        part = trials[start : start + at_once]
        began = time.monotonic()
        yield len(part), _here(simulation, part) if spark is None else _on_spark(spark, simulation, part)
        spent = time.monotonic() - began
        # Not more than four times as many: the first may have been the short ones.
        at_once = int(min(max(least, len(part) * min(4.0, _ROUND / max(spent, 1e-3))), _MOST))
        start += len(part)


def _here(simulation: Simulation, trials: Sequence[Trial]) -> pa.Table:
    rows: list[dict[str, Any]] = []
    for trial in trials:
        rows += attempted(simulation, trial)
    return pa.Table.from_pylist(rows, attempt_schema(simulation))


def _on_spark(spark: SparkSession, simulation: Simulation, trials: Sequence[Trial]) -> pa.Table:
    """A job over a table of trials; their rows are small and come back here."""
    schema = attempt_schema(simulation)
    columns = ", ".join(f"`{field.name}` {_TYPES[field.type]}" for field in schema)
    with failures_told(f"trials of {simulation.name}"):
        keys = spark.createDataFrame([(trial.key,) for trial in trials], f"{KEY} string")
        spread = keys.repartition(min(len(trials), _PARTS * parallelism(spark)))
        return spread.mapInArrow(Attempts(simulation), columns).toArrow().cast(schema)
