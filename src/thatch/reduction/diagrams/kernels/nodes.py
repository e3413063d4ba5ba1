"""Nodes of covering diagrams, and the groups that they belong to."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import subkernel
from thatch.reduction.diagrams.records import NODE, ROWS, WORD, DiagramNode, TerminalNode

__all__ = [
    "enter_door",
    "enter_slot",
    "find_node",
    "find_terminal",
    "hash_axes",
    "hash_side",
    "insert_chain",
    "is_subset",
    "node_at",
    "remove_chain",
    "terminal_at",
]

_LOW31 = (1 << 31) - 1


@subkernel
def node_at(diagrams, number):
    """A node by its number."""
    return DiagramNode(diagrams.nodes, np.int64(number) * NODE)


@subkernel
def terminal_at(diagrams, number):
    """A terminal by its number."""
    return TerminalNode(diagrams.nodes, np.int64(number) * NODE)


# --- the hash table of nodes -----------------------------------------------------------------------------------------


@subkernel
def _fold(number):
    return (number ^ (number >> 31)) & _LOW31


@subkernel
def hash_side(child, low, high):
    """The hash of a side above a child."""
    code = np.int64(child) * 0x5BD1E995 ^ _fold(low) * 0x27D4EB2F ^ _fold(high) * 0x165667B1
    return code ^ (code >> 17) ^ (code >> 37)


@subkernel
def _hash_node(node):
    return hash_side(node.child, node.low, node.high)


@subkernel
def find_node(diagrams, child, low, high):
    """The node with a side above a child, 0 if there is none."""
    slots, mask = diagrams.slots, diagrams.slots_length - 1
    slot = hash_side(child, low, high) & mask
    number = np.int64(slots[slot])
    while number > 0:
        node = node_at(diagrams, number)
        if node.child == child and node.low == low and node.high == high:
            break
        slot = (slot + 1) & mask
        number = np.int64(slots[slot])
    return number


@subkernel
def enter_slot(diagrams, number):
    """Enter a node into the table."""
    slots, mask = diagrams.slots, diagrams.slots_length - 1
    slot = _hash_node(node_at(diagrams, number)) & mask
    while slots[slot] > 0:
        slot = (slot + 1) & mask
    slots[slot] = number


@subkernel
def _leave_slot(diagrams, number):
    """Empty the slot of a node, and move up those after it that were displaced."""
    slots, mask = diagrams.slots, diagrams.slots_length - 1
    hole = _hash_node(node_at(diagrams, number)) & mask
    while slots[hole] != number:
        hole = (hole + 1) & mask
    slot = (hole + 1) & mask
    while slots[slot] > 0:
        home = _hash_node(node_at(diagrams, slots[slot])) & mask
        if (slot - home) & mask >= (slot - hole) & mask:
            slots[hole] = slots[slot]
            hole = slot
        slot = (slot + 1) & mask
    slots[hole] = 0


# --- groups ----------------------------------------------------------------------------------------------------------


@subkernel
def _hash_axis(axis):
    """A number below 2**62 that looks random."""
    x = (np.int64(axis) + 1) * 0x5BD1E995
    x = ((x ^ (x >> 15)) & _LOW31) * 0x27D4EB2F
    x = ((x ^ (x >> 21)) & _LOW31) * 0x165667B1
    return x ^ (x >> 29)


@subkernel
def hash_axes(diagrams, axes):
    """Write the hash of each axis into `mixed`; return that of all of them."""
    code = 0
    for k in range(axes.shape[0]):
        diagrams.mixed[k] = _hash_axis(axes[k])
        code ^= diagrams.mixed[k]
    return code


@subkernel
def _has_axes(diagrams, terminal, axes, chosen):
    """Whether a group has exactly the chosen ones of some axes."""
    at = terminal.start
    for k in range(axes.shape[0]):
        if chosen < 0 or chosen >> k & 1:
            if at == terminal.end or diagrams.axes[at] != axes[k]:
                return False
            at += 1
    return at == terminal.end


@subkernel
def find_terminal(diagrams, axes, chosen, code):
    """The terminal of the group with the chosen ones of some axes, 0 if there is none.

    `chosen` has a bit for each axis, by position, or is -1 for all; `code` is the hash of the chosen axes.
    """
    doors, mask = diagrams.doors, diagrams.doors_length - 1
    door = code & mask
    while doors[door] > 0:
        terminal = terminal_at(diagrams, doors[door])
        if terminal.hash == code and _has_axes(diagrams, terminal, axes, chosen):
            return np.int64(doors[door])
        door = (door + 1) & mask
    return np.int64(0)


@subkernel
def enter_door(diagrams, number):
    """Enter a terminal into the table, under the hash of its axes."""
    doors, mask = diagrams.doors, diagrams.doors_length - 1
    door = terminal_at(diagrams, number).hash & mask
    while doors[door] > 0:
        door = (door + 1) & mask
    doors[door] = number


@subkernel
def _new_group(diagrams, axes, code):
    """Add a group with these axes, for which there is room; return its terminal."""
    number, state = _new_node(diagrams), diagrams.state
    terminal, group, at = terminal_at(diagrams, number), state.n_groups, state.n_axes
    terminal.hash = code
    terminal.start = at
    for axis in axes:
        diagrams.axes[at] = axis
        at += 1
        diagrams.members[(axis & (ROWS - 1)) * diagrams.hits_length + group // WORD] |= 1 << (group % WORD)
    terminal.end = at
    diagrams.terminals[group] = number
    state.n_groups = group + 1
    state.n_axes = at
    enter_door(diagrams, number)
    return number


@subkernel
def is_subset(smaller, small_start, small_end, larger, large_start, large_end):
    """Whether ascending axes are among others, which are ascending, too."""
    at = large_start
    for i in range(small_start, small_end):
        while at < large_end and larger[at] < smaller[i]:
            at += 1
        if at == large_end or larger[at] != smaller[i]:
            return False
    return True


# --- chains ----------------------------------------------------------------------------------------------------------


@subkernel
def _new_node(diagrams):
    """The number of a node that is nowhere."""
    state = diagrams.state
    number = state.free
    if number > 0:
        state.free = node_at(diagrams, number).after
    else:
        number = state.n_nodes
        state.n_nodes = number + 1
    for field in range(NODE):
        diagrams.nodes[number * NODE + field] = 0
    node_at(diagrams, number).box = -1
    return number


@subkernel
def _put(diagrams, child, low, high):
    """A new node with a side above a child."""
    number = _new_node(diagrams)
    node, below = node_at(diagrams, number), node_at(diagrams, child)
    node.low = low
    node.high = high
    node.child = child
    if low == high:
        node.after = below.points
        below.points = number
    else:
        node.after = below.spans
        below.spans = number
    node_at(diagrams, node.after).before = number
    enter_slot(diagrams, number)
    return number


@subkernel
def _drop(diagrams, number):
    """Remove a node that has nothing above it."""
    node = node_at(diagrams, number)
    if node.before > 0:
        node_at(diagrams, node.before).after = node.after
    elif node.low == node.high:
        node_at(diagrams, node.child).points = node.after
    else:
        node_at(diagrams, node.child).spans = node.after
    node_at(diagrams, node.after).before = node.before
    _leave_slot(diagrams, number)
    node.child = 0
    node.after = diagrams.state.free
    diagrams.state.free = number


@subkernel
def insert_chain(diagrams, axes, lows, highs, terminal, code, values, box):
    """Add the chain of a box, for which there is room; return the node at which it begins.

    `terminal` is 0 if its group is new, `code` the hash of its axes; `values` has a bit for sides that are one value.
    """
    if terminal == 0:
        terminal = _new_group(diagrams, axes, code)
    terminal_at(diagrams, terminal).seen |= values
    node = terminal
    for level in range(axes.shape[0]):
        above = find_node(diagrams, node, lows[level], highs[level])
        node = above if above > 0 else _put(diagrams, node, lows[level], highs[level])
    node_at(diagrams, node).box = box
    return node


@subkernel
def remove_chain(diagrams, number):
    """Remove the chain that begins at a node, and all that only it needs."""
    node = node_at(diagrams, number)
    node.box = -1
    while node.child > 0 and node.box < 0 and node.points == 0 and node.spans == 0:
        child = node.child
        _drop(diagrams, number)
        number = child
        node = node_at(diagrams, number)
