"""Tables of cuts: all cuts of each attribute of a segment in order, so that a side is two small numbers and a value one.

The cuts of an attribute with N distinct numbers and T distinct texts have these ranks::

    (0,) ... (5,)    0 ... 5
    numbers          6 + 2 i       just below the i-th,  7 + 2 i  just above it
    (6,)             6 + 2 N
    texts            7 + 2 N + 2 i just below the i-th,  8 + 2 N + 2 i  just above it
    (7,)             7 + 2 N + 2 T

Cell k lies between the cuts of rank k and k + 1; a side from rank p to rank q holds the cells p to q - 1. A code is
a cell shifted right until all fit into sixteen bits; where that loses bits, sides are compared exactly as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thatch.compiled.records import Doubles, Int32s, Int64s, Uint8s, Uint64s
from thatch.matching.arrays import starts_of
from thatch.matching.segments.columns import Texts
from thatch.matching.segments.kernels.building import text_keys

__all__ = ["CutTables", "sorted_distinct"]

_FEW = 8  # numbers of an attribute that are searched without a grid
_MOST_STEPS = 2_048
_CODES = 65_535  # codes lie below this, which no event's code ever is


@dataclass(frozen=True, slots=True)
class CutTables:
    """The cuts of every local attribute. `attributes` gives the number that the index knows each by."""

    attributes: Int32s
    number_at: Int64s
    numbers: Doubles
    grid_at: Int64s
    grid: Int32s
    grid_scale: Doubles
    text_at: Int64s
    text_keys: Uint64s
    text_offsets: Int64s
    text_blob: Uint8s
    shifts: Uint8s

    @classmethod
    def of(
        cls, attributes: Int32s, number_at: Int64s, numbers: Doubles, text_at: Int64s, texts: Texts
    ) -> CutTables:
        """The tables of distinct values, which come in order, attribute by attribute."""
        cells = _cells(number_at, text_at)
        shifts = np.zeros(len(cells), np.uint8)
        while (is_wide := (cells >> shifts) >= _CODES).any():
            shifts += is_wide.astype(np.uint8)
        grid_at, grid, grid_scale = _grids(number_at, numbers)
        keys = np.empty(len(texts), np.uint64)
        if len(keys):  # without texts, do not load a kernel
            text_keys(texts.offsets[:-1], texts.offsets[1:], texts.blob, np.int64(0), keys)
        return cls(
            attributes=attributes.astype(np.int32),
            number_at=number_at,
            numbers=numbers,
            grid_at=grid_at,
            grid=grid,
            grid_scale=grid_scale,
            text_at=text_at,
            text_keys=keys,
            text_offsets=texts.offsets,
            text_blob=texts.blob,
            shifts=shifts,
        )

    def cells(self) -> Int64s:
        """How many cells each attribute has."""
        return _cells(self.number_at, self.text_at)

    def texts(self) -> Texts:
        """All texts, attribute by attribute."""
        return Texts(self.text_offsets, self.text_blob)


def _cells(number_at: Int64s, text_at: Int64s) -> Int64s:
    cells: Int64s = 7 + 2 * np.diff(number_at) + 2 * np.diff(text_at)
    return cells


def _grids(number_at: Int64s, numbers: Doubles) -> tuple[Int64s, Int32s, Doubles]:
    """Grids: equal steps between the first and the last number of each attribute, with how many numbers lie before each.

    Attributes with few numbers, or with infinite or too close ones, have none.
    """
    sizes = np.diff(number_at)
    steps = np.minimum(_MOST_STEPS, 2 * sizes)
    is_many = sizes >= _FEW
    scale = np.zeros(len(sizes))
    first, last = numbers[number_at[:-1][is_many]], numbers[number_at[1:][is_many] - 1]
    with np.errstate(over="ignore", invalid="ignore"):
        scale[is_many] = (steps[is_many] - 1) / (last - first)
    scale[~np.isfinite(scale)] = 0.0
    grid_at = starts_of(np.where(scale > 0, steps + 1, 0))
    return grid_at, _grid(number_at, numbers, scale, grid_at), scale


def _grid(number_at: Int64s, numbers: Doubles, scale: Doubles, grid_at: Int64s) -> Int32s:
    """How many numbers of an attribute lie before each step of its grid; must agree with `grid_cell`."""
    which = np.repeat(np.arange(len(scale)), np.diff(number_at))
    is_stepped = scale[which] > 0
    which, stepped = which[is_stepped], numbers[is_stepped]
    steps = (stepped - numbers[number_at[which]]) * scale[which]
    last = grid_at[which + 1] - grid_at[which] - 2
    after = grid_at[which] + np.clip(steps, 0, last).astype(np.int64) + 1
    counts = np.cumsum(np.bincount(after, minlength=int(grid_at[-1])))
    before = starts_of(np.where(scale > 0, np.diff(number_at), 0))[:-1]
    grid: Int64s = counts - np.repeat(before, np.diff(grid_at))
    return grid.astype(np.int32)


def sorted_distinct(texts: Texts) -> tuple[Texts, Int64s]:
    """The distinct texts in order, and for each text its position among them.

    Eight bytes are compared at a time; texts that are equal so far are sorted further by the next eight.
    """
    order = np.arange(len(texts))
    run = np.zeros(len(texts), np.int64)  # texts equal so far share the position of the first of them
    open_positions = np.arange(len(texts))
    skipped = 0
    while len(open_positions):
        items = order[open_positions]
        starts, ends = texts.offsets[:-1][items], texts.offsets[1:][items]
        keys = np.empty(len(items), np.uint64)
        text_keys(starts, ends, texts.blob, np.int64(skipped), keys)
        rest = np.minimum(ends - starts - skipped, 9)  # 9 if more bytes follow
        ranked = np.lexsort((rest, keys, run[items]))
        items, keys, rest, runs = items[ranked], keys[ranked], rest[ranked], run[items[ranked]]
        order[open_positions] = items
        is_new = np.ones(len(items), np.bool_)
        is_new[1:] = (runs[1:] != runs[:-1]) | (keys[1:] != keys[:-1]) | (rest[1:] != rest[:-1])
        run[items] = runs = np.maximum.accumulate(np.where(is_new, open_positions, 0))
        sizes = np.bincount(runs, minlength=len(texts))
        open_positions = open_positions[(sizes[runs] > 1) & (rest == 9)]
        skipped += 8
    firsts, position = np.unique(run, return_inverse=True)
    return texts.take(order[firsts]), position
