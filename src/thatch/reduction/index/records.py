"""The arrays of an index, as records that kernels and Python share. All hold 64-bit numbers.

A box is a vector of *ends*, two for each axis. The key of end `2 a` is its low end on axis a; the key of end `2 a + 1` is
its high end, negated. If a box does not constrain an axis, its keys are `LOWEST` and `-HIGHEST`, the smallest there are.
So A contains B iff no key of A is above that of B. Every question is one of dominance: a box answers it iff none of its
keys is above the question's.

    containing q     (low, -high)       on axes that q spans  (LOWEST, -HIGHEST)
    the point w      (w, -w)            elsewhere             (LOWEST, -LOWEST)
    meeting q        (high, -low)       elsewhere             (HIGHEST, -LOWEST)

Boxes are in k-d trees, which split them by one end after the other. A box with a rare low end is in the tree of its axis,
all others are in the common tree. A leaf consists of columns:

    ends | smallest keys | boxes | numbers | volumes | keys, one column for each end

It has columns for the ends that at least a quarter of its boxes have. A box with further ends is marked, and compared
again. Volumes are logarithms relative to the whole space, in steps of 2**-20, so that they are whole numbers, too.
"""

from __future__ import annotations

from thatch.compiled.records import Doubles, Int64s, KernelRecord

__all__ = [
    "DEEPEST",
    "LANES",
    "LEAF",
    "MOST_COLUMNS",
    "NODE",
    "RARE",
    "ROW",
    "SAMPLED",
    "SAMPLED_ENDS",
    "SAMPLE_SIZE",
    "VOLUME_STEPS",
    "AxisRecord",
    "IndexRecord",
    "IndexRow",
    "IndexState",
    "TreeNode",
]

LANES = 16  # keys compared at once
LEAF = 128  # boxes of a leaf before it is split
MOST_COLUMNS = 48
DEEPEST = 256  # levels of a tree; deeper boxes stay in one leaf
SAMPLED = 64  # boxes sampled to choose a split
SAMPLED_ENDS = 128
SAMPLE_SIZE = (SAMPLED + 2) * SAMPLED_ENDS + SAMPLED
RARE = 64  # a low end is rare if fewer than one box in 64 has it
VOLUME_STEPS = 1 << 20


class TreeNode(KernelRecord):
    """A node of a tree. Boxes with a key up to `value` are near; far ones answer only questions with a larger key."""

    split: int  # the end to split by, -1 for a leaf
    value: int
    near: int
    far: int
    parent: int  # -1 for a root; of an unused node, the next unused one
    count: int  # boxes
    built: int  # boxes when it was built
    volume: int  # of the largest box
    first: int  # the smallest number of a box
    columns: int  # of a leaf
    capacity: int
    start: int  # where the leaf begins in `leaves`


class IndexRow(KernelRecord):
    """A box."""

    start: int  # where its ends begin in `ends`
    n_ends: int
    number: int
    leaf: int  # -1 once removed
    volume: int


class AxisRecord(KernelRecord):
    """An axis."""

    root: int  # of its tree, -1 for none
    low_ends: int  # boxes with a low end on it


class IndexState(KernelRecord):
    """Counters."""

    n_nodes: int
    n_rows: int
    leaf_words: int  # in use of `leaves`
    end_words: int  # in use of `ends`
    live: int  # boxes that are not removed
    garbage: int  # words of `leaves` that nothing uses any more
    common: int  # the root of the common tree
    free: int  # the first unused node, -1 for none
    largest: int  # capacity of a leaf
    n_axes: int


class IndexRecord(KernelRecord):
    """All arrays of an index: what it consists of, then what single questions need."""

    nodes: Int64s  # TreeNode
    leaves: Int64s
    rows: Int64s  # IndexRow
    ends: Int64s  # (end, key) of every box, ascending, without the smallest keys
    axes: Int64s  # AxisRecord
    state: IndexState
    contain: Int64s  # the keys of a question, by end
    point: Int64s
    meet: Int64s
    stack: Int64s
    order: Int64s  # rows while trees are built
    slots: Int64s  # by end: its column, or its position in a sample, or -1
    sample: Int64s
    shares: Doubles  # by axis: the share of the box that a width of 1 is


NODE, ROW = TreeNode.width, IndexRow.width
