"""CSV and Parquet files as Arrow tables.

A CSV column is of whole numbers, numbers, booleans or else text, whichever holds all its values; an empty field
is null. Numbers with leading zeros (`01234`) are codes and stay text, and so do dates.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from thatch.errors import TableError

__all__ = ["read_csv", "read_parquet", "typed"]

Reject = Callable[[int, str], None]


def read_parquet(path: str) -> pa.Table:
    """A Parquet file, whole."""
    try:
        return pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise TableError("a Parquet file", str(error), path) from error


def read_csv(path: str, reject: Reject) -> tuple[pa.Table, list[int]]:
    """A CSV file with every column as text, and the row number of each line that is in it.

    Parameters
    ----------
    reject : called with row number and reason for each line with the wrong number of fields
    """
    skipped: list[int] = []

    def handle(row: arrow_csv.InvalidRow) -> str:
        # With one thread rows come in order; the first line of the file is the header.
        number = row.number - 2 if row.number is not None else -1
        skipped.append(number)
        reject(number, f"Expected {row.expected_columns} fields, got {row.actual_columns}")
        return "skip"

    try:
        content = (
            gzip.decompress(Path(path).read_bytes()) if path.endswith(".gz") else Path(path).read_bytes()
        )
        names = arrow_csv.open_csv(io.BytesIO(content), parse_options=_options(handle)).schema.names
        skipped.clear()
        table = arrow_csv.read_csv(
            io.BytesIO(content),
            read_options=arrow_csv.ReadOptions(use_threads=False),
            parse_options=_options(handle),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True, null_values=[""]
            ),
        )
    except (OSError, EOFError, pa.ArrowException) as error:
        raise TableError("a CSV file", str(error), path) from error
    left_out = set(skipped)
    rows = [row for row in range(table.num_rows + len(left_out)) if row not in left_out]
    return table, rows


def _options(handle: Callable[[arrow_csv.InvalidRow], str]) -> arrow_csv.ParseOptions:
    return arrow_csv.ParseOptions(invalid_row_handler=handle, newlines_in_values=True)


def typed(table: pa.Table) -> pa.Table:
    """A table of texts with each column in the narrowest type that holds all its values."""
    return pa.table({name: _typed(table.column(name)) for name in table.column_names})


def _typed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pc.any(pc.match_substring_regex(column, r"^[+-]?0\d")).as_py():
        return column
    for kind in (pa.int64(), pa.float64(), pa.bool_()):
        try:
            return pc.cast(column, kind)
        except pa.ArrowInvalid:
            continue
    return column
