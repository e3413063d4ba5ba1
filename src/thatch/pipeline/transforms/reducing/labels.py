"""Boxes in writing become boxes of numbers: on every axis, the cuts that occur are ranked.

Every cut that matters is known, so that labels, unlike those of `thatch.reduction.coordinates`, are never moved. They
lie evenly over the axis: volumes, which order the work, then count cells between cuts.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from thatch.model.lines import BOTTOM, TOP
from thatch.pipeline.transforms.reducing.cuts import encoded
from thatch.pipeline.transforms.reducing.lists import Grouped
from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes, Ints

__all__ = ["boxes_of", "labelled", "volumes_of"]

Axes = npt.NDArray[np.int32]

_BOTTOM, _TOP = encoded(BOTTOM), encoded(TOP)


def labelled(axes: Axes, lows: pa.LargeBinaryArray, highs: pa.LargeBinaryArray) -> tuple[Ints, Ints]:
    """The closed intervals of labels between cuts, for sides on several axes."""
    low, high = np.empty(len(axes), np.int64), np.empty(len(axes), np.int64)
    by_axis = np.argsort(axes, kind="stable")
    ends = np.flatnonzero(np.diff(axes[by_axis])) + 1
    for here in np.split(by_axis, ends) if len(axes) else ():
        chosen = pa.array(here)
        ranks = _ranked(pa.concat_arrays([lows.take(chosen), highs.take(chosen)]))
        low[here], high[here] = ranks[: len(here)], ranks[len(here) :] - 1
    return low, high


def _ranked(cuts: pa.LargeBinaryArray) -> Ints:
    """The label of each of the cuts of one axis."""
    found = cuts.dictionary_encode()
    order = pc.sort_indices(found.dictionary).to_numpy()
    labels = np.empty(len(order), np.int64)
    labels[order] = LOWEST + np.arange(1, len(order) + 1) * (2 * (HIGHEST // (len(order) + 1)))
    # The ends of the line keep theirs: a box without a side there reaches to them, too.
    for end, label in ((_BOTTOM, LOWEST), (_TOP, HIGHEST + 1)):
        place = pc.index(found.dictionary, pa.scalar(end, found.dictionary.type)).as_py()
        if place >= 0:
            labels[place] = label
    return labels[found.indices.to_numpy()]  # type: ignore[no-any-return]


def boxes_of(sizes: npt.NDArray[np.int32], axes: Axes, lows: Ints, highs: Ints) -> Boxes:
    """Boxes of so many sides each, one after the other, their axes in any order."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    order = np.lexsort((axes, np.repeat(np.arange(len(sizes)), sizes)))
    return Boxes(offsets, axes[order], lows[order], highs[order])


def volumes_of(grouped: Grouped) -> npt.NDArray[np.float64]:
    """The logarithm of the volume of the largest box of each group, relative to the whole space: it only orders work."""
    boxes = grouped.boxes
    widths = np.log((boxes.highs - boxes.lows + 1.0) / (HIGHEST - LOWEST + 1.0))
    box = np.repeat(np.arange(len(boxes)), np.diff(boxes.offsets))
    volumes = np.bincount(box, widths, len(boxes))  # box by box, so that equal boxes have equal volumes
    largest = np.full(len(grouped), -np.inf)
    np.maximum.at(largest, grouped.owners(), volumes)
    return largest
