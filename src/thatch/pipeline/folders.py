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

from thatch.errors import OutputError, shown
from thatch.formats.folders import describe_file, manifest_text
from thatch.outputs import new_folder
from thatch.outputs.manifests import LARGEST, MANIFEST, is_manifest
from thatch.outputs.places import Inputs
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
def atomic_folder(
    spark: SparkSession, path: str, *, inputs: Inputs = (), overwrite: bool = False
) -> Iterator[Folder]:
    """Yield a folder to write into, which gets its name when the block ends and is removed if it fails.

    What may be written is said in `thatch.outputs`, and holds on every file system.

    Parameters
    ----------
    path : of the finished folder
    inputs : paths that are read, which are never replaced
    overwrite : whether to replace an existing folder, if a job has written it

    Raises
    ------
    OutputError
        If something exists at the path, or it is read, or nothing can be written there.
    SparkError
        Over Spark Connect, which can neither rename nor remove folders.
    """
    if not path.strip("/"):
        raise OutputError("the path of a file or folder to write", shown(path))
    system, path_of = file_system(spark, path)
    local = local_path(system, path)
    if local is None:
        _refuse_inputs(system, path_of, path, inputs)
        with _hadoop_folder(system, path_of, path, overwrite=overwrite) as folder:
            yield folder
    else:
        with new_folder(local, inputs=inputs, overwrite=overwrite) as hidden:
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


def _refuse_inputs(system: Any, path_of: Callable[..., Any], path: str, inputs: Inputs) -> None:
    """Refuse a folder that is read, lies in one that is read, or contains one."""
    final = f"{system.makeQualified(path_of(path))}/"
    for each in inputs:
        if each is None:
            continue
        source = path_of(os.fspath(each))
        found = source.getFileSystem(system.getConf()).globStatus(source) or ()
        names = (f"{status.getPath()}/" for status in found)
        if any(final.startswith(name) or name.startswith(final) for name in names):
            raise OutputError(
                "an output apart from what is read", f"{shown(path)}, and {shown(os.fspath(each))} is read"
            )


def _check_free(system: Any, path_of: Callable[..., Any], final: Any, *, overwrite: bool) -> None:
    """Refuse a folder that may not be written, with the messages of `new_folder`."""
    if not system.exists(final):
        return
    if not overwrite:
        raise OutputError(f"{final} already exists (to replace it: --overwrite, in Python overwrite=True)")
    if not system.getFileStatus(final).isDirectory() or (
        len(system.listStatus(final)) and not _is_ours(system, path_of(final, MANIFEST))
    ):
        raise OutputError("Will not replace what no command of Thatch wrote", where=str(final))


def _is_ours(system: Any, manifest: Any) -> bool:
    if not system.exists(manifest) or system.getFileStatus(manifest).getLen() > LARGEST:
        return False
    stream = system.open(manifest)
    try:
        return is_manifest(bytes(stream.readAllBytes()))
    finally:
        stream.close()


def _rename(system: Any, path: Any, other: Any) -> None:
    if not system.rename(path, other):
        raise OutputError(f"Hadoop could not rename the output folder to {other}")


def _remove(system: Any, path: Any) -> None:
    """Remove a folder if it exists; never raises."""
    from py4j.protocol import Py4JError

    try:
        system.delete(path, True)  # noqa: FBT003 - Java takes no keywords
    except Py4JError:
        return


@contextmanager
def _translate_errors(path: str) -> Iterator[None]:
    """Raise a `OutputError` for what Hadoop raises."""
    from py4j.protocol import Py4JJavaError

    try:
        yield
    except Py4JJavaError as error:
        reason = error.java_exception.getMessage()
        raise OutputError("a place where a folder can be written", reason, path) from error
