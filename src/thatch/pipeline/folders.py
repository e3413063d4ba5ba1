"""Output folders that appear only when they are complete, with a manifest that says what made them.

A job writes into a hidden folder beside the wanted one and renames it at the end, so that a job that fails leaves nothing
that looks complete. A folder that is replaced is first set aside, and comes back if the new one cannot take its place.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote
from uuid import uuid4

from thatch.errors import TableError
from thatch.formats.folders import MANIFEST, describe_file, manifest_text
from thatch.pipeline.adapter import file_system
from thatch.pipeline.columns import SparkSession
from thatch.pipeline.tasks import scratch_file

__all__ = ["REPORT", "FileSystem", "Folder", "HadoopFiles", "LocalFiles", "atomic_folder", "find_file_system"]

REPORT = "report.html"  # the page that every job writes
_CHECKED = 64 * 2**20  # bytes up to which files are checksummed
_PLACE = "a path where a folder can be written"


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that is being written.

    Parameters
    ----------
    path : where it lies now, for Spark's writers
    files : the file system that it is on
    """

    path: str
    files: FileSystem

    def __truediv__(self, name: str) -> str:
        return f"{self.path}/{name}"

    def put(self, name: str, content: str | bytes | Path) -> None:
        """Write a small file, or move a file of this machine here."""
        if not isinstance(content, Path):
            part = scratch_file(".part")
            part.write_bytes(content.encode() if isinstance(content, str) else content)
            content = part
        self.files.put(content, self / name)

    def put_manifest(
        self, kind: str, *, command: str, parameters: Mapping[str, Any], rows: Mapping[str, int]
    ) -> None:
        """Write the manifest, the last file of all; see `manifest_text`."""
        files = {name: self._entry(name, size) for name, size in sorted(self.files.list(self.path))}
        text = manifest_text(kind, command=command, parameters=parameters, rows=rows, files=files)
        self.put(MANIFEST, text)

    def _entry(self, name: str, size: int) -> dict[str, Any]:
        return {"bytes": size} if size > _CHECKED else describe_file(self.files.read(self / name))


@contextmanager
def atomic_folder(spark: SparkSession, path: str, *, overwrite: bool = False) -> Iterator[Folder]:
    """Yield a folder to write into, which gets its name when the block ends and is removed if it fails.

    Parameters
    ----------
    path : of the finished folder
    overwrite : whether to replace an existing folder, if a job has written it

    Raises
    ------
    TableError
        If something exists at the path, or nothing can be written there.
    SparkError
        Over Spark Connect, which can neither rename nor remove folders.
    """
    files, final = find_file_system(spark, path)
    _check_free(files, final, overwrite=overwrite)
    hidden = _hidden(final)
    try:
        with files.translate_errors(path):
            files.make(hidden)
        yield Folder(hidden, files)
        with files.translate_errors(path):
            _check_free(files, final, overwrite=overwrite)  # another job may have been quicker
            _swap(files, hidden, final)
    finally:
        files.remove(hidden)


def _hidden(path: str) -> str:
    parent, _, name = path.rpartition("/")
    return f"{parent}/.{name[:80]}.{uuid4().hex[:12]}"


def _check_free(files: FileSystem, path: str, *, overwrite: bool) -> None:
    with files.translate_errors(path):
        kind = files.kind(path)
        if kind is None:
            return
        if kind == "file":
            raise TableError(f"Output folder is a file: {path}")
        if not overwrite:
            raise TableError(f"Output folder already exists: {path} (use --overwrite)")
        # Never remove what no job has written.
        if files.kind(f"{path}/{MANIFEST}") is None and not files.is_empty(path):
            raise TableError(
                f"Output folder has no {MANIFEST}, so no job wrote it, and is not replaced: {path}"
            )


def _swap(files: FileSystem, new: str, path: str) -> None:
    if files.kind(path) is None:
        files.rename(new, path)
        return
    aside = _hidden(path)
    files.rename(path, aside)
    try:
        files.rename(new, path)
    except BaseException:
        files.rename(aside, path)
        raise
    files.remove(aside)


# --- file systems ----------------------------------------------------------------------------------------------------


def find_file_system(spark: SparkSession, path: str) -> tuple[FileSystem, str]:
    """The file system of a path, and the path in full as that file system writes it."""
    if not path.strip("/"):
        raise TableError("Give the path of a folder to write")
    found, path_of = file_system(spark, path)
    if found.getUri().getScheme() == "file":
        plain = re.sub(r"^file:/+", "/", unquote(path)) if path.startswith("file:") else path
        return LocalFiles(), os.path.abspath(plain)  # noqa: PTH100 - resolves `..`, keeps links
    return HadoopFiles(found, path_of), str(found.makeQualified(path_of(path)))


class LocalFiles:
    """Folders of this machine; all paths are absolute."""

    @contextmanager
    def translate_errors(self, path: str) -> Iterator[None]:
        """Raise a `TableError` for what the file system raises."""
        try:
            yield
        except OSError as error:
            raise TableError(_PLACE, str(error), path) from error

    def kind(self, path: str) -> str | None:
        """`file` or `folder`; None if there is nothing."""
        if not os.path.lexists(path):
            return None
        return "folder" if Path(path).is_dir() else "file"

    def is_empty(self, path: str) -> bool:
        """Whether a folder is empty."""
        return not any(Path(path).iterdir())

    def make(self, path: str) -> None:
        """Create a folder and its parents."""
        Path(path).mkdir(parents=True)

    def rename(self, path: str, other: str) -> None:
        """Rename a folder to a free name."""
        Path(path).rename(other)

    def remove(self, path: str) -> None:
        """Remove a folder if it exists; never raises."""
        shutil.rmtree(path, ignore_errors=True)

    def put(self, source: Path, path: str) -> None:
        """Move a file of this machine."""
        shutil.move(source, path)

    def read(self, path: str) -> bytes:
        """The content of a file."""
        return Path(path).read_bytes()

    def list(self, path: str) -> Iterator[tuple[str, int]]:
        """Names and sizes of all files below a folder, without hidden ones."""
        for each in Path(path).rglob("*"):
            if each.is_file() and each.name[0] not in "._":
                yield each.relative_to(path).as_posix(), each.stat().st_size


@dataclass(frozen=True, slots=True)
class HadoopFiles:
    """Folders of HDFS, object stores and others through Spark's own Hadoop; methods as in `LocalFiles`."""

    system: Any
    path_of: Callable[[str], Any]

    @contextmanager
    def translate_errors(self, path: str) -> Iterator[None]:
        """Raise a `TableError` for what Hadoop raises."""
        from py4j.protocol import Py4JJavaError

        try:
            yield
        except Py4JJavaError as error:
            raise TableError(_PLACE, str(error.java_exception.getMessage()), path) from error

    def kind(self, path: str) -> str | None:
        if not self.system.exists(self.path_of(path)):
            return None
        return "folder" if self.system.getFileStatus(self.path_of(path)).isDirectory() else "file"

    def is_empty(self, path: str) -> bool:
        return len(self.system.listStatus(self.path_of(path))) == 0

    def make(self, path: str) -> None:
        self.system.mkdirs(self.path_of(path))

    def rename(self, path: str, other: str) -> None:
        if not self.system.rename(self.path_of(path), self.path_of(other)):
            raise TableError(f"Hadoop could not rename the output folder to {other}")

    def remove(self, path: str) -> None:
        from py4j.protocol import Py4JError

        try:
            self.system.delete(self.path_of(path), True)  # noqa: FBT003 - Java takes no keywords
        except Py4JError:
            return

    def put(self, source: Path, path: str) -> None:
        here, there = self.path_of(source.as_uri()), self.path_of(path)
        self.system.copyFromLocalFile(True, True, here, there)  # noqa: FBT003 - Java takes no keywords

    def read(self, path: str) -> bytes:
        stream = self.system.open(self.path_of(path))
        try:
            return bytes(stream.readAllBytes())
        finally:
            stream.close()

    def list(self, path: str) -> Iterator[tuple[str, int]]:
        root = str(self.system.makeQualified(self.path_of(path)))
        found = self.system.listFiles(self.path_of(path), True)  # noqa: FBT003 - Java takes no keywords
        while found.hasNext():
            each = found.next()
            name = str(each.getPath()).removeprefix(root).lstrip("/")
            if name.rpartition("/")[2][0] not in "._":
                yield name, int(each.getLen())


FileSystem: TypeAlias = LocalFiles | HadoopFiles
