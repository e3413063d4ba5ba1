"""Subscriptions in files: `subscription`, `filter`, and if there are any `subscriber` and `expires`.

JSON lines hold an object a line, in which the filter may be text or a JSON pattern; CSV and Parquet hold columns.
What cannot be read is a reject with its row and the reason; filters are parsed by whoever takes the table.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from thatch.errors import TableError, shown
from thatch.formats.columns import read_csv, read_parquet
from thatch.formats.files import kind_of, opened

__all__ = ["Subscriptions", "read_subscriptions"]

_COLUMNS = ("subscription", "subscriber", "filter", "expires")
_REQUIRED = ("subscription", "filter")
_TYPES = {
    "subscription": pa.string(),
    "subscriber": pa.string(),
    "filter": pa.string(),
    "expires": pa.float64(),
}


@dataclass(frozen=True, slots=True)
class Subscriptions:
    """A table of subscriptions, the row in the file that each of its rows came from, and the rejected rows."""

    table: pa.Table
    rows: list[int]
    rejects: list[tuple[int, str]]


def read_subscriptions(path: str) -> Subscriptions:
    """The subscriptions of a file ending in `.jsonl`, `.csv` or `.parquet`.

    Raises
    ------
    TableError
        If the file cannot be read at all or lacks a column; single bad rows are rejects.
    """
    kind = kind_of(path)
    rejects: list[tuple[int, str]] = []
    if kind == "jsonl":
        return _from_lines(path, rejects)
    if kind == "csv":
        table, rows = read_csv(path, lambda row, reason: rejects.append((row, reason)))
    else:
        table = read_parquet(path)
        rows = list(range(table.num_rows))
    missing = [name for name in _REQUIRED if name not in table.column_names]
    if missing:
        raise TableError(f"a column `{missing[0]}`", ", ".join(table.column_names), path)
    table = table.select([name for name in _COLUMNS if name in table.column_names])
    if "expires" in table.column_names:
        try:
            table = table.set_column(
                table.column_names.index("expires"), "expires", table.column("expires").cast(pa.float64())
            )
        except pa.ArrowException as error:
            raise TableError("seconds since 1970", str(error), f"{path}, column `expires`") from error
    return Subscriptions(table, rows, rejects)


def _from_lines(path: str, rejects: list[tuple[int, str]]) -> Subscriptions:
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    rows: list[int] = []
    with opened(path) as stream:
        for row, line in enumerate(stream):
            if not line.strip():
                continue
            try:
                fields = _fields(line)
            except (ValueError, RecursionError) as error:
                rejects.append((row, str(error) or "Expected less nesting"))
                continue
            rows.append(row)
            for name in _COLUMNS:
                columns[name].append(fields.get(name))
    arrays = {name: pa.array(values, _TYPES[name]) for name, values in columns.items()}
    return Subscriptions(pa.table(arrays), rows, rejects)


def _fields(line: str) -> dict[str, Any]:
    """One line as the fields of a subscription, checked as far as a column of a table would be."""
    try:
        fields = json.loads(line)
        line.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("Expected UTF-8 text") from None
    except ValueError as error:
        raise ValueError(f"Expected JSON, got {shown(line)} ({error})") from None
    if not isinstance(fields, dict):
        raise ValueError(f"Expected a JSON object, got {shown(line)}")  # noqa: TRY004 - the line, not a type
    if isinstance(fields.get("filter"), dict):
        fields["filter"] = json.dumps(fields["filter"])
    for name in ("subscription", "subscriber", "filter"):
        value = fields.get(name)
        if not isinstance(value, str) and (value is not None or name in _REQUIRED):
            raise ValueError(f"Expected text as `{name}`, got {shown(value)}")
    expires = fields.get("expires")
    if expires is not None and (isinstance(expires, bool) or not isinstance(expires, (int, float))):
        raise ValueError(f"Expected seconds since 1970 as `expires`, got {shown(expires)}")
    return fields
