"""Ranks: every attribute's cuts of a segment in order, so that a side is two small numbers and an event one cell.

The cuts of an attribute with N distinct numbers and T distinct texts have these ranks::

    (0,) ... (5,)    0 ... 5
    numbers          6 + 2 i       just below the i-th,  7 + 2 i  just above it
    (6,)             6 + 2 N
    texts            7 + 2 N + 2 i just below the i-th,  8 + 2 N + 2 i  just above it
    (7,)             7 + 2 N + 2 T

Cell k lies between the cuts of rank k and k + 1; a side from rank p to rank q holds the cells p to q - 1. A code is
a cell shifted right until all fit sixteen bits; only where that loses something are sides compared exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.matching.segments.building.kernels import fill_grid
from thatch.matching.segments.sides import NUMBER, TEXT, Sides

__all__ = ["Tables", "ranked"]

_FEW = 8  # numbers of an attribute that are searched without a grid
_MOST_STEPS = 2_048
_CODES = 65_535  # codes lie below this, which no event's code ever is


@dataclass(frozen=True, slots=True)
class Tables:
    """The cuts of every local attribute. `attributes` gives the number that the index knows each by."""

    attributes: npt.NDArray[np.int32]
    number_at: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.float64]
    grid_at: npt.NDArray[np.int64]
    grid: npt.NDArray[np.int32]
    grid_scale: npt.NDArray[np.float64]
    text_at: npt.NDArray[np.int64]
    text_keys: npt.NDArray[np.uint64]
    text_offsets: npt.NDArray[np.int64]
    text_blob: npt.NDArray[np.uint8]
    shifts: npt.NDArray[np.uint8]

    def cells(self) -> npt.NDArray[np.int64]:
        """How many cells each attribute has."""
        cells: npt.NDArray[np.int64] = 7 + 2 * np.diff(self.number_at) + 2 * np.diff(self.text_at)
        return cells

    def texts(self) -> list[bytes]:
        """All texts, attribute by attribute."""
        blob = self.text_blob.tobytes()
        return [blob[a:b] for a, b in zip(self.text_offsets[:-1], self.text_offsets[1:], strict=True)]


def ranked(
    sides: Sides,
) -> tuple[Tables, npt.NDArray[np.uint16], npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """The tables of a set of boxes, and for every side its local attribute, first cell and last cell."""
    attributes, local = np.unique(sides.attribute, return_inverse=True)
    count = len(attributes)
    ends = _Ends(local, sides)
    number_at, numbers, number_index = _table(ends.owner[ends.is_number], ends.value[ends.is_number], count)
    words, order = _sorted_texts(sides.texts, ends.value[ends.is_text].astype(np.int64))
    text_at, text_numbers, text_index = _table(ends.owner[ends.is_text], order, count)
    rank = ends.kind.astype(np.int64)
    width = 2 * np.diff(number_at)[ends.owner]
    rank[ends.kind == 6] = 6 + width[ends.kind == 6]
    is_top = ends.kind == 7
    rank[is_top] = 7 + width[is_top] + 2 * np.diff(text_at)[ends.owner[is_top]]
    rank[ends.is_number] = 6 + 2 * number_index + (ends.kind[ends.is_number] - NUMBER)
    rank[ends.is_text] = 7 + width[ends.is_text] + 2 * text_index + (ends.kind[ends.is_text] - TEXT)
    low, high = rank[: len(local)].astype(np.uint32), (rank[len(local) :] - 1).astype(np.uint32)
    tables = _tables(attributes, number_at, numbers, text_at, [words[number] for number in text_numbers])
    return tables, local.astype(np.uint16), low, high


class _Ends:
    """The lower ends of all sides, then the upper ones: owner, kind and value of each."""

    def __init__(self, local: npt.NDArray[np.intp], sides: Sides) -> None:
        self.owner = np.concatenate([local, local])
        self.kind = np.concatenate([sides.lo_kind, sides.hi_kind])
        self.value = np.concatenate([sides.lo_value, sides.hi_value]) + 0.0  # no negative zero
        self.is_text = self.kind >= TEXT
        self.is_number = (self.kind >= NUMBER) & ~self.is_text


def _table(
    owner: npt.NDArray[np.intp], value: npt.NDArray[Any], count: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any], npt.NDArray[np.int64]]:
    """The distinct values of each of `count` owners in order, where each owner's begin, and each value's position."""
    order = np.lexsort((value, owner))
    owners, values = owner[order], value[order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (owners[1:] != owners[:-1]) | (values[1:] != values[:-1])
    at = np.searchsorted(owners[is_new], np.arange(count + 1)).astype(np.int64)
    index = np.empty(len(order), np.int64)
    index[order] = np.cumsum(is_new) - 1 - at[owners]
    return at, values[is_new], index


def _sorted_texts(
    texts: list[bytes], used: npt.NDArray[np.int64]
) -> tuple[list[bytes], npt.NDArray[np.int64]]:
    """The texts that are used, in order, and for each use the position of its text there."""
    if not len(used):
        return [], used
    numbers = np.unique(used)
    words = sorted({texts[number] for number in numbers})
    place = {word: position for position, word in enumerate(words)}
    positions = np.zeros(int(numbers[-1]) + 1, np.int64)
    positions[numbers] = [place[texts[number]] for number in numbers]
    return words, positions[used]


def _tables(
    attributes: npt.NDArray[np.int32],
    number_at: npt.NDArray[np.int64],
    numbers: npt.NDArray[np.float64],
    text_at: npt.NDArray[np.int64],
    words: list[bytes],
) -> Tables:
    cells = 7 + 2 * np.diff(number_at) + 2 * np.diff(text_at)
    shifts = np.zeros(len(cells), np.uint8)
    while (is_wide := (cells >> shifts) >= _CODES).any():
        shifts += is_wide.astype(np.uint8)
    made = [_grid(numbers[start:end]) for start, end in pairwise(number_at)]
    keys = [int.from_bytes(word[:8].ljust(8, b"\0"), "big") for word in words]
    return Tables(
        attributes=attributes.astype(np.int32),
        number_at=number_at,
        numbers=np.concatenate([numbers, np.zeros(1)]),
        grid_at=_starts([len(grid) for grid, _ in made]),
        grid=np.concatenate([*(grid for grid, _ in made), np.zeros(1, np.int32)]),
        grid_scale=np.array([*(scale for _, scale in made), 0.0]),
        text_at=text_at,
        text_keys=np.array([*keys, 0], np.uint64),
        text_offsets=_starts([len(word) for word in words]),
        text_blob=np.frombuffer(b"".join(words) + b"\0", np.uint8).copy(),
        shifts=shifts,
    )


def _starts(sizes: list[int]) -> npt.NDArray[np.int64]:
    """Where parts of these sizes begin when they stand one after the other, and where the last ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def _grid(numbers: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int32], float]:
    """Equal steps between the first and the last number, with how many numbers lie before each; none if few."""
    nothing = np.zeros(0, np.int32)
    if len(numbers) < _FEW or not np.isfinite(numbers[[0, -1]]).all():
        return nothing, 0.0
    steps = min(_MOST_STEPS, 2 * len(numbers))
    span = float(numbers[-1]) - float(numbers[0])
    scale = (steps - 1) / span
    if not np.isfinite(span) or not np.isfinite(scale):
        return nothing, 0.0
    grid = np.zeros(steps + 1, np.int32)
    fill_grid(numbers, 0, len(numbers), scale, grid)
    return grid, scale
