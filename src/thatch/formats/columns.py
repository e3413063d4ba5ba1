"""CSV and Parquet files as Arrow tables.

Rows are counted from 0; in CSV neither the header nor empty lines count. An empty field is null; `cells` has the types of
CSV columns.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pyarrow.types as pt

from thatch.errors import TableError, shown
from thatch.formats.cells import column_remarks, kind_of_column, survey_column, typed_column
from thatch.formats.files import Reject, content_of, kind_of
from thatch.formats.reading import PAGE, Reading
from thatch.model.names import holds_named
from thatch.model.values import is_text

__all__ = ["Tell", "infer_types", "parse_csv", "read_csv", "read_parquet", "read_table"]

_LARGEST_BLOCK = 2**31 - 1
_CELL = 8  # bytes of a value in memory, about
Tell = Callable[[str], None]  # called with a remark for people


def read_table(
    path: str,
    reject: Reject,
    reading: Reading | None = None,
    *,
    tell: Tell | None = None,
    names: Collection[str] | None = None,
) -> tuple[pa.Table, list[int]]:
    """A CSV or Parquet file, and the row number of each row of the table.

    CSV columns are texts, unless somebody listens to remarks about their types. Columns that hold none of the attributes
    `names` are left out.
    """
    if kind_of(path) == "parquet":
        return read_parquet(path, reject, reading, names)
    table, rows = read_csv(path, reject, reading)
    if names is not None:
        table = table.select([name for name in table.column_names if holds_named(name, names)])
    return table if tell is None else infer_types(table, rows, reading, path=path, tell=tell), rows


def read_parquet(
    path: str, reject: Reject, reading: Reading | None = None, names: Collection[str] | None = None
) -> tuple[pa.Table, list[int]]:
    """A Parquet file without rows whose text is not UTF-8, and the row number of each row of the table.

    Columns that hold none of the attributes `names` are not read.
    """
    if not Path(path).exists():  # Arrow's own error says only the path
        raise TableError("Cannot read the file: No such file or directory", where=path)
    try:
        data = pq.ParquetDataset(path)
        columns = [name for name in data.schema.names if names is None or holds_named(name, names)]
        rows_told = _check_size(data.fragments, columns, path, reading or Reading())
        table = data.read(columns=None if names is None else columns)
        if table.num_rows != rows_told:
            raise TableError(f"{rows_told:,} rows, as the footer says", f"{table.num_rows:,}", path)
        texts = [
            field.name for field in table.schema if pt.is_string(field.type) or pt.is_large_string(field.type)
        ]
        table, rows = _with_good_text(table, texts, list(range(table.num_rows)), reject)
        table.validate(full=True)  # also text inside lists and objects, which writers need not check
    except (OSError, UnicodeDecodeError, MemoryError, pa.ArrowException) as error:
        raise TableError(f"Not a Parquet file: {error}", where=path) from error
    return table, rows


def _check_size(fragments: list[Any], columns: list[str], path: str, reading: Reading) -> int:
    """How many rows files say they have; refuse those that say they are larger than the limit, truly or not."""
    files = [fragment.metadata for fragment in fragments]
    rows: int = sum(each.num_rows for each in files)
    # Not by column: Arrow does not survive to be asked for a column that a damaged footer lacks.
    groups = [each.row_group(number) for each in files for number in range(each.num_row_groups)]
    packed = sum(each.total_byte_size for each in groups)
    size = max(packed, rows * len(columns) * _CELL)  # a value that repeats takes next to nothing in a file
    most = reading.most_unpacked(sum(Path(fragment.path).stat().st_size for fragment in fragments))
    if size > most:
        expected = f"at most {most:,} bytes when unpacked (`--max-unpacked`, {PAGE})"
        raise TableError(expected, f"{size:,}", path)
    return rows


def read_csv(path: str, reject: Reject, reading: Reading | None = None) -> tuple[pa.Table, list[int]]:
    """A CSV file with every column as text, and the row number of each row of the table.

    Rows with the wrong number of fields, or that are not UTF-8, are rejected.
    """
    return parse_csv(content_of(path, reading), path, reject, reading)


def parse_csv(
    content: bytes, path: str, reject: Reject, reading: Reading | None = None
) -> tuple[pa.Table, list[int]]:
    """Parse the content of a CSV file; see `read_csv`."""
    names = _header(content, path)
    nulls = ["", *((reading and reading.missing) or ())]
    if _is_utf8(content):
        table, rows = _parsed(content, names, path, reject, nulls)
    else:
        table, rows = _parsed_in_latin1(content, names, path, reject, nulls)
    table, rows = _with_good_text(table, names, rows, reject)
    return table.cast(pa.schema([(name, pa.string()) for name in names])), rows


def _parsed(
    content: bytes, names: list[str], path: str, reject: Reject, nulls: list[str]
) -> tuple[pa.Table, list[int]]:
    """Rows with the right number of fields, as bytes."""
    skipped: dict[int, str] = {}

    def handle(row: arrow_csv.InvalidRow) -> str:
        number = row.number - 2  # rows come in order, from one thread; number 1 is the header
        skipped[number] = f"Expected {row.expected_columns} fields, got {row.actual_columns}"
        return "skip"

    try:
        table = arrow_csv.read_csv(
            io.BytesIO(content if content.endswith(b"\n") else content + b"\n"),
            # One block, since a row that does not fit into a block fails the whole file.
            read_options=arrow_csv.ReadOptions(
                use_threads=False, block_size=min(len(content) + 1, _LARGEST_BLOCK)
            ),
            parse_options=arrow_csv.ParseOptions(invalid_row_handler=handle, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.binary()), strings_can_be_null=True, null_values=nulls
            ),
        )
    except pa.ArrowException as error:
        raise TableError(f"Not a CSV file: {error}", where=path) from error
    for number, reason in skipped.items():
        reject(number, reason)
    return table, [row for row in range(table.num_rows + len(skipped)) if row not in skipped]


def _parsed_in_latin1(
    content: bytes, names: list[str], path: str, reject: Reject, nulls: list[str]
) -> tuple[pa.Table, list[int]]:
    """The same for bytes that are not UTF-8, in which Arrow cannot report a row with the wrong number of fields."""
    recoded = content.removeprefix(codecs.BOM_UTF8).decode("latin-1").encode()
    recoded_nulls = [each.encode().decode("latin-1") for each in nulls]
    recoded_names = [name.encode().decode("latin-1") for name in names]
    table, rows = _parsed(recoded, recoded_names, path, reject, recoded_nulls)
    columns = [
        pa.array([each and each.decode().encode("latin-1") for each in column.to_pylist()], pa.binary())
        for column in table.columns
    ]
    return pa.table(columns, names=names), rows


def _header(content: bytes, path: str) -> list[str]:
    """The names of the columns."""
    text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", errors="surrogateescape", newline="")
    try:
        names = next((row for row in csv.reader(text) if row), None)
    except csv.Error as error:
        raise TableError(f"Not a CSV file: {error}", where=path) from error
    if names is None:
        raise TableError("The CSV file is empty; its first line must name the columns", where=path)
    bad = next((name for name in names if not is_text(name) or "\0" in name or names.count(name) > 1), None)
    if bad is not None:
        expected = f"unique column names in UTF-8 (or another `--encoding`, {PAGE})"
        raise TableError(expected, shown(bad), path)
    return names


def _with_good_text(
    table: pa.Table, names: list[str], rows: list[int], reject: Reject
) -> tuple[pa.Table, list[int]]:
    """The table and its row numbers, without rows that have text which is not UTF-8."""
    bad = {index: name for name in names for index in _not_utf8(table.column(name))}
    for index in sorted(bad):
        reject(rows[index], f"Expected UTF-8 text in column `{bad[index]}`")
    if not bad:
        return table, rows
    kept = [index for index in range(table.num_rows) if index not in bad]
    return table.take(pa.array(kept, pa.int64())), [rows[index] for index in kept]


def _not_utf8(column: pa.ChunkedArray) -> list[int]:
    """The rows of a text column that are not UTF-8."""
    content = column.cast(pa.large_binary())
    try:
        content.cast(pa.large_string())
    except pa.ArrowInvalid:
        return [index for index, value in enumerate(content.to_pylist()) if not _is_utf8(value)]
    return []


def _is_utf8(value: bytes | None) -> bool:
    try:
        (value or b"").decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def infer_types(
    table: pa.Table,
    rows: list[int],
    reading: Reading | None = None,
    *,
    path: str,
    tell: Tell,
) -> pa.Table:
    """A table of texts with each column in its type; `tell` gets remarks on cells that are not read as they may be meant."""
    reading = reading or Reading()
    named = list(zip(table.column_names, table.columns, strict=True))
    counts = {name: survey_column(name, column, rows, reading) for name, column in named}
    for remark in column_remarks(counts, reading, path):
        tell(remark)
    return pa.table(
        {
            name: typed_column(name, column, kind_of_column(name, counts[name], reading), reading)
            for name, column in named
        }
    )
