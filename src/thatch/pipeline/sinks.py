"""Folders that appear when all in them is whole, with a manifest that says what made them.

A job writes into a hidden folder beside the wanted one, which then gets its name: a job that fails leaves nothing that
looks whole. Where an older folder is replaced, it is set aside first and comes back if the new one cannot take its place.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from thatch.errors import TableError, shown
from thatch.pipeline.filesystems import FileSystem, files_of
from thatch.pipeline.folders import work_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["MANIFEST", "Folder", "folder_written", "read_manifest"]

MANIFEST = "manifest.json"
_FORMAT = 1
_CHECKED = 64 * 2**20  # bytes up to which files are checksummed


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that is being written.

    Parameters
    ----------
    path : where it lies now, for Spark's writers
    files : how its files are reached
    """

    path: str
    files: FileSystem

    def __truediv__(self, name: str) -> str:
        return f"{self.path}/{name}"

    def put(self, name: str, content: str | bytes | Path) -> None:
        """Write a small file, or bring one that lies in a folder of this process."""
        if isinstance(content, Path):
            self.files.put(content, self / name)
            return
        part = work_folder() / uuid4().hex
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        self.files.put(part, self / name)

    def describe(
        self, kind: str, *, command: str, parameters: Mapping[str, Any], rows: Mapping[str, int]
    ) -> None:
        """Write the manifest, the last file of all.

        Parameters
        ----------
        kind : what the folder is: `load`, `match`, `profile`
        command : the command line that made it
        parameters : what the job was told, by name; JSON-like values
        rows : how many rows each table in it has, by name
        """
        manifest = {
            "format": _FORMAT,
            "kind": kind,
            "command": command,
            "parameters": dict(parameters),
            "rows": dict(rows),
            "files": {name: self._told(name, size) for name, size in sorted(self.files.listed(self.path))},
        }
        self.put(MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")

    def _told(self, name: str, size: int) -> dict[str, Any]:
        if size > _CHECKED:
            return {"bytes": size}
        return {"bytes": size, "sha256": hashlib.sha256(self.files.read(self / name)).hexdigest()}


@contextmanager
def folder_written(spark: SparkSession, path: str, *, overwrite: bool = False) -> Iterator[Folder]:
    """A folder to write into, which gets its name when the work inside is done and goes if it fails.

    Parameters
    ----------
    path : of the folder that shall be there afterwards
    overwrite : whether to replace one that is there, if a job has written it

    Raises
    ------
    TableError
        If something is there already, or nothing can be written there.
    SparkError
        Over Spark Connect, which can neither rename folders nor remove them.
    """
    files, whole = files_of(spark, path)
    _check_free(files, whole, overwrite=overwrite)
    parent, _, name = whole.rpartition("/")
    hidden = f"{parent}/.{name[:80]}.{uuid4().hex[:12]}"
    folder = Folder(hidden, files)
    try:
        with files.told(path):
            files.make(hidden)
        yield folder
        with files.told(path):
            _check_free(files, whole, overwrite=overwrite)  # somebody else may have been quicker
            _swap(files, hidden, whole)
    finally:
        files.remove(hidden)


def _check_free(files: FileSystem, path: str, *, overwrite: bool) -> None:
    with files.told(path):
        there = files.kind(path)
        if there is None:
            return
        if there == "file":
            raise TableError("a folder to write", "a file of that name", path)
        if not overwrite:
            raise TableError("a folder that is not there yet (or `overwrite`)", "one that is", path)
        # What no job has written is nobody's to remove.
        if files.kind(f"{path}/{MANIFEST}") is None and not files.is_empty(path):
            raise TableError(f"a folder with {MANIFEST}, which a job has written", "one without", path)


def _swap(files: FileSystem, new: str, path: str) -> None:
    if files.kind(path) is None:
        files.rename(new, path)
        return
    parent, _, name = path.rpartition("/")
    aside = f"{parent}/.{name[:80]}.{uuid4().hex[:12]}"
    files.rename(path, aside)
    try:
        files.rename(new, path)
    except BaseException:
        files.rename(aside, path)
        raise
    files.remove(aside)


def read_manifest(path: str | Path, kind: str | None = None) -> dict[str, Any]:
    """The manifest of a folder that lies in a file system of this process.

    Parameters
    ----------
    kind : what the folder should be

    Raises
    ------
    TableError
        If there is none, it is of a newer format or another kind, or a file is not as it was written.
    """
    folder = Path(path)
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        found = (manifest["format"], manifest["kind"], manifest["files"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TableError(f"a folder with {MANIFEST}", shown(error), str(path)) from error
    if found[0] != _FORMAT:
        raise TableError(f"a folder of format {_FORMAT}", f"one of format {shown(found[0])}", str(path))
    if kind is not None and found[1] != kind:
        raise TableError(f"a folder of kind {kind}", f"one of kind {found[1]}", str(path))
    for name, told in found[2].items():
        _check_file(folder / name, told)
    return manifest  # type: ignore[no-any-return]


def _check_file(path: Path, told: Mapping[str, Any]) -> None:
    try:
        size = path.stat().st_size
        is_same = size == told["bytes"] and (
            "sha256" not in told or hashlib.sha256(path.read_bytes()).hexdigest() == told["sha256"]
        )
    except OSError as error:
        raise TableError("the files that the manifest names", str(error), str(path)) from error
    if not is_same:
        raise TableError("the file that the manifest describes", "another", str(path))
