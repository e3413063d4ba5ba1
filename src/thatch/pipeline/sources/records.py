"""Cut the lines of CSV files into pieces of whole records, and parse these. Does not need Spark.

A quoted field may hold line feeds, so that a record is one line or several. Whether a line ends inside quotes depends only
on whether it begins inside quotes; a regular expression answers each case, so that most lines are not looked at one by one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from thatch.formats.columns import parse_csv
from thatch.formats.files import Reject
from thatch.formats.reading import Reading

__all__ = ["CsvLayout", "Piece", "Run", "cut_pieces", "header_line", "is_open", "parse_piece"]

# As Arrow's parser reads: quotes count only at the beginning of a field; after the closing one comes plain text.
_REST = r'(?:[^",\r\n][^,\r\n]*)?'
_FIELD = rf'(?:[^",\r\n][^,\r\n]*|"(?:[^"]|"")*"{_REST})?'
_TAIL = rf'(?:{_FIELD}[,\r\n])*"(?:[^"]|"")*'
_OPENS = rf"^{_TAIL}$"
_STAYS_OPEN = rf'^(?:[^"]|"")*(?:"{_REST}[,\r\n]{_TAIL})?$'
_BLANK = r"^\r*$"


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive lines that hold whole records: a split of a file, or a file."""

    first: int  # the number of its first line
    begins_file: bool  # whether a header comes first
    file: str  # path, for errors


@dataclass(frozen=True, slots=True)
class CsvLayout:
    """The runs of files in the order of their lines, the names of all columns, those that get types, and each run's first row."""

    runs: tuple[Run, ...]
    names: tuple[str, ...]
    reading: Reading
    typed: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    firsts: tuple[int, ...] = ()

    def run_of(self, line: int) -> int:
        """The number of the run of a line."""
        return bisect_right(self.runs, line, key=lambda run: run.first) - 1


@dataclass(frozen=True, slots=True)
class Piece:
    """Some records of a run: their bytes, whether the first is the header, and whether the last has open quotes."""

    run: int
    content: bytes
    has_header: bool
    is_open: bool


def is_open(text: str) -> bool:
    """Whether a quoted field continues after these lines."""
    return bool(pc.match_substring_regex(pa.array([text.encode()], pa.binary()), _OPENS)[0].as_py())


def header_line(names: Iterable[str]) -> bytes:
    """Write column names as the first line of a CSV file."""
    return ",".join('"' + name.replace('"', '""') + '"' for name in names).encode() + b"\n"


def cut_pieces(batches: Iterable[pa.RecordBatch], layout: CsvLayout) -> Iterator[Piece]:
    """Cut lines, which come as batches of numbers and texts and each run from its beginning, into whole records."""
    at, run = -1, None
    for batch in batches:
        numbers = batch.column(0).to_numpy()
        lines = batch.column(1).cast(pa.binary())
        done = 0
        while done < len(numbers):
            number = layout.run_of(int(numbers[done]))
            if run is None or number != at:
                if run is not None:
                    yield from run.rest()
                at, run = number, _RunCutter(number, begins_file=layout.runs[number].begins_file)
            end = layout.runs[at + 1].first if at + 1 < len(layout.runs) else np.iinfo(np.int64).max
            # Spark packs small files into one partition, the largest first, so that a later run may come earlier.
            is_outside = (numbers[done:] < layout.runs[at].first) | (numbers[done:] >= end)
            stop = done + int(np.argmax(is_outside)) if is_outside.any() else len(numbers)
            yield from run.cut(lines.slice(done, stop - done))
            done = stop
    if run is not None:
        yield from run.rest()


class _RunCutter:
    """Cuts the lines of one run between records."""

    def __init__(self, number: int, *, begins_file: bool) -> None:
        self._number = number
        self._waits_for_header = begins_file
        self._is_open = False
        self._held: list[pa.Array] = []  # lines of a record that has not ended

    def cut(self, lines: pa.Array) -> Iterator[Piece]:
        if self._waits_for_header:
            is_blank = pc.match_substring_regex(lines, _BLANK)
            first = pc.index(is_blank, pa.scalar(value=False)).as_py()
            if first < 0:
                return
            lines = lines.slice(first)
        cut = self._last_end(lines)
        if cut:
            yield self._piece([*self._held, lines.slice(0, cut)], is_open=False)
            self._held = []
        if cut < len(lines):
            self._held.append(lines.slice(cut))

    def rest(self) -> Iterator[Piece]:
        """The rest at the end of the run: a record whose quotes never close."""
        if self._held:
            yield self._piece(self._held, is_open=True)

    def _piece(self, lines: list[pa.Array], *, is_open: bool) -> Piece:
        has_header, self._waits_for_header = self._waits_for_header, False
        return Piece(self._number, b"".join(map(_join, lines)), has_header, is_open)

    def _last_end(self, lines: pa.Array) -> int:
        """How many of the lines belong to finished records; moves the state to the end of all lines."""
        if not self._is_open and not pc.any(pc.match_substring(lines, '"')).as_py():
            return len(lines)
        opens = _where(lines, _OPENS)
        if not self._is_open and not len(opens):
            return len(lines)
        stays = _where(lines, _STAYS_OPEN)
        closes = np.setdiff1d(np.arange(len(lines)), stays, assume_unique=True)
        at, begun = 0, 0
        while True:
            turns = closes if self._is_open else opens
            turn = int(np.searchsorted(turns, at))
            if turn == len(turns):
                return begun if self._is_open else len(lines)
            at = int(turns[turn])
            self._is_open = not self._is_open
            begun = at if self._is_open else begun
            at += 1


def _where(lines: pa.Array, expression: str) -> npt.NDArray[np.int64]:
    return np.flatnonzero(pc.match_substring_regex(lines, expression).to_numpy(zero_copy_only=False))


def _join(lines: pa.Array) -> bytes:
    whole = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
    return bytes(pc.binary_join(whole, b"\n")[0].as_buffer()) + b"\n"


def parse_piece(piece: Piece, layout: CsvLayout, reject: Reject) -> tuple[pa.Table, list[int]]:
    """Parse a piece: its rows as texts, and their numbers in it; rejects count, too."""
    head = b"" if piece.has_header else header_line(layout.names)
    return parse_csv(head + piece.content, layout.runs[piece.run].file, reject, layout.reading)
