"""A folder that `thatch load` has written, read without Spark: good subscriptions, and the schema they were loaded with."""

from __future__ import annotations

from pathlib import Path

from thatch.errors import TableError
from thatch.formats.columns import read_parquet
from thatch.formats.manifest import MANIFEST, read_manifest
from thatch.formats.subscriptions import Subscriptions, from_columns
from thatch.model.schema import Schema

__all__ = ["SUBSCRIPTIONS", "is_loaded", "loaded_schema", "read_loaded"]

SUBSCRIPTIONS = "subscriptions"  # the table of the good ones


def is_loaded(path: str) -> bool:
    """Whether this is a folder that a command has written."""
    return (Path(path) / MANIFEST).is_file()


def loaded_schema(path: str, schema: Schema | None) -> Schema | None:
    """The schema of a folder of `thatch load`.

    Raises
    ------
    TableError
        If another command wrote the folder, or a schema is given beside it.
    """
    if schema is not None:
        raise TableError("no schema beside subscriptions that were loaded with theirs", "one", path)
    described = read_manifest(Path(path), "load")["parameters"].get("schema")
    return None if described is None else Schema.from_description(described)


def read_loaded(path: str) -> Subscriptions:
    """The subscriptions of a folder of `thatch load`, in their order."""
    rejects: list[tuple[int, str]] = []

    def reject(row: int, reason: str) -> None:
        rejects.append((row, reason))

    table, _ = read_parquet(str(Path(path) / SUBSCRIPTIONS), reject)
    table = table.sort_by("row")
    rows = table.column("row").to_pylist()
    return Subscriptions(*from_columns(table, rows, path, reject), rejects)
