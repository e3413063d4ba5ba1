"""What stands where in the arrays of an index: all are flat arrays of 64-bit numbers.

A box is a vector of *ends*, two for each axis: the key of end `2 a` is its low end on axis a, that of `2 a + 1` its high
end there, negated. An axis of which a box says nothing has the keys `LOWEST` and `-HIGHEST`, the smallest there are. So
A contains B iff no key of A is above that of B, and every question is one of dominance: a box answers it iff none of
its keys is above that of the question.

    containing q     (low, -high)       where q says nothing  (LOWEST, -HIGHEST)
    the point w      (w, -w)            elsewhere             (LOWEST, -LOWEST)
    meeting q        (high, -low)       elsewhere             (HIGHEST, -LOWEST)

    rows     for every box: where its ends begin, how many, number, leaf (-1 once removed), volume
    ends     (end, key) of every box, rising, without the smallest keys
    nodes    trees that split the boxes by one end: keys up to VALUE are near, the others far; far ones answer only
             questions whose key is above VALUE
    leaves   the columns of each leaf: ends | smallest keys | boxes | numbers | volumes | keys, a column for each end
    roots    for every axis: a tree of boxes with a low end there, or -1, and how many boxes have a low end there
    state    counters

A leaf has columns for the ends that a quarter of its boxes have; boxes with further ones are marked and looked at again.
Volumes are logarithms relative to the whole space, in steps of 2**-20, so that they are whole numbers, too.
"""

from __future__ import annotations

# ruff: noqa: RUF022 - in the order of the arrays
__all__ = [
    "NODES", "LEAVES", "ROWS", "ENDS", "ROOTS", "STATE", "CONTAIN", "POINT", "MEET", "STACK", "ORDER", "SLOTS", "SAMPLE",
    "SHARES",
    "N_FIELDS",
    "SPLIT", "VALUE", "NEAR", "FAR", "PARENT", "COUNT", "BUILT", "VOLUME", "FIRST", "COLUMNS", "CAPACITY", "AT",
    "NODE",
    "ROW_AT", "ROW_ENDS", "ROW_NUMBER", "ROW_LEAF", "ROW_VOLUME", "ROW",
    "N_NODES", "N_ROWS", "N_LEAVES", "N_ENDS", "LIVE", "GARBAGE", "COMMON", "FREE", "LARGEST", "N_AXES", "N_STATE",
    "LANES", "LEAF", "MOST_COLUMNS", "DEEPEST", "SAMPLED", "SAMPLED_ENDS", "RARE", "VOLUME_STEPS", "SAMPLE_SIZE",
]  # fmt: skip

# A description names these arrays: address, then length.
NODES, LEAVES, ROWS, ENDS, ROOTS, STATE, CONTAIN, POINT, MEET, STACK, ORDER, SLOTS, SAMPLE, SHARES = range(
    0, 28, 2
)
N_FIELDS = 28

# Of a node. SPLIT is the end that it splits by, -1 for a leaf; BUILT is how many boxes it had when it was made.
SPLIT, VALUE, NEAR, FAR, PARENT, COUNT, BUILT, VOLUME, FIRST, COLUMNS, CAPACITY, AT = range(12)
NODE = 12

ROW_AT, ROW_ENDS, ROW_NUMBER, ROW_LEAF, ROW_VOLUME = range(5)
ROW = 5

N_NODES, N_ROWS, N_LEAVES, N_ENDS, LIVE, GARBAGE, COMMON, FREE, LARGEST, N_AXES = range(10)
N_STATE = 16

LANES = 16  # keys compared at once
LEAF = 128  # boxes of a leaf before it is split
MOST_COLUMNS = 48
DEEPEST = 256  # levels of a tree; what is deeper stays in one leaf
SAMPLED = 64  # boxes by which a split is chosen
SAMPLED_ENDS = 128
RARE = 64  # a box is kept apart by a low end that fewer than one box in so many has
VOLUME_STEPS = 1 << 20
SAMPLE_SIZE = (SAMPLED + 2) * SAMPLED_ENDS + SAMPLED
