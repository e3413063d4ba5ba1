"""Runs trials, here or on Spark, and stores their results as they come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thatch.errors import ParameterError, shown
from thatch.experiments.store import KEY, ROW, SECONDS, SEED, ResultStore, schema_of
from thatch.experiments.trials import Grid, Row, Simulation, Trial
from thatch.pipeline.adapter import parallelism, translate_spark_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["FailedTrial", "RunSummary", "run", "run_trial"]

_ERROR = "error"  # a column beside the results: why a trial failed
_ROUND = 20.0  # seconds; about as much work is lost when a run is interrupted
_MOST = 20_000  # trials for one Spark job
_PARTS = 4  # tasks for each core, because trials differ in length
_TYPES = {pa.int64(): "bigint", pa.float64(): "double", pa.string(): "string", pa.bool_(): "boolean"}

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class FailedTrial:
    """A trial that failed, and the reason."""

    trial: Trial
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """How many trials were finished before this run and by it, and which failed. The next run retries those."""

    before: int
    finished: int
    failures: tuple[FailedTrial, ...]


def run(
    simulation: Simulation,
    grid: Grid,
    store: ResultStore,
    *,
    spark: SparkSession | None = None,
    report: Progress | None = None,
) -> RunSummary:
    """Run the unfinished trials of a grid, in an order that mixes short and long ones.

    Parameters
    ----------
    spark : run them on this session; None runs them one by one in this process
    report : called with the number of finished trials and the number of all
    """
    missing = store.missing_trials(grid)
    total, done, failures = len(grid), 0, []
    before = total - len(missing)
    trials = [missing[number] for number in np.random.default_rng(0).permutation(len(missing))]
    if report is not None:
        report(before, total)
    for count, rows in _rounds(simulation, trials, spark):
        is_failed = pc.is_valid(rows.column(_ERROR))
        store.add(rows.filter(pc.invert(is_failed)).drop_columns([_ERROR]))
        failures += [
            FailedTrial(Trial.of(row[KEY]), row[_ERROR])
            for row in rows.filter(is_failed).select([KEY, _ERROR]).to_pylist()
        ]
        done += count
        if report is not None:
            report(before + done, total)
    return RunSummary(before=before, finished=done - len(failures), failures=tuple(failures))


def run_trial(simulation: Simulation, trial: Trial) -> list[dict[str, Any]]:
    """The rows of a trial; if it failed, one row with its key and the reason."""
    start = time.process_time()
    try:
        found = list(simulation.trial(trial.seed, **dict(trial.parameters)))
        _check(simulation, found)
    except Exception as error:  # noqa: BLE001 - a trial may fail in any way; the others go on
        return [{KEY: trial.key, _ERROR: f"{type(error).__name__}: {error}"}]
    spent = time.process_time() - start
    common = {KEY: trial.key, SEED: trial.seed, SECONDS: spent, **dict(trial.parameters)}
    return [{**common, ROW: number, **row} for number, row in enumerate(found)]


def _check(simulation: Simulation, rows: Sequence[Row]) -> None:
    expected = set(simulation.results)
    if not rows:
        raise ParameterError("at least one row", "none", simulation.name)
    for row in rows:
        if set(row) != expected:
            raise ParameterError(f"results {sorted(expected)}", shown(sorted(row)), simulation.name)


def _rounds(
    simulation: Simulation, trials: Sequence[Trial], spark: SparkSession | None
) -> Iterator[tuple[int, pa.Table]]:
    """Rows of a few trials at a time; how many depends on how long the ones before took."""
    at_once = 1 if spark is None else _PARTS * parallelism(spark)
    least, start = at_once, 0
    while start < len(trials):
        part = trials[start : start + at_once]
        began = time.monotonic()
        yield len(part), _here(simulation, part) if spark is None else _on_spark(spark, simulation, part)
        spent = time.monotonic() - began
        # At most four times as many: the first ones may have been the short ones.
        at_once = int(min(max(least, len(part) * min(4.0, _ROUND / max(spent, 1e-3))), _MOST))
        start += len(part)


def _here(simulation: Simulation, trials: Sequence[Trial]) -> pa.Table:
    rows = [row for trial in trials for row in run_trial(simulation, trial)]
    return pa.Table.from_pylist(rows, _outcome_schema(simulation))


def _on_spark(spark: SparkSession, simulation: Simulation, trials: Sequence[Trial]) -> pa.Table:
    """Run a table of trials as one job; the rows are few and are collected."""
    schema = _outcome_schema(simulation)
    columns = ", ".join(f"`{field.name}` {_TYPES[field.type]}" for field in schema)

    def run_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            keys = batch.column(KEY).to_pylist()
            rows = [row for key in keys for row in run_trial(simulation, Trial.of(key))]
            yield pa.RecordBatch.from_pylist(rows, schema)

    with translate_spark_errors(f"trials of {simulation.name}"):
        keys = spark.createDataFrame([(trial.key,) for trial in trials], f"{KEY} string")
        spread = keys.repartition(min(len(trials), _PARTS * parallelism(spark)))
        return spread.mapInArrow(run_batches, columns).toArrow().cast(schema)


def _outcome_schema(simulation: Simulation) -> pa.Schema:
    """The columns of results and `error`, which is null unless the trial failed."""
    return schema_of(simulation).append(pa.field(_ERROR, pa.string()))
