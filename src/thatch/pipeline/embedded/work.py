"""How much of a job in this process is done."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from thatch.pipeline.adapter import Progress

__all__ = ["ROWS_AT_ONCE", "JobWork"]

ROWS_AT_ONCE = 2_000  # between two reports of progress


class JobWork:
    """Rows that a job has handled, of all that it knows it will; a row counts once for each pass."""

    def __init__(self, report: Progress | None) -> None:
        self._report = report
        self._done = self._known = 0

    def expect(self, rows: int) -> None:
        """There is more to do."""
        self._known += rows
        self.step(0)

    def step(self, rows: int) -> None:
        """Some is done."""
        self._done += rows
        if self._report is not None:
            self._report(self._done, self._known)

    def over(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        """The batches of a table, each counted when the next is asked for; `expect` must have announced them."""
        for batch in table.to_batches(ROWS_AT_ONCE):
            yield batch
            self.step(batch.num_rows)
