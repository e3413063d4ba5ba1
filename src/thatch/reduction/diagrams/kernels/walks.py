"""Diagrams of boxes that no other covers: one walk that finds who covers a box and whom it covers, compiled."""

from __future__ import annotations

import numpy as np

from thatch.compiled.bits import trailing_zeros
from thatch.compiled.decorators import kernel, subkernel
from thatch.reduction.boxes import HIGHEST, LOWEST
from thatch.reduction.diagrams.kernels.groups import (
    axes_of,
    enter_door,
    find_terminal,
    has_all_of,
    mix_axes,
    new_group,
)
from thatch.reduction.diagrams.kernels.layout import (
    AFTER,
    BEFORE,
    BOX,
    CHILD,
    FREE,
    HIGH,
    LOOKED_AT,
    LOW,
    N_AXES,
    N_GROUPS,
    N_NODES,
    POINTS,
    ROWS,
    SEEN,
    SPANS,
    WORD,
)

__all__ = ["COVERED", "COVERS", "fill_doors", "fill_slots", "insert", "relations", "stream", "take_out"]

COVERED = 1  # the paper's right side: what exists covers or equals what is new
COVERS = 2  # its left side: what is new covers or equals what exists

_LOW31 = (1 << 31) - 1


# --- nodes -----------------------------------------------------------------------------------------------------------


@subkernel
def _folded(number):
    return (number ^ (number >> 31)) & _LOW31


@subkernel
def _hashed(child, low, high):
    code = np.int64(child) * 0x5BD1E995 ^ _folded(low) * 0x27D4EB2F ^ _folded(high) * 0x165667B1
    return code ^ (code >> 17) ^ (code >> 37)


@subkernel
def _find(nodes, slots, child, low, high):
    """The node with a side above a child, 0 if there is none."""
    mask = slots.shape[0] - 1
    place = _hashed(child, low, high) & mask
    node = slots[place]
    while node > 0 and (nodes[node, CHILD] != child or nodes[node, LOW] != low or nodes[node, HIGH] != high):
        place = (place + 1) & mask
        node = slots[place]
    return node


@subkernel
def _fresh(nodes, state):
    """A node that is nowhere."""
    node = state[FREE]
    if node > 0:
        state[FREE] = nodes[node, AFTER]
    else:
        node = state[N_NODES]
        state[N_NODES] = node + 1
    for field in (LOW, HIGH, CHILD, POINTS, SPANS, AFTER, BEFORE):
        nodes[node, field] = 0
    nodes[node, BOX] = -1
    return node


@subkernel
def _put(arrays, child, low, high):
    """A new node with a side above a child."""
    nodes, slots = arrays.nodes, arrays.slots
    node = _fresh(nodes, arrays.state)
    nodes[node, LOW], nodes[node, HIGH], nodes[node, CHILD] = low, high, child
    above = POINTS if low == high else SPANS
    following = nodes[child, above]
    nodes[node, AFTER] = following
    nodes[following, BEFORE] = node
    nodes[child, above] = node
    _enter_slot(nodes, slots, node)
    return node


@subkernel
def _enter_slot(nodes, slots, node):
    mask = slots.shape[0] - 1
    place = _hashed(nodes[node, CHILD], nodes[node, LOW], nodes[node, HIGH]) & mask
    while slots[place] > 0:
        place = (place + 1) & mask
    slots[place] = node


@subkernel
def _drop(arrays, node):
    """Forget a node that has nothing above it."""
    nodes = arrays.nodes
    before, after = nodes[node, BEFORE], nodes[node, AFTER]
    if before > 0:
        nodes[before, AFTER] = after
    else:
        above = POINTS if nodes[node, LOW] == nodes[node, HIGH] else SPANS
        nodes[nodes[node, CHILD], above] = after
    nodes[after, BEFORE] = before
    _leave_slot(nodes, arrays.slots, node)
    nodes[node, CHILD] = 0
    nodes[node, AFTER] = arrays.state[FREE]
    arrays.state[FREE] = node


@subkernel
def _leave_slot(nodes, slots, node):
    """Empty the slot of a node, and let those after it move up where they were pushed away."""
    mask = slots.shape[0] - 1
    hole = _hashed(nodes[node, CHILD], nodes[node, LOW], nodes[node, HIGH]) & mask
    while slots[hole] != node:
        hole = (hole + 1) & mask
    place = (hole + 1) & mask
    while slots[place] > 0:
        other = slots[place]
        home = _hashed(nodes[other, CHILD], nodes[other, LOW], nodes[other, HIGH]) & mask
        if (place - home) & mask >= (place - hole) & mask:
            slots[hole] = other
            hole = place
        place = (place + 1) & mask
    slots[hole] = 0


# --- walks -----------------------------------------------------------------------------------------------------------


@subkernel
def _met(arrays, node, level, levels, holds, depth, count):
    """What a node that may be related leads to: an output, or a walk above it. Depth, count, and who covers or 0."""
    if level + 1 < levels:
        arrays.stack[depth, 0], arrays.stack[depth, 1] = node, (level + 1) << 2 | holds
        return depth + 1, count, 0
    if holds & COVERED:
        return depth, count, node
    arrays.found[count] = node
    return depth, count + 1, 0


@subkernel
def _walk(arrays, terminal, levels, asked, count):
    """Evaluate both sides of the diagrams above a terminal at once, against the sides in `wanted`.

    The paper assigns all variables first; here a predicate is evaluated where it is met, and one value is looked up.

    Returns
    -------
    An output that covers the box, or 0; how many outputs in `found` it covers
    """
    nodes, slots, stack, wanted = arrays.nodes, arrays.slots, arrays.stack, arrays.wanted
    depth, cover = 0, 0
    if levels == 0:
        if nodes[terminal, BOX] >= 0:
            depth, count, cover = _met(arrays, terminal, -1, levels, asked, depth, count)
        return cover, count
    stack[0, 0], stack[0, 1] = terminal, asked
    depth = 1
    looked_at = 0
    while depth > 0 and cover == 0:
        depth -= 1
        child, level, holds = stack[depth, 0], stack[depth, 1] >> 2, stack[depth, 1] & 3
        if count > 0:
            holds &= COVERS  # no box covers another, so what covers one is covered by none
        if holds == 0:
            continue
        low, high = wanted[level, 0], wanted[level, 1]
        if low == high:
            looked_at += 1
            node = _find(nodes, slots, child, low, high)
            if node > 0:
                depth, count, cover = _met(arrays, node, level, levels, holds, depth, count)
            holds &= COVERED  # one value covers nothing but itself
        node = nodes[child, SPANS] if holds else 0
        while node > 0 and cover == 0:
            looked_at += 1
            both = 0
            if nodes[node, LOW] <= low and high <= nodes[node, HIGH]:
                both |= COVERED
            if low <= nodes[node, LOW] and nodes[node, HIGH] <= high:
                both |= COVERS
            both &= holds
            if both:
                depth, count, cover = _met(arrays, node, level, levels, both, depth, count)
            node = nodes[node, AFTER]
        node = nodes[child, POINTS] if holds & COVERS and cover == 0 else 0
        while node > 0:
            looked_at += 1
            if low <= nodes[node, LOW] <= high:
                depth, count, _ = _met(arrays, node, level, levels, COVERS, depth, count)
            node = nodes[node, AFTER]
    arrays.state[LOOKED_AT] += looked_at
    return cover, count


@subkernel
def _walk_smaller(arrays, terminal, axes, lows, highs):
    """Who covers a box, in a group that has no other axes."""
    its = axes_of(arrays, terminal)
    k = 0
    for level in range(its.shape[0]):
        while axes[k] != its[level]:
            k += 1
        arrays.wanted[level, 0], arrays.wanted[level, 1] = lows[k], highs[k]
    cover, _ = _walk(arrays, terminal, its.shape[0], COVERED, 0)
    return cover


@subkernel
def _smaller(arrays, axes, lows, highs):
    """Who covers a box, among all groups that have some of its axes and no others; 0 if nobody does."""
    m = axes.shape[0]
    groups = arrays.state[N_GROUPS]
    cover = 0
    if m < 24 and 1 << m <= groups:
        # Every subset of the axes, each one step from the one before.
        chosen, code = 0, 0
        for step in range(1 << m):
            if step > 0:
                k = np.int64(trailing_zeros(step))
                chosen ^= 1 << k
                code ^= arrays.mixed[k]
            if cover == 0 and chosen != (1 << m) - 1:
                terminal = find_terminal(arrays, axes, chosen, code)
                if terminal > 0:
                    cover = _walk_smaller(arrays, terminal, axes, lows, highs)
        return cover
    for group in range(groups):
        terminal = arrays.terminals[group]
        its = axes_of(arrays, terminal)
        if cover == 0 and its.shape[0] < m and has_all_of(axes, its):
            cover = _walk_smaller(arrays, terminal, axes, lows, highs)
    return cover


@subkernel
def _value_bits(axes, lows, highs):
    """A bit for each side that is one value; different ones may share it."""
    bits = 0
    for k in range(axes.shape[0]):
        if lows[k] == highs[k]:
            bits |= 1 << (_hashed(axes[k], lows[k], highs[k]) % 62)
    return bits


@subkernel
def _walk_larger(arrays, terminal, axes, lows, highs, count):
    """Whom a box covers, in a group that has all its axes and others."""
    its = axes_of(arrays, terminal)
    k = 0
    for level in range(its.shape[0]):
        arrays.wanted[level, 0], arrays.wanted[level, 1] = LOWEST, HIGHEST
        if k < axes.shape[0] and axes[k] == its[level]:
            arrays.wanted[level, 0], arrays.wanted[level, 1] = lows[k], highs[k]
            k += 1
    _, count = _walk(arrays, terminal, its.shape[0], COVERS, count)
    return count


@subkernel
def _larger(arrays, axes, lows, highs, count):
    """Whom a box covers, among all groups that have its axes and others; how many are found in all."""
    m = axes.shape[0]
    groups = arrays.state[N_GROUPS]
    words = (groups + WORD - 1) // WORD
    hits = arrays.hits
    for word in range(words):
        hits[word] = (1 << WORD) - 1
    for axis in axes:
        members = arrays.members[axis & (ROWS - 1)]
        for word in range(words):
            hits[word] &= members[word]
    values = _value_bits(axes, lows, highs)
    for word in range(words):
        rest = hits[word]
        while rest > 0:
            group = word * WORD + np.int64(trailing_zeros(rest))
            rest &= rest - 1
            terminal = arrays.terminals[group] if group < groups else 0
            # One value covers nothing but itself.
            if terminal > 0 and arrays.nodes[terminal, SEEN] & values == values:
                its = axes_of(arrays, terminal)
                if its.shape[0] > m and has_all_of(its, axes):
                    count = _walk_larger(arrays, terminal, axes, lows, highs, count)
    return count


@subkernel
def _relations(arrays, axes, lows, highs, terminal, asked):
    cover, count = 0, 0
    if terminal > 0:
        for level in range(axes.shape[0]):
            arrays.wanted[level, 0], arrays.wanted[level, 1] = lows[level], highs[level]
        cover, count = _walk(arrays, terminal, axes.shape[0], asked, 0)
    if cover == 0 and count == 0 and asked & COVERED:
        cover = _smaller(arrays, axes, lows, highs)
    if cover == 0 and asked & COVERS:
        count = _larger(arrays, axes, lows, highs, count)
    return cover, count


@subkernel
def _in_phases(arrays, axes, lows, highs, terminal, phases):
    cover, count = 0, 0
    asked = COVERED | COVERS if phases == 1 else COVERED
    while asked and cover == 0:
        cover, count = _relations(arrays, axes, lows, highs, terminal, asked)
        asked = COVERS if asked == COVERED else 0
    return cover, count


# --- what Python calls -----------------------------------------------------------------------------------------------


@kernel
def relations(arrays, axes, lows, highs, asked):
    """Who covers a box and whom it covers, in one walk.

    Parameters
    ----------
    asked : `COVERED`, `COVERS`, or both

    Returns
    -------
    An output that covers the box, or 0; how many outputs in `found` it covers
    """
    terminal = find_terminal(arrays, axes, -1, mix_axes(axes, arrays.mixed))
    return _relations(arrays, axes, lows, highs, terminal, asked)


@subkernel
def _insert(arrays, axes, lows, highs, terminal, code, box):
    if terminal == 0:
        terminal = _fresh(arrays.nodes, arrays.state)
        new_group(arrays, axes, code, terminal)
    arrays.nodes[terminal, SEEN] |= _value_bits(axes, lows, highs)
    node = terminal
    for level in range(axes.shape[0]):
        above = _find(arrays.nodes, arrays.slots, node, lows[level], highs[level])
        node = above if above > 0 else _put(arrays, node, lows[level], highs[level])
    arrays.nodes[node, BOX] = box
    return node


@kernel
def insert(arrays, axes, lows, highs, box):
    """Add a box that none covers, for which there is room; the node that its chain begins at."""
    code = mix_axes(axes, arrays.mixed)
    return _insert(arrays, axes, lows, highs, find_terminal(arrays, axes, -1, code), code, box)


@subkernel
def _take_out(arrays, node):
    nodes = arrays.nodes
    nodes[node, BOX] = -1
    while (
        nodes[node, CHILD] > 0
        and nodes[node, BOX] < 0
        and nodes[node, POINTS] == 0
        and nodes[node, SPANS] == 0
    ):
        child = nodes[node, CHILD]
        _drop(arrays, node)
        node = child


@kernel
def take_out(arrays, node):
    """Take away the chain that begins at a node, and what only it needed."""
    _take_out(arrays, node)


@kernel
def fill_slots(nodes, count, slots):
    """Enter all nodes that have a child into an empty table."""
    for node in range(1, count):
        if nodes[node, CHILD] > 0:
            _enter_slot(nodes, slots, node)


@kernel
def fill_doors(nodes, terminals, doors):
    """Enter all terminals into an empty table."""
    for terminal in terminals:
        enter_door(nodes, doors, terminal)


@kernel
def stream(arrays, boxes, done, phases, above):
    """Decide boxes one after the other: those that none covers go in, those that they cover come out.

    Parameters
    ----------
    boxes : offsets, axes, lows and highs
    done : how many are decided
    above : for each box: another that covers it, or -1

    Returns
    -------
    How many boxes are decided; fewer than all when there is no more room
    """
    offsets, all_axes, all_lows, all_highs = boxes
    nodes = arrays.nodes
    for box in range(done, offsets.shape[0] - 1):
        start, end = offsets[box], offsets[box + 1]
        if (
            arrays.state[N_NODES] + end - start + 1 > nodes.shape[0]
            or arrays.state[N_GROUPS] == arrays.terminals.shape[0]
            or arrays.state[N_AXES] + end - start > arrays.axes.shape[0]
        ):
            return box
        axes, lows, highs = all_axes[start:end], all_lows[start:end], all_highs[start:end]
        code = mix_axes(axes, arrays.mixed)
        terminal = find_terminal(arrays, axes, -1, code)
        cover, count = _in_phases(arrays, axes, lows, highs, terminal, phases)
        if cover > 0:
            above[box] = nodes[cover, BOX]
            continue
        for k in range(count):
            above[nodes[arrays.found[k], BOX]] = box
            _take_out(arrays, arrays.found[k])
        _insert(arrays, axes, lows, highs, terminal, code, box)
    return offsets.shape[0] - 1
