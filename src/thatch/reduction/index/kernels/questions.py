"""Check boxes, and write them into the questions of an index; `records.py` describes the layout."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, short_kernel, subkernel
from thatch.reduction.boxes import HIGHEST, LOWEST
from thatch.reduction.index.records import NODE, ROW, VOLUME_STEPS, AxisRecord, IndexRow, TreeNode

__all__ = ["axis_at", "fault", "fault_of_many", "load_box", "node_at", "row_at", "unload_box", "volume_of"]

_WHOLE_WIDTH = float(HIGHEST - LOWEST + 1)


@subkernel
def node_at(index, number):
    """A node by its number."""
    return TreeNode(index.nodes, number * NODE)


@subkernel
def row_at(index, number):
    """A box by its row."""
    return IndexRow(index.rows, number * ROW)


@subkernel
def axis_at(index, axis):
    """An axis by its number."""
    return AxisRecord(index.axes, 2 * np.int64(axis))


@subkernel
def volume_of(lows, highs, start, end):
    """The volume of a box: a logarithm in whole steps."""
    volume = 1.0
    logs = 0.0
    for i in range(start, end):
        volume *= (highs[i] - lows[i] + 1.0) / _WHOLE_WIDTH
        if volume < 1e-200:
            logs += np.log2(volume)
            volume = 1.0
    return np.int64(np.floor((logs + np.log2(volume)) * VOLUME_STEPS))


@subkernel
def load_box(index, axes, lows, highs, start, end):
    """Write a box into the question `contain`; axes that no box constrains are left out."""
    for i in range(start, end):
        if axes[i] < index.state.n_axes:
            index.contain[2 * np.int64(axes[i])] = lows[i]
            index.contain[2 * np.int64(axes[i]) + 1] = -highs[i]


@subkernel
def unload_box(index, axes, start, end):
    """Reset the question `contain`."""
    for i in range(start, end):
        if axes[i] < index.state.n_axes:
            index.contain[2 * np.int64(axes[i])] = LOWEST
            index.contain[2 * np.int64(axes[i]) + 1] = -HIGHEST


@subkernel
def _fault(axes, lows, highs, start, end, most):
    for i in range(start, end):
        if lows[i] > highs[i] or lows[i] < LOWEST or highs[i] > HIGHEST or axes[i] < 0 or axes[i] > most:
            return i
        if i > start and axes[i] <= axes[i - 1]:
            return i
    return -1


@short_kernel
def fault(axes, lows, highs, most):
    """The first invalid side of a box, -1 if there is none."""
    return _fault(axes, lows, highs, 0, len(axes), most)


@kernel
def fault_of_many(offsets, axes, lows, highs, most):
    """The first box with an invalid side, and that side; -1 if there is none."""
    for box in range(len(offsets) - 1):
        wrong = _fault(axes, lows, highs, offsets[box], offsets[box + 1], most)
        if wrong >= 0:
            return box, wrong
    return -1, -1
