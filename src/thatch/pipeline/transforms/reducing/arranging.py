"""Bring all subscriptions with their boxes into the order in which they are decided.

Boxes as tasks write them become boxes of numbers: on every axis, the cuts that occur are ranked. All cuts are known, so
that labels, unlike those of `thatch.reduction.coordinates`, never move. They are spread evenly over the axis, so that
volumes, which order the work, count cells between cuts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from thatch.model.lines import BOTTOM, TOP
from thatch.pipeline.columns import ROW
from thatch.pipeline.transforms.reducing.pieces import SIZES, Written
from thatch.pipeline.transforms.reducing.sides import encode_cut
from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes, Ints

__all__ = ["Arranged", "BoxGroups", "NumberLists", "Order", "arrange", "label_cuts", "log_volumes"]

Axes = npt.NDArray[np.int32]
Order = Literal["arrival", "volume"]

_BOTTOM, _TOP = encode_cut(BOTTOM), encode_cut(TOP)


@dataclass(frozen=True, slots=True, eq=False)
class Arranged:
    """Subscriptions by *turn*: their number in the order in which they are decided, from 0."""

    names: pa.Table  # `row`, `subscription`, `subscriber`, `attributes` of each
    rows: BoxGroups  # their boxes as rows, which cover; a subscription with too many boxes has none
    questions: BoxGroups  # their boxes as questions, which are to be covered; one without boxes is not


def arrange(rows: Written, questions: Written | None, order: Order) -> Arranged:
    """Bring subscriptions into their order; `questions` are of those that differ as a question and as a row."""
    number = rows.filters.column(ROW).to_numpy()
    covering, *others = _group_boxes([rows] if questions is None else [rows, questions])
    by_row = np.argsort(number)
    turns = by_row
    if order == "volume":
        turns = np.lexsort((number, -log_volumes(covering)))
    names = rows.filters.drop_columns(SIZES).combine_chunks().take(pa.array(turns))
    ordered = covering.take(turns)
    if questions is None:
        return Arranged(names, ordered, ordered)
    written_for = by_row[np.searchsorted(number, questions.filters.column(ROW).to_numpy(), sorter=by_row)]
    return Arranged(names, ordered, covering.replace(written_for, others[0]).take(turns))


def _group_boxes(several: list[Written]) -> list[BoxGroups]:
    """The boxes of rows, and of questions, with the same labels."""
    sides = pa.concat_tables([each.sides for each in several]).unify_dictionaries().combine_chunks()
    axes = sides.column("axis").combine_chunks().indices.to_numpy(zero_copy_only=False).astype(np.int32)
    lows, highs = label_cuts(axes, *(sides.column(name).combine_chunks() for name in ("low", "high")))
    found = []
    start = 0
    for each in several:
        here = slice(start, start + each.sides.num_rows)
        sizes = each.filters.column(SIZES).combine_chunks()
        boxes = _make_boxes(sizes.flatten().to_numpy(), axes[here], lows[here], highs[here])
        found.append(BoxGroups(sizes.offsets.to_numpy().astype(np.int64), boxes))
        start = here.stop
    return found


# --- labels ----------------------------------------------------------------------------------------------------------


def label_cuts(axes: Axes, lows: pa.LargeBinaryArray, highs: pa.LargeBinaryArray) -> tuple[Ints, Ints]:
    """Turn intervals between cuts into closed intervals of labels, for sides on several axes."""
    low, high = np.empty(len(axes), np.int64), np.empty(len(axes), np.int64)
    by_axis = np.argsort(axes, kind="stable")
    ends = np.flatnonzero(np.diff(axes[by_axis])) + 1
    for here in np.split(by_axis, ends) if len(axes) else ():
        chosen = pa.array(here)
        ranks = _rank_cuts(pa.concat_arrays([lows.take(chosen), highs.take(chosen)]))
        low[here], high[here] = ranks[: len(here)], ranks[len(here) :] - 1
    return low, high


def _rank_cuts(cuts: pa.LargeBinaryArray) -> Ints:
    """The labels of the cuts of one axis."""
    found = cuts.dictionary_encode()
    order = pc.sort_indices(found.dictionary).to_numpy()
    labels = np.empty(len(order), np.int64)
    labels[order] = LOWEST + np.arange(1, len(order) + 1) * (2 * (HIGHEST // (len(order) + 1)))
    # The ends of the line have fixed labels: a box without a side there reaches to them, too.
    for end, label in ((_BOTTOM, LOWEST), (_TOP, HIGHEST + 1)):
        position = pc.index(found.dictionary, pa.scalar(end, found.dictionary.type)).as_py()
        if position >= 0:
            labels[position] = label
    ranked: Ints = labels[found.indices.to_numpy()]
    return ranked


def _make_boxes(sizes: npt.NDArray[np.int32], axes: Axes, lows: Ints, highs: Ints) -> Boxes:
    """Make boxes of so many sides each, one after the other, whatever the order of their axes."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    order = np.lexsort((axes, np.repeat(np.arange(len(sizes)), sizes)))
    return Boxes(offsets, axes[order], lows[order], highs[order])


def log_volumes(grouped: BoxGroups) -> npt.NDArray[np.float64]:
    """The logarithm of the volume of the largest box of each group, relative to the whole space; it only orders work."""
    boxes = grouped.boxes
    widths = np.log((boxes.highs - boxes.lows + 1.0) / (HIGHEST - LOWEST + 1.0))
    box = np.repeat(np.arange(len(boxes)), np.diff(boxes.offsets))
    volumes = np.bincount(box, widths, len(boxes))  # box by box, so that equal boxes have equal volumes
    largest = np.full(len(grouped), -np.inf)
    np.maximum.at(largest, grouped.owners(), volumes)
    return largest


# --- lists -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Groups:
    """Members of groups, one after the other; group `g` has the members `starts[g]` to `starts[g + 1]`."""

    starts: Ints

    def __len__(self) -> int:
        return len(self.starts) - 1

    def counts(self) -> Ints:
        """How many members each group has."""
        return np.diff(self.starts)

    def owners(self) -> Ints:
        """The group of each member."""
        return np.repeat(np.arange(len(self)), self.counts())

    def _replaced(self, groups: Ints) -> Ints:
        """What to take of these groups with others after them, so that the others replace some."""
        source = np.arange(len(self))
        source[groups] = len(self) + np.arange(len(groups))
        return source


@dataclass(frozen=True, slots=True, eq=False)
class NumberLists(_Groups):
    """Lists of numbers."""

    items: Ints

    def take(self, lists: Ints) -> NumberLists:
        """Choose some lists, in this order."""
        items, starts = _members(self.starts, lists)
        return NumberLists(starts, self.items[items])

    def replace(self, lists: Ints, others: NumberLists) -> NumberLists:
        """Replace some by others."""
        starts = _append_starts(self.starts, others.starts)
        return NumberLists(starts, np.concatenate((self.items, others.items))).take(self._replaced(lists))


@dataclass(frozen=True, slots=True, eq=False)
class BoxGroups(_Groups):
    """Groups of boxes."""

    boxes: Boxes

    def take(self, groups: Ints) -> BoxGroups:
        """Choose some groups, in this order."""
        boxes, starts = _members(self.starts, groups)
        sides, offsets = _members(self.boxes.offsets, boxes)
        of = self.boxes
        return BoxGroups(starts, Boxes(offsets, of.axes[sides], of.lows[sides], of.highs[sides]))

    def replace(self, groups: Ints, others: BoxGroups) -> BoxGroups:
        """Replace some by others."""
        a, b = self.boxes, others.boxes
        boxes = Boxes(
            _append_starts(a.offsets, b.offsets),
            np.concatenate((a.axes, b.axes)),
            np.concatenate((a.lows, b.lows)),
            np.concatenate((a.highs, b.highs)),
        )
        starts = _append_starts(self.starts, others.starts)
        return BoxGroups(starts, boxes).take(self._replaced(groups))


def _members(starts: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """The members of chosen groups, and where those of each begin."""
    sizes = starts[chosen + 1] - starts[chosen]
    ends = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(sizes, out=ends[1:])
    return np.arange(ends[-1]) + np.repeat(starts[chosen] - ends[:-1], sizes), ends


def _append_starts(starts: Ints, others: Ints) -> Ints:
    return np.concatenate((starts, starts[-1] + others[1:]))
