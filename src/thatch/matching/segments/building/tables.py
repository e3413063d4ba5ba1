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
    order = np.argsort(local, kind="stable")
    ends = np.searchsorted(local[order], np.arange(len(attributes) + 1))
    low = np.empty(len(local), np.uint32)
    high = np.empty(len(local), np.uint32)
    numbers: list[npt.NDArray[np.float64]] = []
    texts: list[list[bytes]] = []
    for index in range(len(attributes)):
        rows = order[ends[index] : ends[index + 1]]
        lo = (sides.lo_kind[rows], sides.lo_value[rows])
        hi = (sides.hi_kind[rows], sides.hi_value[rows])
        table = np.unique(np.concatenate([_numbers_of(*lo), _numbers_of(*hi)]))
        used = np.unique(np.concatenate([_texts_of(*lo), _texts_of(*hi)]))
        words = sorted({sides.texts[number] for number in used})
        place = {word: position for position, word in enumerate(words)}
        positions = np.zeros(int(used[-1]) + 1 if len(used) else 1, np.int64)
        positions[used] = [place[sides.texts[number]] for number in used]
        low[rows] = _ranks(*lo, table, positions, len(words))
        high[rows] = _ranks(*hi, table, positions, len(words)) - 1
        numbers.append(table)
        texts.append(words)
    return _tables(attributes, numbers, texts), local.astype(np.uint16), low, high


def _numbers_of(kind: npt.NDArray[np.int8], value: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return value[(kind >= NUMBER) & (kind < TEXT)] + 0.0  # no negative zero, which sorts apart from nothing


def _texts_of(kind: npt.NDArray[np.int8], value: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    return value[kind >= TEXT].astype(np.int64)


def _ranks(
    kind: npt.NDArray[np.int8],
    value: npt.NDArray[np.float64],
    numbers: npt.NDArray[np.float64],
    positions: npt.NDArray[np.int64],
    texts: int,
) -> npt.NDArray[np.int64]:
    rank = kind.astype(np.int64)
    rank[kind == 6] = 6 + 2 * len(numbers)
    rank[kind == 7] = 7 + 2 * len(numbers) + 2 * texts
    is_text = kind >= TEXT
    is_number = (kind >= NUMBER) & ~is_text
    rank[is_number] = 6 + 2 * np.searchsorted(numbers, value[is_number]) + (kind[is_number] - NUMBER)
    rank[is_text] = (
        7 + 2 * len(numbers) + 2 * positions[value[is_text].astype(np.int64)] + (kind[is_text] - TEXT)
    )
    return rank


def _tables(
    attributes: npt.NDArray[np.int32], numbers: list[npt.NDArray[np.float64]], texts: list[list[bytes]]
) -> Tables:
    words = [word for each in texts for word in each]
    number_at = np.concatenate(
        [np.zeros(1, np.int64), np.cumsum([len(each) for each in numbers], dtype=np.int64)]
    )
    text_at = np.concatenate(
        [np.zeros(1, np.int64), np.cumsum([len(each) for each in texts], dtype=np.int64)]
    )
    cells = 7 + 2 * np.diff(number_at) + 2 * np.diff(text_at)
    shifts = np.zeros(len(cells), np.uint8)
    while (is_wide := (cells >> shifts) >= _CODES).any():
        shifts += is_wide.astype(np.uint8)
    grids, scales = zip(*map(_grid, numbers), strict=True) if numbers else ((), ())
    return Tables(
        attributes=attributes.astype(np.int32),
        number_at=number_at,
        numbers=np.concatenate([*numbers, np.zeros(1)]),
        grid_at=np.concatenate(
            [np.zeros(1, np.int64), np.cumsum([len(each) for each in grids], dtype=np.int64)]
        ),
        grid=np.concatenate([*grids, np.zeros(1, np.int32)]),
        grid_scale=np.array([*scales, 0.0]),
        text_at=text_at,
        text_keys=np.array(
            [int.from_bytes(word[:8].ljust(8, b"\0"), "big") for word in words] + [0], np.uint64
        ),
        text_offsets=np.concatenate(
            [np.zeros(1, np.int64), np.cumsum([len(word) for word in words], dtype=np.int64)]
        ),
        text_blob=np.frombuffer(b"".join(words) + b"\0", np.uint8).copy(),
        shifts=shifts,
    )


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
