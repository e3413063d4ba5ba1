"""What kind of file a path names, and its text, compressed or not."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from thatch.errors import TableError

__all__ = ["STDIN", "kind_of", "opened"]

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
    suffixes = Path(path).suffixes
    ending = suffixes[-2] if len(suffixes) > 1 and suffixes[-1] == ".gz" else suffixes[-1] if suffixes else ""
    kind = _KINDS.get(ending.lower())
    if kind is None:
        raise TableError(f"a file ending in {', '.join(_KINDS)}", path)
    return kind


@contextmanager
def opened(path: str) -> Iterator[TextIO]:
    """The text of a file, or of standard input for `-`."""
    if path == STDIN:
        yield sys.stdin
        return
    try:
        if path.endswith(".gz"):
            with gzip.open(path, "rt", encoding="utf-8", errors="surrogateescape") as stream:
                yield stream
        else:
            with Path(path).open(encoding="utf-8", errors="surrogateescape", newline="") as stream:
                yield stream
    except (OSError, EOFError) as error:
        raise TableError("a file that can be read", str(error), path) from error
