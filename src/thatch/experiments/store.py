"""Stores results: a folder of Parquet files for each simulation.

Files are only added, and each is complete when it appears: an interrupted run keeps the trials that it finished.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from thatch.errors import TableError
from thatch.experiments.results import Results
from thatch.experiments.trials import Grid, Simulation, Trial
from thatch.outputs import new_file

__all__ = ["KEY", "ROW", "SECONDS", "SEED", "ResultStore", "schema_of"]

KEY, SEED, ROW, SECONDS = "trial", "seed", "row", "seconds"
_VERSION = b"thatch.version"
_TYPES: dict[type, pa.DataType] = {int: pa.int64(), float: pa.float64(), str: pa.string(), bool: pa.bool_()}


def schema_of(simulation: Simulation) -> pa.Schema:
    """The columns of a simulation's results.

    `trial` is the key of the trial, `row` numbers its rows, `seconds` is the processor time it took; the parameters and
    results follow.
    """
    columns = [(KEY, pa.string()), (SEED, pa.int64()), (ROW, pa.int64()), (SECONDS, pa.float64())]
    more = {**simulation.parameters, **simulation.results}
    return pa.schema([*columns, *((name, _TYPES[kind]) for name, kind in more.items())])


class ResultStore:
    """The results of one simulation.

    Parameters
    ----------
    folder : the folder of all results; each simulation has a folder of its own in it
    """

    def __init__(self, folder: str | Path, simulation: Simulation) -> None:
        self._folder = Path(folder, simulation.name)
        self._simulation = simulation
        version = {_VERSION: str(simulation.version).encode()}
        self._schema = schema_of(simulation).with_metadata(version)

    def add(self, rows: pa.Table) -> None:
        """Store the rows of some finished trials, all of them or none."""
        if not rows.num_rows:
            return
        with new_file(self._folder / f"{uuid4().hex}.parquet", part="results") as file:
            pq.write_table(rows.cast(self._schema).replace_schema_metadata(self._schema.metadata), file)

    def finished_trials(self) -> set[Trial]:
        """All trials whose results are stored."""
        tables = (self._read(path, [KEY]) for path in self._files())
        return {Trial.of(key) for table in tables for key in table.column(KEY).unique().to_pylist()}

    def missing_trials(self, grid: Grid) -> list[Trial]:
        """The unfinished trials of a grid."""
        finished = self.finished_trials()
        return [trial for trial in grid if trial not in finished]

    def results(self, grid: Grid) -> Results:
        """The rows of the finished trials of a grid, each trial once."""
        table = pa.concat_tables([self._schema.empty_table(), *(self._read(path) for path in self._files())])
        keys = table.column(KEY).to_pylist()
        wanted = {key for key in set(keys) if Trial.of(key) in grid}
        # Two simultaneous runs may both have stored a trial: take its last rows.
        pairs = zip(keys, table.column(ROW).to_pylist(), strict=True)
        last = {pair: number for number, pair in enumerate(pairs)}
        rows = [number for (key, _), number in sorted(last.items()) if key in wanted]
        return Results(table.take(pa.array(rows, pa.int64())), trials=len(grid), done=len(wanted))

    def _files(self) -> Iterator[Path]:
        """The files of this version of the simulation."""
        for path in sorted(self._folder.glob("[!.]*.parquet")):
            if (self._metadata(path) or {}).get(_VERSION) == self._schema.metadata[_VERSION]:
                yield path

    def _metadata(self, path: Path) -> dict[bytes, bytes] | None:
        try:
            return pq.read_schema(path).metadata  # type: ignore[no-any-return]  # pyarrow has no types
        except (pa.ArrowInvalid, OSError) as error:
            raise self._damaged(path, error) from error

    def _read(self, path: Path, columns: Iterable[str] | None = None) -> pa.Table:
        names = list(columns or self._schema.names)
        try:
            table = pq.read_table(path, columns=names)
            return table.cast(pa.schema([self._schema.field(name) for name in names], self._schema.metadata))
        except (pa.ArrowInvalid, pa.ArrowTypeError, ValueError, OSError) as error:
            raise self._damaged(path, error) from error

    def _damaged(self, path: Path, error: Exception) -> TableError:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        return TableError(f"results of {self._simulation.name} as Parquet", reason, str(path))
