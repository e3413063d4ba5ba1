"""Events in files: JSON lines as they come, CSV and Parquet row by row. Bad rows are rejects, never fatal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from thatch.engine.tables import event_rows
from thatch.errors import shown
from thatch.formats.columns import read_csv, read_parquet, typed
from thatch.formats.files import kind_of, opened

__all__ = ["read_events"]

Reject = Callable[[int, str], None]


def read_events(path: str, reject: Reject, *, nulls: str = "missing") -> Iterator[tuple[int, dict[str, Any]]]:
    """The events of a file with their row numbers, one by one.

    Parameters
    ----------
    path : a file ending in `.jsonl`, `.csv` or `.parquet`, or `-` for JSON lines on standard input
    reject : called with row number and reason for each row that is not an event
    nulls : for CSV and Parquet, whether an empty field means "missing" or "null"
    """
    kind = kind_of(path)
    if kind == "jsonl":
        yield from _from_lines(path, reject)
        return
    if kind == "csv":
        table, rows = read_csv(path, reject)
        table = typed(table)
    else:
        table = read_parquet(path)
        rows = list(range(table.num_rows))
    yield from zip(rows, event_rows(table, nulls=nulls, json_column=None), strict=True)


def _from_lines(path: str, reject: Reject) -> Iterator[tuple[int, dict[str, Any]]]:
    with opened(path) as stream:
        for row, line in enumerate(stream):
            if not line.strip():
                continue
            try:
                event = json.loads(line)
            except (ValueError, RecursionError) as error:
                reject(row, f"Expected JSON, got {shown(line)} ({error})")
                continue
            if isinstance(event, dict):
                yield row, event
            else:
                reject(row, f"Expected a JSON object, got {shown(line)}")
