"""Boxes as columns: one row per side, with exact cuts, before they become a segment.

A cut is a kind and a value. Kinds 0 to 7 are the cuts `(0,)` to `(7,)` of the line, without a value; `NUMBER` and
`TEXT`, plus the side, are cuts below or above a number or a text, the latter given by its position in the texts.

Every number is kept as a double. An integer that no double equals is kept as the cut below the next double above it:
no double, and no integer that is one, lies between the two. Events with other integers are verified.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, nextafter
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from thatch.compiled.records import Doubles, Int32s, Int64s, Uint8s
from thatch.matching.arrays import starts_of
from thatch.matching.segments.records import NUMBER, TEXT
from thatch.model.events import Record
from thatch.model.lines import Cut

__all__ = ["Checks", "Columns", "EventColumns", "SavedIndex", "Sides", "Texts", "cut_of"]

Ints = Int32s
Columns = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts one after the other, in UTF-8."""

    offsets: Int64s = field(default_factory=lambda: np.zeros(1, np.int64))
    blob: Uint8s = field(default_factory=lambda: np.zeros(0, np.uint8))

    @classmethod
    def of(cls, texts: list[bytes]) -> Texts:
        offsets = starts_of([len(text) for text in texts])
        return cls(offsets, np.frombuffer(b"".join(texts), np.uint8))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, position: int) -> bytes:
        return self.blob[self.offsets[position] : self.offsets[position + 1]].tobytes()

    def take(self, positions: npt.NDArray[np.integer]) -> Texts:
        """The texts at these positions, in this order."""
        sizes = np.diff(self.offsets)[positions]
        offsets = starts_of(sizes)
        moved = np.repeat(self.offsets[:-1][positions] - offsets[:-1], sizes) + np.arange(offsets[-1])
        return Texts(offsets, self.blob[moved])

    @classmethod
    def join(cls, parts: list[Texts]) -> Texts:
        """The texts of several, in order."""
        starts = np.cumsum([0, *(part.offsets[-1] for part in parts)])
        offsets = [part.offsets[:-1] + start for part, start in zip(parts, starts[:-1], strict=True)]
        return cls(
            np.concatenate([*offsets, starts[-1:]]).astype(np.int64),
            np.concatenate([np.zeros(0, np.uint8), *(part.blob[: part.offsets[-1]] for part in parts)]),
        )


@dataclass(frozen=True, slots=True)
class Checks:
    """Residual checks of boxes: the box and the attribute of each, in this order, and its program."""

    box: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    attribute: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    programs: Texts = field(default_factory=Texts)


@dataclass(frozen=True, slots=True)
class Sides:
    """Columns of boxes. `offsets` has the sides of each box, `owner` the subscription of each box.

    Subscriptions have a row in `slot` (their turn in answers), in `verify` (whether a match must be verified) and in
    `source`: the canonical text of the filter, empty where its one box says all.
    """

    offsets: Int64s
    attribute: Ints  # numbered as the index numbers its attributes
    lo_kind: npt.NDArray[np.int8]
    lo_value: Doubles
    hi_kind: npt.NDArray[np.int8]
    hi_value: Doubles
    owner: Ints
    slot: Int64s
    verify: npt.NDArray[np.bool_]
    texts: Texts
    source: Texts
    checks: Checks

    def __len__(self) -> int:
        return len(self.slot)


class ReadEvent(Protocol):
    """One event of a batch as a record, of these names if any are given, for filters that must be verified."""

    def __call__(self, event: int, names: Collection[str] | None = None, /) -> Record: ...


@dataclass(frozen=True, slots=True)
class EventColumns:
    """Flat events of plain values. A row per column of the table, an entry per event.

    `classes` are those of the line (0 missing, 1 null, 2 false, 3 true, 4 NaN, 5 number, 6 text); a number stands in
    `numbers`, of a text its position in `texts`.
    """

    attribute: Int32s
    classes: Uint8s
    numbers: Doubles
    codes: Int32s
    texts: Texts
    read: ReadEvent

    def __len__(self) -> int:
        return int(self.classes.shape[1])


def cut_of(cut: Cut, keep_text: Callable[[str], int]) -> tuple[int, float]:
    """Kind and value of a cut; `keep_text` keeps a text and tells where."""
    if len(cut) == 1:
        return cut[0], 0.0
    rank, value, side = cut
    if rank == 6:
        return TEXT + side, float(keep_text(value))
    double = float(value)
    if double == value:
        return NUMBER + side, double
    return NUMBER, double if double > value else nextafter(double, inf)


class SavedIndex(NamedTuple):
    """An index at rest: the attributes' keys, and the columns of every segment."""

    keys: Sequence[str]
    segments: Sequence[Columns]
    rules: Sequence[Columns]
