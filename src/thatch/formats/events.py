"""Events in files: JSON lines as they come, CSV and Parquet row by row. Bad rows are rejects, never fatal."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from typing import Any

from thatch.engine.pruning import left_out, prune_table
from thatch.engine.tables import event_rows
from thatch.errors import TableError
from thatch.formats.columns import Tell, read_table
from thatch.formats.files import Reject, kind_of, read_lines
from thatch.formats.live import Live
from thatch.formats.reading import Reading

__all__ = ["read_events"]


def read_events(
    path: str,
    reject: Reject,
    *,
    nulls: str = "missing",
    reading: Reading | None = None,
    tell: Tell | None = None,
    live: Live | None = None,
    names: Collection[str] | None = None,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The events of a file with their row numbers, one by one.

    Raises `TableError` if the file cannot be read at all.

    Parameters
    ----------
    path : a file ending in `.jsonl`, `.csv` or `.parquet`, or `-` for JSON lines on standard input
    reject : called with row number and reason for each row that is not an event
    nulls : for CSV and Parquet, whether an empty field means "missing" or "null"
    reading : encoding, missing values and declared types of CSV, limits
    tell : called with each remark on a column of a CSV file, such as one of numbers in which some cells are none
    live : what to do while lines of standard input, or of a file that is followed, are not there yet
    names : the attributes that are asked for (`Engine.attributes`); columns of CSV and Parquet that hold none of them are
        left out, and may have any type. Without it columns of types that events cannot have are left out
    """
    if kind_of(path) == "jsonl":
        yield from read_lines(path, reject, reading, live)
        return
    if live is not None and live.follow:
        raise TableError("a file of JSON lines to follow", path)
    tell = tell or _warn
    table, rows = read_table(path, reject, reading, tell=tell, names=names)
    for remark in left_out(table) if names is None else ():
        tell(f"{path}, {remark}")
    events = prune_table(table, names)
    yield from zip(rows, event_rows(events, nulls=nulls, json_column=None), strict=True)


def _warn(remark: str) -> None:
    warnings.warn(remark, UserWarning, stacklevel=2)
