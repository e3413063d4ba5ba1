"""JSON lines: one object a line. A line that is not one is a reject with its row and the reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from thatch.errors import shown
from thatch.formats.files import opened
from thatch.model.values import is_text

__all__ = ["Reject", "object_of", "read_lines"]

Reject = Callable[[int, str], None]


def read_lines(path: str, reject: Reject) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file with their row numbers. Every line counts as a row; blank ones hold nothing."""
    with opened(path) as stream:
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
    """The object that a line holds; a `ValueError` tells why it holds none."""
    if not is_text(line):
        raise ValueError(f"Expected UTF-8 text, got {shown(line)}")
    try:
        read = json.loads(line, object_pairs_hook=_without_doubles)
    except _DoubleError:
        raise
    except (ValueError, RecursionError) as error:
        raise ValueError(f"Expected JSON, got {shown(line)} ({error})") from None
    if not isinstance(read, dict):
        raise ValueError(f"Expected a JSON object, got {shown(line)}")  # noqa: TRY004 - the line, not a type
    return read


class _DoubleError(ValueError):
    """A name twice in one object, of which JSON readers keep the last without a word."""


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in result if names.count(name) > 1)
        raise _DoubleError(f"Expected each name once in an object, got {shown(double)} twice")
    return result
