"""What kind of file a path names, and its text, compressed or not."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from thatch.errors import TableError

__all__ = ["STDIN", "content_of", "kind_of", "opened"]

STDIN = "-"
_KINDS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}


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


def content_of(path: str) -> bytes:
    """All bytes of a file."""
    with _bytes_of(path) as stream:
        return stream.read()


@contextmanager
def opened(path: str) -> Iterator[TextIO]:
    """The text of a file, or of standard input for `-`; what is not UTF-8 comes as lone surrogates."""
    with _bytes_of(path) as stream:
        # Lines end in a line feed only: a carriage return may stand between the tokens of JSON.
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="\n")
        try:
            yield text
        finally:
            text.detach()  # or standard input would be closed with it


@contextmanager
def _bytes_of(path: str) -> Iterator[BinaryIO]:
    try:
        if path == STDIN:
            yield sys.stdin.buffer
        elif path.lower().endswith(".gz"):
            with gzip.open(path) as unpacked:
                yield cast("BinaryIO", unpacked)
        else:
            with Path(path).open("rb") as stream:
                yield stream
    except (OSError, EOFError, zlib.error) as error:
        raise TableError("a file that can be read", str(error), path) from error
