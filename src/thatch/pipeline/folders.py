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
from typing import Any
from urllib.parse import unquote
from uuid import uuid4

from thatch.errors import TableError
from thatch.formats.folders import MANIFEST, describe_file, manifest_text, new_folder
from thatch.pipeline.adapter import file_system
from thatch.pipeline.columns import SparkSession
from thatch.pipeline.tasks import scratch_file

__all__ = ["REPORT", "Folder", "HadoopFolder", "atomic_folder", "local_path"]

REPORT = "report.html"  # the page that every job writes
_CHECKED = 64 * 2**20  # bytes up to which files are checksummed


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of this machine that is being written; `path` is where it lies now, for Spark's writers."""

    path: str

    def __truediv__(self, name: str) -> str:
        return f"{self.path}/{name}"

    def put(self, name: str, content: str | bytes | Path) -> None:
        """Write a small file, or move a file of this machine here."""
        if not isinstance(content, Path):
            part = scratch_file(".part")
            part.write_bytes(content.encode() if isinstance(content, str) else content)
            content = part
        self._move(content, self / name)

    def put_manifest(
        self, kind: str, *, command: str, parameters: Mapping[str, Any], rows: Mapping[str, int]
    ) -> None:
        """Write the manifest, the last file of all; see `manifest_text`."""
        files = {
            name: {"bytes": size} if size > _CHECKED else describe_file(self._read(self / name))
            for name, size in sorted(self._files())
            if name.rpartition("/")[2][0] not in "._"
        }
        text = manifest_text(kind, command=command, parameters=parameters, rows=rows, files=files)
        self.put(MANIFEST, text)

    def _move(self, source: Path, path: str) -> None:
        Path(path).parent.mkdir(exist_ok=True)
        shutil.move(source, path)

    def _read(self, path: str) -> bytes:
        return Path(path).read_bytes()

    def _files(self) -> Iterator[tuple[str, int]]:
        """Names and sizes of all files, those in folders below included."""
        for each in Path(self.path).rglob("*"):
            if each.is_file():
                yield each.relative_to(self.path).as_posix(), each.stat().st_size


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
    if not path.strip("/"):
        raise TableError("Give the path of a folder to write")
    system, path_of = file_system(spark, path)
    local = local_path(system, path)
    if local is None:
        with _hadoop_folder(system, path_of, path, overwrite=overwrite) as folder:
            yield folder
    else:
        with new_folder(local, overwrite=overwrite) as hidden:
            yield Folder(str(hidden))


def local_path(system: Any, path: str) -> str | None:
    """The absolute path of a folder of this machine; None on any other file system."""
    if system.getUri().getScheme() != "file":
        return None
    plain = re.sub(r"^file:/+", "/", unquote(path)) if path.startswith("file:") else path
    return os.path.abspath(plain)  # noqa: PTH100 - resolves `..`, keeps links


# --- Hadoop ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HadoopFolder(Folder):
    """A folder of HDFS, of an object store, or of anything else that Spark's own Hadoop reaches."""

    system: Any
    path_of: Callable[..., Any]

    def _move(self, source: Path, path: str) -> None:
        here, there = self.path_of(source.as_uri()), self.path_of(path)
        self.system.copyFromLocalFile(True, True, here, there)  # noqa: FBT003 - Java takes no keywords

    def _read(self, path: str) -> bytes:
        stream = self.system.open(self.path_of(path))
        try:
            return bytes(stream.readAllBytes())
        finally:
            stream.close()

    def _files(self) -> Iterator[tuple[str, int]]:
        found = self.system.listFiles(self.path_of(self.path), True)  # noqa: FBT003 - Java takes no keywords
        while found.hasNext():
            each = found.next()
            yield str(each.getPath()).removeprefix(self.path).lstrip("/"), int(each.getLen())


@contextmanager
def _hadoop_folder(
    system: Any, path_of: Callable[..., Any], path: str, *, overwrite: bool
) -> Iterator[HadoopFolder]:
    final = system.makeQualified(path_of(path))
    hidden, aside = (
        path_of(final.getParent(), f".{final.getName()[:80]}.{uuid4().hex[:12]}") for _ in range(2)
    )
    try:
        with _translate_errors(path):
            _check_free(system, path_of, final, overwrite=overwrite)
            system.mkdirs(hidden)
        yield HadoopFolder(str(hidden), system, path_of)
        with _translate_errors(path):
            _check_free(system, path_of, final, overwrite=overwrite)  # another job may have been quicker
            if system.exists(final):
                _rename(system, final, aside)
            try:
                _rename(system, hidden, final)
            except BaseException:
                if system.exists(aside):
                    _rename(system, aside, final)
                raise
            _remove(system, aside)
    finally:
        _remove(system, hidden)


def _check_free(system: Any, path_of: Callable[..., Any], final: Any, *, overwrite: bool) -> None:
    """Refuse a folder that may not be written, with the messages of `new_folder`."""
    if not system.exists(final):
        return
    if not overwrite:
        raise TableError(f"Output folder already exists: {final} (use --overwrite)")
    # A folder that no job wrote is not ours to remove.
    is_ours = system.getFileStatus(final).isDirectory() and (
        system.exists(path_of(final, MANIFEST)) or not len(system.listStatus(final))
    )
    if not is_ours:
        raise TableError(f"Will not overwrite a folder without {MANIFEST}", where=str(final))


def _rename(system: Any, path: Any, other: Any) -> None:
    if not system.rename(path, other):
        raise TableError(f"Hadoop could not rename the output folder to {other}")


def _remove(system: Any, path: Any) -> None:
    """Remove a folder if it exists; never raises."""
    from py4j.protocol import Py4JError

    try:
        system.delete(path, True)  # noqa: FBT003 - Java takes no keywords
    except Py4JError:
        return


@contextmanager
def _translate_errors(path: str) -> Iterator[None]:
    """Raise a `TableError` for what Hadoop raises."""
    from py4j.protocol import Py4JJavaError

    try:
        yield
    except Py4JJavaError as error:
        reason = error.java_exception.getMessage()
        raise TableError(f"Cannot write the output folder: {reason}", where=path) from error
