"""Folders that appear when all in them is whole, with a manifest that says what made them.

A job writes into a hidden folder beside the wanted one, which then gets its name: a job that fails leaves nothing that
looks whole. Where an older folder is replaced, it is set aside first and comes back if the new one cannot take its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from thatch.errors import TableError
from thatch.formats.manifest import MANIFEST, file_told, manifest_text
from thatch.pipeline.filesystems import FileSystem, files_of
from thatch.pipeline.folders import work_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["REPORT", "Folder", "folder_written"]

REPORT = "report.html"  # the page that every job leaves
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
        """Write the manifest, the last file of all; see `manifest_text`."""
        files = {name: self._told(name, size) for name, size in sorted(self.files.listed(self.path))}
        self.put(
            MANIFEST, manifest_text(kind, command=command, parameters=parameters, rows=rows, files=files)
        )

    def _told(self, name: str, size: int) -> dict[str, Any]:
        if size > _CHECKED:
            return {"bytes": size}
        return file_told(self.files.read(self / name))


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
