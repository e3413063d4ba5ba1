"""What stands where in the arrays of diagrams of boxes.

    nodes      a row for every node: its side, its child, what is above it. Row 0 is none
    slots      a hash table of nodes by child and side; 0 is empty
    stack      nodes that wait in a walk, and what holds there
    found      the outputs that a walk found
    wanted     the sides that a walk compares with, a row for each level
    terminals  for every group, its terminal node
    axes       of all groups, one after the other
    members    members[a, w] has bit b if group 62 w + b constrains an axis that leaves the remainder a
    hits       the groups that have all axes of a box, in the same words
    doors      a hash table of terminals by the axes of their groups; 0 is empty
    mixed      the hashes of the axes of the box that is asked for
    state      counters

A group is all boxes with the same axes. Its chains have the same length, and level `l` of all is the side on its axis
`l`. So who covers a box is asked of groups with no other axes than the box, and whom it covers of groups with all its
axes: that is the condition on attributes which the paper leaves out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

# ruff: noqa: RUF022 - in the order of the arrays
__all__ = [
    "Arrays", "LOW", "HIGH", "CHILD", "POINTS", "SPANS", "AFTER", "BEFORE", "BOX", "NODE",
    "HASH", "SEEN", "START", "END", "N_NODES", "FREE", "N_GROUPS", "N_AXES", "LOOKED_AT", "N_STATE", "WORD", "ROWS",
]  # fmt: skip

# Of a node: a line of a cache. POINTS and SPANS are the first of the nodes above it whose side is one value, and is not;
# AFTER and BEFORE its neighbours in such a list; BOX the box whose chain begins here, or -1.
LOW, HIGH, CHILD, POINTS, SPANS, AFTER, BEFORE, BOX = range(8)
NODE = 8

# Of a terminal instead, whose CHILD is 0: the hash of its group's axes, a bit for each value that is a side of a box
# (values may share one), and where its axes begin and end.
HASH, SEEN, START, END = LOW, HIGH, AFTER, BEFORE

N_NODES, FREE, N_GROUPS, N_AXES, LOOKED_AT = range(5)
N_STATE = 5

WORD = 62  # groups a word, so that none is negative
ROWS = 64  # axes that leave the same remainder share a row; what is found there is looked at again

Ints = npt.NDArray[np.int64]


class Arrays(NamedTuple):
    """All that kernels need, as the table above has it."""

    nodes: Ints
    slots: npt.NDArray[np.int32]
    stack: Ints
    found: Ints
    wanted: Ints
    terminals: npt.NDArray[np.int32]
    axes: npt.NDArray[np.int32]
    members: Ints
    hits: Ints
    doors: npt.NDArray[np.int32]
    mixed: Ints
    state: Ints
