"""Text files, compressed or not, and JSON lines in them.

A line that is not a JSON object is a reject, reported with its row and the reason.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from thatch.errors import TableError, shown
from thatch.formats.contents import as_text, open_file, translate_damage
from thatch.formats.live import FollowedFile, Live, LiveInput
from thatch.formats.reading import Reading
from thatch.model.values import is_text, reason_of, unique_names

__all__ = ["STDIN", "Reject", "Rejects", "content_of", "kind_of", "object_of", "open_text", "read_lines"]

STDIN = "-"
_KINDS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
Reject = Callable[[int, str], None]  # called with row number and reason


class Rejects(list[tuple[int, str]]):
    """Rows that were rejected, with the reason; call it to add one."""

    def __call__(self, row: int, reason: str) -> None:
        self.append((row, reason))


def kind_of(path: str) -> str:
    """`jsonl`, `csv` or `parquet`, by the ending; `.gz` may follow the first two. Standard input is JSON lines."""
    if path == STDIN:
        return "jsonl"
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    is_packed = suffixes[-1:] == [".gz"]
    ending = "".join(suffixes[-2:-1] if is_packed else suffixes[-1:])
    kind = _KINDS.get(ending)
    if kind is None or (is_packed and kind == "parquet"):
        raise TableError(f"a file ending in {', '.join(_KINDS)} (or .jsonl.gz, .csv.gz)", path)
    return kind


def content_of(path: str, reading: Reading | None = None) -> bytes:
    """All bytes of a file, unpacked and as UTF-8."""
    with _bytes_of(path, reading) as stream:
        return stream.read()


@contextmanager
def open_text(path: str, reading: Reading | None = None, live: Live | None = None) -> Iterator[TextIO]:
    """Open a file as text, or standard input for `-`; bytes that are not UTF-8 become lone surrogates."""
    with _bytes_of(path, reading, live) as stream:
        # Lines end in a line feed only: JSON allows carriage returns between tokens.
        yield io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", newline="\n")


@contextmanager
def _bytes_of(path: str, reading: Reading | None, live: Live | None = None) -> Iterator[BinaryIO]:
    reading, live = reading or Reading(), live or Live()
    if path == STDIN or live.follow:
        with translate_damage(path), _growing(path, live) as stream:
            yield as_text(stream, path, reading)
    else:
        with open_file(path, reading) as stream:
            yield stream


@contextmanager
def _growing(path: str, live: Live) -> Iterator[BinaryIO]:
    """Standard input, or a file that is followed."""
    if live.follow:
        if path == STDIN or path.lower().endswith(".gz"):
            raise TableError("a file of JSON lines to follow, not packed", path)
        with io.BufferedReader(FollowedFile(path, live.idle)) as stream:
            yield stream
        return
    try:
        handle = sys.stdin.fileno()
    except OSError:  # no file at all
        yield sys.stdin.buffer
    else:
        yield io.BufferedReader(LiveInput(handle, live.idle))


def read_lines(
    path: str, reject: Reject, reading: Reading | None = None, live: Live | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file with their row numbers. Every line counts as a row; blank lines are skipped.

    `live` says what to do while lines of standard input, or of a file that is followed, are not there yet.
    """
    with open_text(path, reading, live) as stream:
        for row, line in enumerate(stream):
            if not line.strip():
                continue
            try:
                read = object_of(line.removesuffix("\n"))
            except ValueError as error:
                reject(row, str(error))
            else:
                yield row, read


def object_of(line: str) -> dict[str, Any]:
    """The object on a line; a `ValueError` says why there is none."""
    if not is_text(line):
        raise ValueError(f"Expected UTF-8 text, got {shown(line)}")
    try:
        read = json.loads(line, object_pairs_hook=unique_names)
    except KeyError as error:
        raise ValueError(f"Duplicate name in an object: {shown(error.args[0])}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"Expected JSON, got {shown(line)} ({reason_of(error)})") from None
    if not isinstance(read, dict):
        raise ValueError(f"Expected a JSON object, got {shown(line)}")  # noqa: TRY004 - the line, not a type
    return read
