"""Folders of this machine and of every file system that Hadoop knows, with the few things that sinks do to them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote

from thatch.errors import TableError
from thatch.pipeline.adapter import file_system

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from pyspark.sql import SparkSession

__all__ = ["FileSystem", "HadoopFiles", "LocalFiles", "files_of"]

_PLACE = "a place where a folder can be written"


class FileSystem(Protocol):
    """What a sink asks of a file system; paths are whole."""

    def told(self, path: str) -> AbstractContextManager[None]:
        """Raise a `TableError` for what the file system raises."""
        ...

    def kind(self, path: str) -> str | None:
        """`file` or `folder`; None if there is nothing."""
        ...

    def is_empty(self, path: str) -> bool:
        """Whether a folder has nothing in it."""
        ...

    def make(self, path: str) -> None:
        """Make a folder, and those it lies in."""
        ...

    def rename(self, path: str, other: str) -> None:
        """Give a folder a name that nothing has."""
        ...

    def remove(self, path: str) -> None:
        """Remove a folder if it is there; never raises."""
        ...

    def put(self, source: Path, path: str) -> None:
        """Bring a file of this machine."""
        ...

    def read(self, path: str) -> bytes:
        """The content of a file."""
        ...

    def listed(self, path: str) -> Iterator[tuple[str, int]]:
        """Names and sizes of the files below a folder, without hidden ones."""
        ...


def files_of(spark: SparkSession, path: str) -> tuple[FileSystem, str]:
    """The file system of a path, and the path as it knows it."""
    if not path.strip("/"):
        raise TableError("the path of a folder to write", "none")
    found, path_of = file_system(spark, path)
    if found.getUri().getScheme() == "file":
        plain = re.sub(r"^file:/+", "/", unquote(path)) if path.startswith("file:") else path
        return LocalFiles(), os.path.abspath(plain)  # noqa: PTH100 - `..` must go, links may stay
    return HadoopFiles(found, path_of), str(found.makeQualified(path_of(path)))


class LocalFiles:
    """Folders of this machine."""

    @contextmanager
    def told(self, path: str) -> Iterator[None]:
        """See `FileSystem`."""
        try:
            yield
        except OSError as error:
            raise TableError(_PLACE, str(error), path) from error

    def kind(self, path: str) -> str | None:
        if not os.path.lexists(path):
            return None
        return "folder" if Path(path).is_dir() else "file"

    def is_empty(self, path: str) -> bool:
        return not any(Path(path).iterdir())

    def make(self, path: str) -> None:
        Path(path).mkdir(parents=True)

    def rename(self, path: str, other: str) -> None:
        Path(path).rename(other)

    def remove(self, path: str) -> None:
        shutil.rmtree(path, ignore_errors=True)

    def put(self, source: Path, path: str) -> None:
        shutil.move(source, path)

    def read(self, path: str) -> bytes:
        return Path(path).read_bytes()

    def listed(self, path: str) -> Iterator[tuple[str, int]]:
        for each in Path(path).rglob("*"):
            if each.is_file() and each.name[0] not in "._":
                yield each.relative_to(path).as_posix(), each.stat().st_size


@dataclass(frozen=True, slots=True)
class HadoopFiles:
    """Folders of HDFS, object stores and others, through Spark's own Hadoop."""

    system: Any
    path_of: Callable[[str], Any]

    @contextmanager
    def told(self, path: str) -> Iterator[None]:
        """See `FileSystem`."""
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
            raise TableError(_PLACE, "a folder that could not be renamed", other)

    def remove(self, path: str) -> None:
        from py4j.protocol import Py4JError

        try:
            self.system.delete(self.path_of(path), True)  # noqa: FBT003 - Hadoop's own
        except Py4JError:
            return

    def put(self, source: Path, path: str) -> None:
        self.system.copyFromLocalFile(True, True, self.path_of(source.as_uri()), self.path_of(path))  # noqa: FBT003

    def read(self, path: str) -> bytes:
        stream = self.system.open(self.path_of(path))
        try:
            return bytes(stream.readAllBytes())
        finally:
            stream.close()

    def listed(self, path: str) -> Iterator[tuple[str, int]]:
        root = str(self.system.makeQualified(self.path_of(path)))
        found = self.system.listFiles(self.path_of(path), True)  # noqa: FBT003
        while found.hasNext():
            each = found.next()
            name = str(each.getPath()).removeprefix(root).lstrip("/")
            if name.rpartition("/")[2][0] not in "._":
                yield name, int(each.getLen())
