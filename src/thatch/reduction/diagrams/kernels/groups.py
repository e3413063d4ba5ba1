"""Groups of boxes by their axes, compiled."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import inline, subkernel
from thatch.reduction.diagrams.kernels.layout import END, HASH, N_AXES, N_GROUPS, ROWS, START, WORD

__all__ = ["axes_of", "enter_door", "find_terminal", "has_all_of", "mix_axes", "new_group"]

_LOW31 = (1 << 31) - 1


@subkernel
def _mix(axis):
    """A number below 2**62 that looks like chance."""
    x = (np.int64(axis) + 1) * 0x5BD1E995
    x = ((x ^ (x >> 15)) & _LOW31) * 0x27D4EB2F
    x = ((x ^ (x >> 21)) & _LOW31) * 0x165667B1
    return x ^ (x >> 29)


@subkernel
def mix_axes(axes, mixed):
    """The hash of each axis, and of all of them."""
    code = 0
    for k in range(axes.shape[0]):
        mixed[k] = _mix(axes[k])
        code ^= mixed[k]
    return code


@inline
def axes_of(arrays, terminal):
    """The axes of a group."""
    return arrays.axes[arrays.nodes[terminal, START] : arrays.nodes[terminal, END]]


@subkernel
def find_terminal(arrays, axes, chosen, code):
    """The terminal of the group with the chosen ones of some axes, 0 if there is none.

    Parameters
    ----------
    chosen : a bit for each axis, by its place; -1 for all
    code : the hash of those axes
    """
    nodes, doors = arrays.nodes, arrays.doors
    mask = doors.shape[0] - 1
    place = code & mask
    while doors[place] > 0:
        terminal = doors[place]
        if nodes[terminal, HASH] == code and _is(axes_of(arrays, terminal), axes, chosen):
            return terminal
        place = (place + 1) & mask
    return 0


@subkernel
def _is(its, axes, chosen):
    at = 0
    for k in range(axes.shape[0]):
        if chosen < 0 or chosen >> k & 1:
            if at == its.shape[0] or its[at] != axes[k]:
                return False
            at += 1
    return at == its.shape[0]


@subkernel
def new_group(arrays, axes, code, terminal):
    """Add a group with these axes, for which there is room, on a terminal."""
    group, at = arrays.state[N_GROUPS], arrays.state[N_AXES]
    nodes, doors = arrays.nodes, arrays.doors
    nodes[terminal, HASH], nodes[terminal, START] = code, at
    for axis in axes:
        arrays.axes[at] = axis
        at += 1
        arrays.members[axis & (ROWS - 1), group // WORD] |= 1 << (group % WORD)
    nodes[terminal, END] = at
    arrays.terminals[group] = terminal
    arrays.state[N_GROUPS], arrays.state[N_AXES] = group + 1, at
    enter_door(nodes, doors, terminal)


@subkernel
def enter_door(nodes, doors, terminal):
    """Enter a terminal into the table, under the hash of its axes."""
    mask = doors.shape[0] - 1
    place = nodes[terminal, HASH] & mask
    while doors[place] > 0:
        place = (place + 1) & mask
    doors[place] = terminal


@subkernel
def has_all_of(larger, smaller):
    """Whether rising axes are among others that rise."""
    at = 0
    for axis in smaller:
        while at < larger.shape[0] and larger[at] < axis:
            at += 1
        if at == larger.shape[0] or larger[at] != axis:
            return False
    return True
