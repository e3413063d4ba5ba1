"""Events in files: JSON lines as they come, CSV and Parquet row by row. Bad rows are rejects, never fatal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from thatch.engine.tables import event_rows
from thatch.formats.columns import read_table
from thatch.formats.files import Reject, kind_of, read_lines

__all__ = ["read_events"]


def read_events(path: str, reject: Reject, *, nulls: str = "missing") -> Iterator[tuple[int, dict[str, Any]]]:
    """The events of a file with their row numbers, one by one.

    Raises `TableError` if the file cannot be read at all.

    Parameters
    ----------
    path : a file ending in `.jsonl`, `.csv` or `.parquet`, or `-` for JSON lines on standard input
    reject : called with row number and reason for each row that is not an event
    nulls : for CSV and Parquet, whether an empty field means "missing" or "null"
    """
    if kind_of(path) == "jsonl":
        yield from read_lines(path, reject)
        return
    table, rows = read_table(path, reject, typed=True)
    yield from zip(rows, event_rows(table, nulls=nulls, json_column=None), strict=True)
