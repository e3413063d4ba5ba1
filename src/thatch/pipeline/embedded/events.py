"""Read event logs in this process, as tables, with the numbers and types that Spark's readers give."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
import pyarrow as pa

from thatch.engine.pruning import left_out, prune_table
from thatch.formats.columns import Tell, infer_types, read_table
from thatch.formats.files import Rejects, kind_of, open_text
from thatch.formats.reading import Reading
from thatch.pipeline.embedded.files import find_local_files, size_of
from thatch.pipeline.embedded.work import ROWS_AT_ONCE
from thatch.pipeline.transforms.profiling.profile import SAMPLE_SEED

__all__ = ["LocalEvents"]

_LINE = "line"
_BYTES = 150  # of a line, when nothing is known


@dataclass(frozen=True)
class LocalEvents:
    """The events of a file, a folder of files or a glob, or a random share of them, always the same."""

    path: str
    fraction: float = 1.0
    reading: Reading | None = None
    tell: Tell = warnings.warn  # is called with each remark on a column of CSV files

    @cached_property
    def names(self) -> list[str]:
        """The files in order."""
        return find_local_files(self.path)

    @property
    def json(self) -> str | None:
        """The column that holds each event as JSON text; None if each attribute has its column."""
        return _LINE if kind_of(self.names[0]) == "jsonl" else None

    def size(self) -> int:
        """How many rows there are, about: JSON lines are not counted before they are read."""
        return size_of(self.names) // _BYTES if self.json else self._columns[0].num_rows

    def rejects(self) -> Rejects:
        """The rows of files that are no rows of a table; lines that hold no event are not among them."""
        return Rejects() if self.json else self._columns[1]

    def tables(self) -> Iterator[pa.Table]:
        """All events, some at a time."""
        rng = np.random.default_rng(SAMPLE_SEED)
        for table in self._lines() if self.json else _slices(self._columns[0]):
            yield (
                table.filter(pa.array(rng.random(table.num_rows) < self.fraction))
                if self.fraction < 1
                else table
            )

    def _lines(self) -> Iterator[pa.Table]:
        for name in self.names:
            with open_text(name, self.reading) as stream:
                while lines := list(islice(stream, ROWS_AT_ONCE)):
                    texts = [
                        each.removesuffix("\n").encode("utf-8", "surrogateescape")
                        for each in lines
                        if each.strip()
                    ]
                    # What is not UTF-8 is told by whoever reads the JSON.
                    yield pa.table({_LINE: pa.array(texts, pa.binary()).view(pa.string())})

    @cached_property
    def _columns(self) -> tuple[pa.Table, Rejects]:
        rejects = Rejects()
        tables: list[pa.Table] = []
        numbers: list[int] = []
        for name in self.names:
            first = len(numbers) + len(rejects)
            each, rows = read_table(name, rejects, self.reading)
            tables.append(each)
            numbers += [first + row for row in rows]
        table = pa.concat_tables(tables, promote_options="default")
        for remark in left_out(table):
            self.tell(f"{self.path}, {remark}")
        table = prune_table(table, None)
        if kind_of(self.names[0]) == "csv":
            table = infer_types(table, numbers, self.reading, path=self.path, tell=self.tell)
        return table, rejects


def _slices(table: pa.Table) -> Iterator[pa.Table]:
    for start in range(0, table.num_rows, ROWS_AT_ONCE):
        yield table.slice(start, ROWS_AT_ONCE)
