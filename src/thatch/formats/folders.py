"""Folders of tables with a manifest, which says what made them and what every file was when it was written.

A folder appears only when it is complete.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from thatch.errors import TableError, shown
from thatch.outputs import new_folder
from thatch.outputs.manifests import LARGEST, MANIFEST, read_regular
from thatch.outputs.places import Inputs

__all__ = [
    "FORMAT",
    "MANIFEST",
    "describe_file",
    "manifest_text",
    "read_manifest",
    "read_tables",
    "write_folder",
    "write_tables",
]

FORMAT = 1


def manifest_text(
    kind: str,
    *,
    command: str,
    parameters: Mapping[str, Any],
    rows: Mapping[str, int],
    files: Mapping[str, Mapping[str, Any]],
) -> str:
    """The manifest as JSON.

    Parameters
    ----------
    kind : the kind of folder: `load`, `match`, `profile`, …
    command : the command line that made it
    parameters : the parameters of the command by name, JSON-like
    rows : the number of rows of each table
    files : the entry of each file by name, from `describe_file` or at least with its `bytes`
    """
    manifest = {
        "format": FORMAT,
        "kind": kind,
        "command": command,
        "parameters": dict(parameters),
        "rows": dict(rows),
        "files": dict(files),
    }
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"


def describe_file(content: bytes) -> dict[str, Any]:
    """The entry of a file in a manifest."""
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def read_manifest(
    path: str | Path, kind: str | None = None, names: Iterable[str] | None = None
) -> dict[str, Any]:
    """The manifest of a folder, after checking that its files are as they were written.

    Raises `TableError` if there is no manifest, it is of another format or kind, or a file is missing or was changed.

    Parameters
    ----------
    kind : the kind that the folder must be of
    names : the files to check, which must be in the manifest; by default all that it names
    """
    folder = Path(path)
    try:
        manifest: dict[str, Any] = json.loads(read_regular(folder / MANIFEST, LARGEST))
        version, found, files = manifest["format"], manifest["kind"], dict(manifest["files"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise TableError(f"Cannot read {MANIFEST}: {shown(error)}", where=str(path)) from error
    if version != FORMAT:
        raise TableError(f"a folder of format {FORMAT}", f"format {shown(version)}", str(path))
    if kind is not None and found != kind:
        raise TableError(f"a folder of kind {kind}", f"kind {shown(found)}", str(path))
    for name in files if names is None else names:
        if name not in files:
            raise TableError(f"The manifest does not name {name}", where=str(path))
        _check_file(folder, name, files[name])
    return manifest


def _check_file(folder: Path, name: str, entry: Any) -> None:
    """See that a file lies in the folder and is as it was written; nothing else is opened, and no more than that is read."""
    where = f"{folder}/{name}"
    try:
        if not name or Path(name).is_absolute() or ".." in Path(name).parts or "\0" in name:
            raise TableError("names of files in the folder", shown(name), f"{folder}/{MANIFEST}")
        path = (folder / name).resolve(strict=True)
        if not path.is_relative_to(folder.resolve()) or not stat.S_ISREG(path.stat().st_mode):
            raise TableError(
                "regular files in the folder", f"{shown(name)}, which is none", f"{folder}/{MANIFEST}"
            )
        size = path.stat().st_size
        if not isinstance(entry, Mapping) or size != entry.get("bytes"):
            raise TableError("the size in the manifest", f"{size:,} bytes", where)
        if "sha256" in entry and _sha256(path) != entry["sha256"]:
            raise TableError("The content is not the one that the manifest describes", where=where)
    except (OSError, RuntimeError) as error:  # RuntimeError: a circle of links
        raise TableError(f"Cannot read a file that the manifest names: {error}", where=where) from error


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_tables(folder: Path, tables: Mapping[str, pa.Table]) -> dict[str, int]:
    """Write tables as Parquet files; how many rows each has, by name."""
    for name, table in tables.items():
        pq.write_table(table, folder / f"{name}.parquet")
    return {name: table.num_rows for name, table in tables.items()}


def write_folder(
    folder: str | os.PathLike[str],
    kind: str,
    tables: Mapping[str, pa.Table],
    *,
    pages: Mapping[str, str] | None = None,
    command: str = "",
    parameters: Mapping[str, Any] | None = None,
    inputs: Inputs = (),
    overwrite: bool = False,
) -> None:
    """Write a folder of tables, texts (`pages`, by file name) and a manifest; raises `OutputError` as `new_folder` does."""
    with new_folder(folder, inputs=inputs, overwrite=overwrite) as hidden:
        rows = write_tables(hidden, tables)
        for name, page in (pages or {}).items():
            (hidden / name).write_text(page, encoding="utf-8")
        files = {path.name: describe_file(path.read_bytes()) for path in sorted(hidden.iterdir())}
        text = manifest_text(kind, command=command, parameters=parameters or {}, rows=rows, files=files)
        (hidden / MANIFEST).write_text(text, encoding="utf-8")


def read_tables(
    folder: Path, kind: str, schemas: Mapping[str, pa.Schema | None]
) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    """The tables of a folder with these names, and the parameters of the command that made it.

    Raises `TableError` if the folder is of another kind or a newer format, or a file is missing or was changed.
    """
    manifest = read_manifest(folder, kind, [f"{name}.parquet" for name in schemas])
    try:
        tables = {
            name: pq.read_table(folder / f"{name}.parquet", schema=schema) for name, schema in schemas.items()
        }
    except (OSError, pa.ArrowException) as error:
        raise TableError(f"Cannot read a table of the {kind}: {error}", where=str(folder)) from error
    return tables, manifest.get("parameters", {})
