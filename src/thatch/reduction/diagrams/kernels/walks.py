"""Walks through covering diagrams: one pass finds who covers a box and whom it covers (li2005, section 4)."""

from __future__ import annotations

import numpy as np

from thatch.compiled.bits import trailing_zeros
from thatch.compiled.decorators import kernel, subkernel
from thatch.reduction.boxes import HIGHEST, LOWEST
from thatch.reduction.diagrams.kernels.nodes import (
    enter_door,
    enter_slot,
    find_node,
    find_terminal,
    hash_axes,
    hash_side,
    insert_chain,
    is_subset,
    node_at,
    remove_chain,
    terminal_at,
)
from thatch.reduction.diagrams.records import NODE, ROWS, WORD, DiagramRecord

__all__ = ["COVERED", "COVERS", "fill_doors", "fill_slots", "insert", "relations", "remove", "stream"]

COVERED = 1  # the paper's right side: an existing box covers or equals the new one
COVERS = 2  # its left side: the new box covers or equals an existing one


@subkernel
def _follow(diagrams, node, level, levels, holds, depth, count):
    """Follow a node that may be related: output it, or walk above it. Return depth, count, and who covers or 0."""
    if level + 1 < levels:
        diagrams.stack[2 * depth], diagrams.stack[2 * depth + 1] = node, (level + 1) << 2 | holds
        return depth + 1, count, np.int64(0)
    if holds & COVERED:
        return depth, count, np.int64(node)
    diagrams.found[count] = node
    return depth, count + 1, np.int64(0)


@subkernel
def _walk(diagrams, terminal, levels, asked, count):
    """Evaluate both sides of the diagrams above a terminal at once, against the sides in `wanted`.

    The paper assigns all variables first; we evaluate a predicate when we reach it, and look up single values. Returns
    an output that covers the box, or 0, and how many outputs in `found` it covers.
    """
    stack, wanted = diagrams.stack, diagrams.wanted
    depth, cover = 0, np.int64(0)
    if levels == 0:
        if node_at(diagrams, terminal).box >= 0:
            depth, count, cover = _follow(diagrams, terminal, -1, levels, asked, depth, count)
        return cover, count
    stack[0], stack[1] = terminal, asked
    depth = 1
    looked_at = 0
    while depth > 0 and cover == 0:
        depth -= 1
        child, level, holds = stack[2 * depth], stack[2 * depth + 1] >> 2, stack[2 * depth + 1] & 3
        if count > 0:
            holds &= COVERS  # no box covers another, so nothing covers a box that covers one
        if holds == 0:
            continue
        low, high = wanted[2 * level], wanted[2 * level + 1]
        if low == high:
            looked_at += 1
            number = find_node(diagrams, child, low, high)
            if number > 0:
                depth, count, cover = _follow(diagrams, number, level, levels, holds, depth, count)
            holds &= COVERED  # one value covers nothing but itself
        number = node_at(diagrams, child).spans if holds else np.int64(0)
        while number > 0 and cover == 0:
            looked_at += 1
            node = node_at(diagrams, number)
            both = 0
            if node.low <= low and high <= node.high:
                both |= COVERED
            if low <= node.low and node.high <= high:
                both |= COVERS
            both &= holds
            if both:
                depth, count, cover = _follow(diagrams, number, level, levels, both, depth, count)
            number = node.after
        number = node_at(diagrams, child).points if holds & COVERS and cover == 0 else np.int64(0)
        while number > 0:
            looked_at += 1
            node = node_at(diagrams, number)
            if low <= node.low <= high:
                depth, count, _ = _follow(diagrams, number, level, levels, COVERS, depth, count)
            number = node.after
    diagrams.state.looked_at += looked_at
    return cover, count


# --- which groups to walk --------------------------------------------------------------------------------------------


@subkernel
def _walk_group(diagrams, number, axes, lows, highs, asked, count):
    """Walk a group, some axes of which the box may span."""
    terminal, wanted = terminal_at(diagrams, number), diagrams.wanted
    levels = terminal.end - terminal.start
    k = 0
    for level in range(levels):
        axis = diagrams.axes[terminal.start + level]
        while k < axes.shape[0] and axes[k] < axis:
            k += 1
        if k < axes.shape[0] and axes[k] == axis:
            wanted[2 * level], wanted[2 * level + 1] = lows[k], highs[k]
        else:
            wanted[2 * level], wanted[2 * level + 1] = LOWEST, HIGHEST
    return _walk(diagrams, number, levels, asked, count)


@subkernel
def _find_in_smaller(diagrams, axes, lows, highs):
    """Who covers a box, in groups with some of its axes and no others; 0 if nobody does."""
    m, groups = axes.shape[0], diagrams.state.n_groups
    cover = np.int64(0)
    if m < 24 and 1 << m <= groups:
        # Every subset of the axes, each one step from the one before.
        chosen, code = 0, 0
        for step in range(1 << m):
            if step > 0:
                k = np.int64(trailing_zeros(step))
                chosen ^= 1 << k
                code ^= diagrams.mixed[k]
            if cover == 0 and chosen != (1 << m) - 1:
                number = find_terminal(diagrams, axes, chosen, code)
                if number > 0:
                    cover, _ = _walk_group(diagrams, number, axes, lows, highs, COVERED, 0)
        return cover
    for group in range(groups):
        number = np.int64(diagrams.terminals[group])
        start, end = terminal_at(diagrams, number).start, terminal_at(diagrams, number).end
        if cover == 0 and end - start < m and is_subset(diagrams.axes, start, end, axes, 0, m):
            cover, _ = _walk_group(diagrams, number, axes, lows, highs, COVERED, 0)
    return cover


@subkernel
def _value_bits(axes, lows, highs):
    """A bit for each side that is one value; values may share one."""
    bits = 0
    for k in range(axes.shape[0]):
        if lows[k] == highs[k]:
            bits |= 1 << (hash_side(axes[k], lows[k], highs[k]) % 62)
    return bits


@subkernel
def _find_in_larger(diagrams, axes, lows, highs, count):
    """Whom a box covers, in groups with all its axes and others; return how many are found in all."""
    m, groups = axes.shape[0], diagrams.state.n_groups
    words = (groups + WORD - 1) // WORD
    hits = diagrams.hits
    for word in range(words):
        hits[word] = (1 << WORD) - 1
    for axis in axes:
        row = (axis & (ROWS - 1)) * diagrams.hits_length
        for word in range(words):
            hits[word] &= diagrams.members[row + word]
    values = _value_bits(axes, lows, highs)
    for word in range(words):
        rest = hits[word]
        while rest > 0:
            group = word * WORD + np.int64(trailing_zeros(rest))
            rest &= rest - 1
            number = np.int64(diagrams.terminals[group]) if group < groups else np.int64(0)
            if number == 0:
                continue
            terminal = terminal_at(diagrams, number)
            start, end = terminal.start, terminal.end
            if end - start <= m or terminal.seen & values != values:  # one value covers nothing but itself
                continue
            if is_subset(axes, 0, m, diagrams.axes, start, end):
                _, count = _walk_group(diagrams, number, axes, lows, highs, COVERS, count)
    return count


@subkernel
def _relations(diagrams, axes, lows, highs, terminal, asked):
    cover, count = np.int64(0), 0
    if terminal > 0:
        cover, count = _walk_group(diagrams, terminal, axes, lows, highs, asked, 0)
    if cover == 0 and count == 0 and asked & COVERED:
        cover = _find_in_smaller(diagrams, axes, lows, highs)
    if cover == 0 and asked & COVERS:
        count = _find_in_larger(diagrams, axes, lows, highs, count)
    return cover, count


# --- what Python calls -----------------------------------------------------------------------------------------------


@kernel
def relations(table, axes, lows, highs, asked):
    """Find who covers a box and whom it covers, in one walk: what `asked` says, and returns, `_walk` does."""
    diagrams = DiagramRecord(table, 0)
    terminal = find_terminal(diagrams, axes, -1, hash_axes(diagrams, axes))
    return _relations(diagrams, axes, lows, highs, terminal, asked)


@kernel
def insert(table, axes, lows, highs, box):
    """Add a box that none covers, for which there is room; return the node at which its chain begins."""
    diagrams = DiagramRecord(table, 0)
    code = hash_axes(diagrams, axes)
    terminal, values = find_terminal(diagrams, axes, -1, code), _value_bits(axes, lows, highs)
    return insert_chain(diagrams, axes, lows, highs, terminal, code, values, box)


@kernel
def remove(table, node):
    """Remove the chain that begins at a node, and all that only it needs."""
    remove_chain(DiagramRecord(table, 0), node)


@kernel
def fill_slots(table):
    """Enter all nodes that have a child into an empty table."""
    diagrams = DiagramRecord(table, 0)
    for number in range(1, diagrams.state.n_nodes):
        if node_at(diagrams, number).child > 0:
            enter_slot(diagrams, number)


@kernel
def fill_doors(table):
    """Enter all terminals into an empty table."""
    diagrams = DiagramRecord(table, 0)
    for group in range(diagrams.state.n_groups):
        enter_door(diagrams, diagrams.terminals[group])


@kernel
def stream(table, boxes, done, phases, above):
    """Decide boxes one after the other: insert those that none covers, and remove those that they cover.

    Writes into `above`, for each box, another that covers it. Begins after the first `done` boxes; returns how many are
    decided, fewer than all when there is no more room.
    """
    offsets, all_axes, all_lows, all_highs = boxes
    diagrams = DiagramRecord(table, 0)
    state, found = diagrams.state, diagrams.found
    for box in range(done, offsets.shape[0] - 1):
        start, end = offsets[box], offsets[box + 1]
        if (
            (state.n_nodes + end - start + 1) * NODE > diagrams.nodes_length
            or state.n_groups == diagrams.terminals_length
            or state.n_axes + end - start > diagrams.axes_length
        ):
            return box
        axes, lows, highs = all_axes[start:end], all_lows[start:end], all_highs[start:end]
        code = hash_axes(diagrams, axes)
        terminal = find_terminal(diagrams, axes, -1, code)
        cover, count = _relations(
            diagrams, axes, lows, highs, terminal, COVERED | COVERS if phases == 1 else COVERED
        )
        if phases == 2 and cover == 0:
            cover, count = _relations(diagrams, axes, lows, highs, terminal, COVERS)
        if cover > 0:
            above[box] = node_at(diagrams, cover).box
            continue
        for k in range(count):
            above[node_at(diagrams, found[k]).box] = box
            remove_chain(diagrams, found[k])
        insert_chain(diagrams, axes, lows, highs, terminal, code, _value_bits(axes, lows, highs), box)
    return offsets.shape[0] - 1
