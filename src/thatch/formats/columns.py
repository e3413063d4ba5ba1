"""CSV and Parquet files as Arrow tables.

Rows are counted from 0; in CSV neither the header nor empty lines count. A CSV column has the first of these types that
holds all its values: whole numbers, numbers, booleans, text. An empty field is null. Values that look like codes stay
text: numbers with leading zeros (`01234`), hexadecimal ones (`0x1F`), and whole ones of more than 64 bits, which a double
would round. So do dates.
"""

from __future__ import annotations

import codecs
import csv
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pyarrow.types as pt

from thatch.errors import TableError, shown
from thatch.formats.files import Reject, content_of, kind_of
from thatch.model.values import is_text

__all__ = ["infer_types", "parse_csv", "read_csv", "read_parquet", "read_table"]

_LARGEST_BLOCK = 2**31 - 1
_CODE = r"^[+-]?0[0-9xX]"
_MANY_DIGITS = r"^[+-]?[0-9]{19,}$"


def read_table(path: str, reject: Reject, *, typed: bool = False) -> tuple[pa.Table, list[int]]:
    """A CSV or Parquet file, and the row number of each row of the table; `typed` infers the types of CSV columns."""
    if kind_of(path) == "parquet":
        return read_parquet(path, reject)
    table, rows = read_csv(path, reject)
    return infer_types(table) if typed else table, rows


def read_parquet(path: str, reject: Reject) -> tuple[pa.Table, list[int]]:
    """A Parquet file without rows whose text is not UTF-8, and the row number of each row of the table."""
    if not Path(path).exists():  # Arrow's own error says only the path
        raise TableError("Cannot read the file: No such file or directory", where=path)
    try:
        table = pq.read_table(path)
        names = [
            field.name for field in table.schema if pt.is_string(field.type) or pt.is_large_string(field.type)
        ]
        table, rows = _with_good_text(table, names, list(range(table.num_rows)), reject)
        table.validate(full=True)  # also text inside lists and objects, which writers need not check
    except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
        raise TableError(f"Not a Parquet file: {error}", where=path) from error
    return table, rows


def read_csv(path: str, reject: Reject) -> tuple[pa.Table, list[int]]:
    """A CSV file with every column as text, and the row number of each row of the table.

    Rows with the wrong number of fields, or that are not UTF-8, are rejected.
    """
    return parse_csv(content_of(path), path, reject)


def parse_csv(content: bytes, path: str, reject: Reject) -> tuple[pa.Table, list[int]]:
    """Parse the content of a CSV file; see `read_csv`."""
    names = _header(content, path)
    if _is_utf8(content):
        table, rows = _parsed(content, names, path, reject)
    else:
        table, rows = _parsed_in_latin1(content, names, path, reject)
    table, rows = _with_good_text(table, names, rows, reject)
    return table.cast(pa.schema([(name, pa.string()) for name in names])), rows


def _parsed(content: bytes, names: list[str], path: str, reject: Reject) -> tuple[pa.Table, list[int]]:
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
                column_types=dict.fromkeys(names, pa.binary()), strings_can_be_null=True, null_values=[""]
            ),
        )
    except pa.ArrowException as error:
        raise TableError(f"Not a CSV file: {error}", where=path) from error
    for number, reason in skipped.items():
        reject(number, reason)
    return table, [row for row in range(table.num_rows + len(skipped)) if row not in skipped]


def _parsed_in_latin1(
    content: bytes, names: list[str], path: str, reject: Reject
) -> tuple[pa.Table, list[int]]:
    """The same for bytes that are not UTF-8, in which Arrow cannot report a row with the wrong number of fields."""
    recoded = content.removeprefix(codecs.BOM_UTF8).decode("latin-1").encode()
    table, rows = _parsed(recoded, [name.encode().decode("latin-1") for name in names], path, reject)
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
    bad = next((name for name in names if not is_text(name) or names.count(name) > 1), None)
    if bad is not None:
        raise TableError("unique column names in UTF-8", shown(bad), path)
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


def infer_types(table: pa.Table) -> pa.Table:
    """A table of texts with each column in the narrowest type that holds all its values."""
    return pa.table({name: _typed(table.column(name)) for name in table.column_names})


def _typed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if _some(column, _CODE):
        return column
    for kind in (pa.int64(), pa.float64(), pa.bool_()):
        if kind == pa.float64() and _some(column, _MANY_DIGITS):
            return column
        try:
            return pc.cast(column, kind)
        except pa.ArrowInvalid:
            continue
    return column


def _some(column: pa.ChunkedArray, expression: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(column, expression)).as_py())
