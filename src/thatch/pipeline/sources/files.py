"""Which files a path names, what kind they are, and what is told of those that cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from thatch.errors import SparkError, TableError, shown
from thatch.formats.files import kind_of
from thatch.pipeline.adapter import is_local
from thatch.pipeline.failures import failures_told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Files", "find_files", "plain_path", "reading_told"]

_KINDS = ("jsonl", "csv", "parquet")
_GLOB = re.compile(r"([\[\]{}*?\\])")
_FILE = re.compile(r"while reading file (\S+?)\.?\s")
_CAUSE = re.compile(r"^Caused by: (?:[\w.$]+(?:Error|Exception)): (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """Files of one kind.

    Parameters
    ----------
    given : the path as the caller gave it
    path : the same as Spark takes it
    kind : `jsonl`, `csv` or `parquet`
    names : of the files, in order
    """

    given: str
    path: str
    kind: str
    names: tuple[str, ...]

    @property
    def is_packed(self) -> bool:
        """Whether some of the files are read by one task each."""
        return any(name.lower().endswith(".gz") for name in self.names)


def find_files(spark: SparkSession, path: str, format: str | None = None) -> Files:  # noqa: A002 - as Spark calls it
    """The files of a path: one file, a folder of files, or a glob.

    Parameters
    ----------
    format : `jsonl`, `csv` or `parquet` for files whose ending does not tell

    Raises
    ------
    TableError
        If there are none, or they are not of one known kind.
    """
    if format is not None and format not in _KINDS:
        raise TableError(f"a format of {', '.join(_KINDS)}", shown(format))
    if not path:
        raise TableError("a path", "none")
    whole = _for_spark(path, is_here=is_local(spark))
    with reading_told(path):
        # The one reader that lists files and looks at none of them.
        listed = spark.read.format("binaryFile").load(whole).inputFiles()
    names = sorted(plain_path(each) for each in listed)
    if not names:
        raise TableError("files", "an empty folder", path)
    if format is not None:
        return Files(given=path, path=whole, kind=format, names=tuple(names))
    kinds: dict[str, str] = {}
    for name in names:
        kinds.setdefault(kind_of(name), name)
    if len(kinds) > 1:
        raise TableError("files of one kind", " and ".join(kinds.values()), path)
    return Files(given=path, path=whole, kind=next(iter(kinds)), names=tuple(names))


def _for_spark(path: str, *, is_here: bool) -> str:
    """A path as Spark takes it: of a file of this process whole, since Java's folder is where it was started."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", path) or not is_here:
        return path
    whole = str(Path(path).absolute())
    return _GLOB.sub(r"\\\1", whole) if Path(path).exists() else whole


def plain_path(uri: str) -> str:
    """A file of Spark's as people write it."""
    path = unquote(uri)
    return re.sub(r"^file:/+", "/", path)


@contextmanager
def reading_told(path: str) -> Iterator[None]:
    """Raise a `TableError` that names the file for what Spark raises on reading it."""
    try:
        with failures_told():
            yield
    except SparkError as error:
        text = str(error.__cause__ or error)
        found = _FILE.search(text)
        causes = _CAUSE.findall(text)
        where = plain_path(found[1]) if found else path
        raise TableError("files that can be read", _short(causes[-1] if causes else text), where) from error


def _short(text: str) -> str:
    """The first line of what Spark says, without its codes."""
    line = next((line for line in text.splitlines() if line.strip()), "nothing")
    line = re.sub(r"^\[[A-Z_.]+\] ", "", line)
    return re.sub(r"\s*SQLSTATE: \w+$", "", line)[:300].rstrip(" .")
