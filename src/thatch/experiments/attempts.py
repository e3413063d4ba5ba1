"""A trial tried: its rows, or why there are none. The same code runs here and in workers of Spark."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from thatch.errors import ParameterError, shown
from thatch.experiments.store import KEY, ROW, SECONDS, SEED, schema_of
from thatch.experiments.trials import Row, Simulation, Trial

__all__ = ["ERROR", "Attempts", "attempt_schema", "attempted"]

ERROR = "error"


def attempt_schema(simulation: Simulation) -> pa.Schema:
    """The columns of results, and `error`: a trial that failed has one row with nothing but its key and the reason."""
    return schema_of(simulation).append(pa.field(ERROR, pa.string()))


def attempted(simulation: Simulation, trial: Trial) -> list[dict[str, Any]]:
    """The rows of a trial, or one that tells why it failed."""
    start = time.process_time()
    try:
        found = simulation.trial(dict(trial.parameters), trial.seed)
        _check(simulation, found)
    except Exception as error:  # noqa: BLE001 - a trial may fail in any way; the others go on
        return [{KEY: trial.key, ERROR: f"{type(error).__name__}: {error}"}]
    spent = time.process_time() - start
    told = {KEY: trial.key, SEED: trial.seed, SECONDS: spent, **dict(trial.parameters)}
    return [{**told, ROW: number, **row} for number, row in enumerate(found)]


def _check(simulation: Simulation, rows: Sequence[Row]) -> None:
    expected = set(simulation.results)
    if not rows:
        raise ParameterError("a row or more", "none", simulation.name)
    for row in rows:
        if set(row) != expected:
            raise ParameterError(f"results {sorted(expected)}", shown(sorted(row)), simulation.name)


@dataclass(frozen=True, slots=True)
class Attempts:
    """Batches of keys to batches of rows, for `mapInArrow`."""

    simulation: Simulation

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        schema = attempt_schema(self.simulation)
        for batch in batches:
            trials = map(Trial.of, batch.column(KEY).to_pylist())
            rows = [row for trial in trials for row in attempted(self.simulation, trial)]
            yield pa.RecordBatch.from_pylist(rows, schema)
