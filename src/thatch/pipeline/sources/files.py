"""Find the files of a path and their kind, and translate Spark's errors on reading them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from thatch.errors import SparkError, TableError, shown
from thatch.formats.contents import is_marked, translate_damage
from thatch.formats.files import kind_of
from thatch.formats.reading import Reading
from thatch.pipeline.adapter import file_system, is_connect, is_local, translate_spark_errors
from thatch.pipeline.columns import SparkSession

__all__ = ["Files", "find_files", "is_here", "plain_path", "translate_read_errors"]

_KINDS = ("jsonl", "csv", "parquet")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_GLOB = re.compile(r"([\[\]{}*?\\])")
_FILE = re.compile(r"while reading file (\S+?)\.?\s")
_CAUSE = re.compile(r"^Caused by: (?:[\w.$]+(?:Error|Exception)): (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """Files of one kind."""

    given: str  # the path as it was given
    path: str  # the same as Spark takes it
    kind: str  # `jsonl`, `csv` or `parquet`
    names: tuple[str, ...]  # the paths of the files, in order
    reading: Reading
    is_whole: bool  # whether one task reads each file: some are compressed, or in another encoding than UTF-8


def find_files(
    spark: SparkSession,
    path: str,
    format: str | None = None,  # noqa: A002 - as in Spark
    reading: Reading | None = None,
) -> Files:
    """Find the files of a path: one file, a folder of files, or a glob; all of the kind `format`, or that they end in."""
    if format is not None and format not in _KINDS:
        raise TableError(f"a format of {', '.join(_KINDS)}", shown(format))
    if not path:
        raise TableError("Give the path of a file, a folder of files or a glob")
    whole = _for_spark(path, is_here=is_local(spark))
    with translate_read_errors(path):
        # This reader lists files without opening them.
        listed = spark.read.format("binaryFile").load(whole).inputFiles()
    names = sorted(plain_path(each) for each in listed)
    if not names:
        raise TableError(f"There are no files in {path}")
    kinds = {format or kind_of(name): name for name in reversed(names)}  # each with its first file
    if len(kinds) > 1:
        raise TableError("files of one kind", " and ".join(sorted(kinds.values())), path)
    reading = reading or Reading()
    return Files(
        given=path,
        path=whole,
        kind=next(iter(kinds)),
        names=tuple(names),
        reading=reading,
        is_whole=reading.codec is not None or any(_is_whole(spark, name) for name in names),
    )


def _is_whole(spark: SparkSession, name: str) -> bool:
    """Whether a file is compressed, or has the mark of another encoding; Spark Connect cannot look into files."""
    if name.lower().endswith(".gz"):
        return True
    if is_here(spark, name):
        with translate_damage(name), Path(name).open("rb") as stream:
            return is_marked(stream.read(3))
    if is_connect(spark):
        return False
    files, path_of = file_system(spark, name)
    stream = files.open(path_of(name))
    try:
        return is_marked(bytes(each for each in (stream.read(), stream.read()) if each >= 0))
    finally:
        stream.close()


def is_here(spark: SparkSession, name: str) -> bool:
    """Whether this process and the workers open the file of this name themselves."""
    return is_local(spark) and not _SCHEME.match(name)


def _for_spark(path: str, *, is_here: bool) -> str:
    """A path as Spark takes it; local ones are made absolute, since Java may run in another folder."""
    if _SCHEME.match(path) or not is_here:
        return path
    whole = str(Path(path).absolute())
    return _GLOB.sub(r"\\\1", whole) if Path(path).exists() else whole


def plain_path(uri: str) -> str:
    """Turn a URI of Spark into a path as people write it."""
    path = unquote(uri)
    return re.sub(r"^file:/+", "/", path)


@contextmanager
def translate_read_errors(path: str) -> Iterator[None]:
    """Raise a `TableError` that names the file for what Spark raises when it reads it."""
    try:
        with translate_spark_errors(traced=False):
            yield
    except SparkError as error:
        text = str(error.__context__ or error)
        found = _FILE.search(text)
        causes = _CAUSE.findall(text)
        where = plain_path(found[1]) if found else path
        raise TableError(
            "files that can be read", _first_line(causes[-1] if causes else text), where
        ) from error


def _first_line(text: str) -> str:
    """The first line of a message of Spark, without its codes."""
    line = next((line for line in text.splitlines() if line.strip()), "no reason given")
    line = re.sub(r"^\[[A-Z_.]+\] ", "", line)
    return re.sub(r"\s*SQLSTATE: \w+$", "", line)[:300].rstrip(" .")
