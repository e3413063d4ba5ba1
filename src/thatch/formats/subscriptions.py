"""Subscriptions in files: `subscription`, `filter`, and optionally `subscriber` and `expires`.

JSON lines hold an object per line, in which the filter may be text or a JSON pattern; CSV and Parquet hold columns. A row
that cannot be read is a reject, reported with the reason. Filters are parsed by the user of the table, but for those in
other languages (`formats.rules`).
A folder that `thatch load` wrote is read without Spark, with the schema that its subscriptions were loaded with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from thatch.errors import TableError, shown
from thatch.formats.cells import without_words
from thatch.formats.columns import read_parquet, read_table
from thatch.formats.files import Reject, Rejects, kind_of, read_lines
from thatch.formats.folders import MANIFEST, read_manifest
from thatch.formats.reading import Reading
from thatch.model.filters import Filter
from thatch.model.schema import Schema
from thatch.model.values import is_text

__all__ = [
    "SUBSCRIPTIONS",
    "SubscriptionFile",
    "fields_of",
    "from_columns",
    "is_loaded",
    "loaded_schema",
    "read_loaded",
    "read_subscriptions",
]

_COLUMNS = ("subscription", "subscriber", "filter", "expires")
_REQUIRED = ("subscription", "filter")
_TYPES = {
    "subscription": pa.string(),
    "subscriber": pa.string(),
    "filter": pa.string(),
    "expires": pa.float64(),
}
SUBSCRIPTIONS = "subscriptions"  # the table of the good ones


@dataclass(frozen=True, slots=True)
class SubscriptionFile:
    """A table of subscriptions, the row in the file of each of its rows, and the rejected rows.

    Parameters
    ----------
    filters : the filter of each row, if they came in another language; the table then has them as Thatch's text only
        after `with_texts`
    files : the file of each row that is a rule in one of many files
    """

    table: pa.Table
    rows: list[int]
    rejects: list[tuple[int, str]]
    filters: list[Filter] | None = None
    files: Mapping[int, str] = field(default_factory=dict)

    def place(self, row: int) -> str:
        """What a row is called in messages: its file, or its number."""
        return self.files.get(row) or f"row {row}"

    def with_texts(self) -> SubscriptionFile:
        """The same with all filters as Thatch's own text."""
        if self.filters is None:
            return self
        texts = pa.array(map(str, self.filters), pa.string())
        place = self.table.column_names.index("filter")
        return SubscriptionFile(self.table.set_column(place, "filter", texts), self.rows, self.rejects)


def read_subscriptions(path: str, reading: Reading | None = None) -> SubscriptionFile:
    """The subscriptions of a file ending in `.jsonl`, `.csv` or `.parquet`, whose filters are not parsed.

    Raises `TableError` if the file cannot be read at all or lacks a column; single bad rows are rejects.
    """
    rejects = Rejects()
    if kind_of(path) == "jsonl":
        table, rows = _from_lines(path, rejects, reading)
    else:
        table, rows = from_columns(*read_table(path, rejects, reading), path, rejects)
    return SubscriptionFile(table, rows, sorted(rejects))


def from_columns(table: pa.Table, rows: list[int], path: str, reject: Reject) -> tuple[pa.Table, list[int]]:
    """The columns of subscriptions in a table, without rows whose `expires` is invalid, and the remaining row numbers."""
    missing = [name for name in _REQUIRED if name not in table.column_names]
    if missing:
        raise TableError(f"a column `{missing[0]}`", ", ".join(table.column_names), path)
    table = table.select([name for name in _COLUMNS if name in table.column_names])
    if "expires" not in table.column_names:
        return table, rows
    seconds, bad = _seconds(table.column("expires"), f"{path}, column `expires`")
    for index, value in bad.items():
        reject(rows[index], f"Expected seconds since 1970 as `expires`, got {shown(value)}")
    table = table.set_column(table.column_names.index("expires"), "expires", seconds)
    kept = [index for index in range(table.num_rows) if index not in bad]
    return table.take(pa.array(kept, pa.int64())), [rows[index] for index in kept]


def _seconds(column: pa.ChunkedArray, where: str) -> tuple[pa.ChunkedArray, dict[int, Any]]:
    """A column of moments in seconds since 1970, and the invalid values by index."""
    if pt.is_timestamp(column.type):
        microseconds = column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64())
        return pc.divide(microseconds.cast(pa.float64(), safe=False), 1e6), {}
    if pt.is_string(column.type):
        column = without_words(column)
    try:
        return column.cast(pa.float64()), {}
    except pa.ArrowNotImplementedError as error:
        raise TableError("seconds since 1970", str(column.type), where) from error
    except pa.ArrowInvalid:
        values = column.to_pylist()
    bad = {index: value for index, value in enumerate(values) if _is_no_number(value)}
    good = [None if index in bad else value for index, value in enumerate(values)]
    return pa.chunked_array([pa.array(good, column.type).cast(pa.float64())]), bad


def _is_no_number(value: Any) -> bool:
    try:
        pa.scalar(value).cast(pa.float64())
    except pa.ArrowInvalid:
        return True
    return False


def _from_lines(path: str, reject: Reject, reading: Reading | None) -> tuple[pa.Table, list[int]]:
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    rows: list[int] = []
    for row, read in read_lines(path, reject, reading):
        try:
            fields = fields_of(read)
        except ValueError as error:
            reject(row, str(error))
            continue
        rows.append(row)
        for name in _COLUMNS:
            columns[name].append(fields.get(name))
    return pa.table({name: pa.array(values, _TYPES[name]) for name, values in columns.items()}), rows


def fields_of(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a subscription, with the checks that a column of a table would get."""
    fields = dict(fields)
    if isinstance(fields.get("filter"), dict):
        fields["filter"] = _json_text(fields["filter"])
    for name in ("subscription", "subscriber", "filter"):
        value = fields.get(name)
        if value is None and name not in _REQUIRED:
            continue
        if not isinstance(value, str) or not is_text(value):
            raise ValueError(f"Expected text as `{name}`, got {shown(value)}")
    if fields.get("expires") is not None:
        fields["expires"] = _moment(fields["expires"])
    return fields


def _json_text(pattern: dict[str, Any]) -> str:
    try:
        return json.dumps(pattern)
    except RecursionError:
        raise ValueError("The `filter` is nested too deeply") from None


def _moment(value: Any) -> float:
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
    except OverflowError:  # an integer past every double
        pass
    raise ValueError(f"Expected seconds since 1970 as `expires`, got {shown(value)}")


def is_loaded(path: str) -> bool:
    """Whether this is a folder that a command wrote."""
    return (Path(path) / MANIFEST).is_file()


def loaded_schema(path: str, schema: Schema | None) -> Schema | None:
    """The schema of a folder of `thatch load`.

    Raises `TableError` if another command wrote the folder, or another schema is given.
    """
    if schema is not None:
        raise TableError("Loaded subscriptions have their own schema; do not give another", where=path)
    described = _read_manifest(path)["parameters"].get("schema")
    return None if described is None else Schema.from_description(described)


def _read_manifest(path: str) -> dict[str, Any]:
    """The manifest of a folder of `thatch load`, after checking that its files are those that were written."""
    folder = Path(path)
    manifest = read_manifest(folder, "load")
    for each in (*folder.glob("*.thatch"), *(folder / SUBSCRIPTIONS).glob("[!._]*")):
        name = each.relative_to(folder).as_posix()
        if name not in manifest["files"]:
            raise TableError(f"The manifest does not name {shown(name)}", where=path)
    return manifest


def read_loaded(path: str) -> SubscriptionFile:
    """The subscriptions of a folder of `thatch load`, in their order; raises `TableError` if it was changed."""
    _read_manifest(path)
    rejects = Rejects()
    table = read_parquet(str(Path(path) / SUBSCRIPTIONS), rejects)[0].sort_by("row")
    rows = table.column("row").to_pylist()
    return SubscriptionFile(*from_columns(table, rows, path, rejects), rejects)
