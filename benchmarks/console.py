"""Prints benchmarks: tables on standard output, progress on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

__all__ = ["figure", "note", "table_text"]

_STARTED = time.perf_counter()


def note(text: str) -> None:
    """Print what is done now, with the seconds since the start. No bar: its thread would disturb measurements."""
    sys.stderr.write(f"{time.perf_counter() - _STARTED:7.1f} s  {text}\n")
    sys.stderr.flush()


def figure(value: float | None, unit: str = "") -> str:
    """A number with three digits and its unit; empty for None."""
    if value is None:
        return ""
    if abs(value) >= 100 or value == int(value):
        text = f"{value:,.0f}"
    else:
        text = f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"
    return f"{text}{unit}" if unit in {"", "×"} else f"{text} {unit}"


def table_text(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as text: words are aligned left, numbers right."""
    columns = list(zip(head, *rows, strict=True))
    padded = [_column(column) for column in columns]
    lines = ["  ".join(cells).rstrip() for cells in zip(*padded, strict=True)]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def _column(cells: Sequence[str]) -> list[str]:
    width = max(map(len, cells))
    is_number = all(not cell or cell[0] in "0123456789-≤≥<" for cell in cells[1:])
    return [cell.rjust(width) if is_number else cell.ljust(width) for cell in cells]
