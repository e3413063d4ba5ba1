"""The arrays of covering diagrams, as records that kernels and Python share.

A group is all boxes with the same axes. Its chains have the same length, and level `l` of all of them is the side on its
axis `l`. So the boxes that cover a box are in groups without other axes, and the boxes that it covers are in groups with
all its axes: that is the condition on attributes that the paper leaves out.
"""

from __future__ import annotations

from thatch.compiled.records import Int32s, Int64s, KernelRecord

__all__ = ["NODE", "ROWS", "WORD", "DiagramNode", "DiagramRecord", "DiagramState", "TerminalNode"]

WORD = 62  # groups a word, so that none is negative
ROWS = 64  # axes with the same remainder share a row; hits are checked


class DiagramNode(KernelRecord):
    """A node: the side of a box above another node. It fills a cache line."""

    low: int
    high: int
    child: int
    points: int  # the first node above it whose side is one value
    spans: int  # the first node above it whose side is not
    after: int  # its neighbours in such a list; of an unused node, the next unused one
    before: int
    box: int  # the box whose chain begins here, or -1


class TerminalNode(KernelRecord):
    """The node below all chains of a group, without a child."""

    hash: int  # of the axes of the group
    seen: int  # a bit for each value that is a side of a box; values may share one
    child: int
    points: int
    spans: int
    start: int  # where the axes of the group begin and end
    end: int
    box: int


class DiagramState(KernelRecord):
    """Counters."""

    n_nodes: int
    free: int  # the first unused node, 0 for none
    n_groups: int
    n_axes: int  # of all groups
    looked_at: int  # nodes, in all walks


class DiagramRecord(KernelRecord):
    """All arrays of the diagrams."""

    nodes: Int64s  # DiagramNode, or TerminalNode; number 0 is no node
    slots: Int32s  # a hash table of nodes by child and side; 0 is empty
    stack: Int64s  # nodes that wait in a walk, and what holds there
    found: Int64s  # the outputs that a walk found
    wanted: Int64s  # the low and high end that a walk compares with, for each level
    terminals: Int32s  # of every group
    axes: Int32s  # of all groups
    members: Int64s  # ROWS rows of words: row a has bit b of word w if group 62 w + b constrains an axis of remainder a
    hits: Int64s  # a row of words: the groups that have all axes of a box
    doors: Int32s  # a hash table of terminals by the axes of their groups; 0 is empty
    mixed: Int64s  # the hashes of the axes of the box in question
    state: DiagramState


NODE = DiagramNode.width
