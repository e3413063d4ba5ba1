"""Leaves of the trees of an index: the layout is told in `fields.py`.

What is too large for a leaf is split at the median of one end. Ends take turns: a further split by an end that was
split by above helps only some of the questions, as the near side answers all of them.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import subkernel
from thatch.reduction.boxes import HIGHEST, LOWEST
from thatch.reduction.index.kernels.layout import (
    AT,
    BUILT,
    CAPACITY,
    COLUMNS,
    COUNT,
    FIRST,
    GARBAGE,
    LANES,
    LARGEST,
    LEAF,
    MOST_COLUMNS,
    N_ENDS,
    N_LEAVES,
    N_ROWS,
    NODE,
    PARENT,
    ROW,
    ROW_AT,
    ROW_ENDS,
    ROW_LEAF,
    ROW_NUMBER,
    ROW_VOLUME,
    SAMPLED,
    SAMPLED_ENDS,
    SPLIT,
    VOLUME,
)

__all__ = ["NOTHING", "choose_split", "leaf_size", "make_leaf", "partition", "smallest_key", "words_for"]

NOTHING = np.iinfo(np.int64).max  # the first number of no boxes


@subkernel
def smallest_key(end):
    """The key of an end that says nothing."""
    return LOWEST if end & 1 == 0 else -HIGHEST


@subkernel
def _key_of(rows, ends, row, end):
    """The key of a box for one of its ends."""
    start = rows[row * ROW + ROW_AT]
    for p in range(start, start + 2 * rows[row * ROW + ROW_ENDS], 2):
        if ends[p] == end:
            return ends[p + 1]
    return smallest_key(end)


@subkernel
def leaf_size(columns, capacity):
    """How many words a leaf takes."""
    return 2 * columns + (3 + columns) * capacity


@subkernel
def words_for(state, sides):
    """How many words of leaves a further box with so many sides may take: one leaf made anew, or two by a split.

    A link has few boxes as a rule, and there may be thousands of links, so few boxes ask for little.
    """
    columns = min(MOST_COLUMNS, state[N_ENDS] // 2 + 2 * sides)
    if state[N_ROWS] < LANES:
        return leaf_size(columns, LANES)
    if state[N_ROWS] < LEAF:
        return leaf_size(columns, LEAF)
    return 2 * leaf_size(columns, 2 * max(state[LARGEST], LEAF))


@subkernel
def _put(room, node, slot, row, slots):
    """Write a box into a leaf. `slots` has the column of each of its ends, -1 for those without."""
    nodes, leaves, rows, ends, _, _ = room
    base = node * NODE
    at, columns, capacity = nodes[base + AT], nodes[base + COLUMNS], nodes[base + CAPACITY]
    boxes = at + 2 * columns
    keys = boxes + 3 * capacity
    for c in range(columns):
        leaves[keys + c * capacity + slot] = smallest_key(leaves[at + c])
    mark = 0
    start = rows[row * ROW + ROW_AT]
    for p in range(start, start + 2 * rows[row * ROW + ROW_ENDS], 2):
        c = slots[ends[p]]
        if c < 0:
            mark = 1
        else:
            leaves[keys + c * capacity + slot] = ends[p + 1]
    for c in range(columns):
        leaves[at + columns + c] = min(leaves[at + columns + c], leaves[keys + c * capacity + slot])
    leaves[boxes + slot] = 2 * row + mark
    leaves[boxes + capacity + slot] = rows[row * ROW + ROW_NUMBER]
    leaves[boxes + 2 * capacity + slot] = rows[row * ROW + ROW_VOLUME]
    rows[row * ROW + ROW_LEAF] = node


@subkernel
def make_leaf(room, node, order, start, count, slots, sample, size):
    """Let a node be a leaf with the boxes `order[start : start + count]`. False if there is no room.

    `slots` is -1 everywhere, before and after.
    """
    nodes, leaves, rows, ends, _, state = room
    # Which ends are frequent enough for a column; `sample` lists those seen, and how often.
    seen = 0
    for i in range(start, start + count):
        begin = rows[order[i] * ROW + ROW_AT]
        for p in range(begin, begin + 2 * rows[order[i] * ROW + ROW_ENDS], 2):
            e = ends[p]
            if slots[e] < 0:
                if seen == SAMPLED_ENDS:
                    continue
                slots[e] = seen
                sample[2 * seen] = e
                sample[2 * seen + 1] = 0
                seen += 1
            sample[2 * slots[e] + 1] += 1
    columns = 0
    for k in range(seen):
        e, uses = sample[2 * k], sample[2 * k + 1]
        slots[e] = -1
        if 4 * uses >= count and columns < MOST_COLUMNS:
            sample[columns] = e  # never beyond what was read
            slots[e] = columns
            columns += 1
    if count <= LANES:
        capacity = LANES
    elif count <= LEAF:
        capacity = LEAF
    else:
        capacity = (2 * count + LANES - 1) // LANES * LANES
    needed = leaf_size(columns, capacity)
    base = node * NODE
    held = 0
    if nodes[base + CAPACITY] > 0:
        held = leaf_size(nodes[base + COLUMNS], nodes[base + CAPACITY])
    if held < needed:
        state[GARBAGE] += held
        if state[N_LEAVES] + needed > size:
            for c in range(columns):
                slots[sample[c]] = -1
            return False
        nodes[base + AT] = state[N_LEAVES]
        state[N_LEAVES] += needed
    else:
        state[GARBAGE] += held - needed
    at = nodes[base + AT]
    nodes[base + SPLIT] = -1
    nodes[base + COLUMNS] = columns
    nodes[base + CAPACITY] = capacity
    nodes[base + COUNT] = count
    nodes[base + BUILT] = count
    state[LARGEST] = max(state[LARGEST], capacity)
    for c in range(columns):
        leaves[at + c] = sample[c]
        leaves[at + columns + c] = NOTHING
    for k in range(2 * columns, needed):
        leaves[at + k] = 0
    volume, first = -NOTHING, NOTHING
    for i in range(count):
        row = order[start + i]
        _put(room, node, i, row, slots)
        volume = max(volume, rows[row * ROW + ROW_VOLUME])
        first = min(first, rows[row * ROW + ROW_NUMBER])
    nodes[base + VOLUME] = volume
    nodes[base + FIRST] = first
    for c in range(columns):
        slots[leaves[at + c]] = -1
    return True


@subkernel
def choose_split(room, parent, order, start, count, slots, sample):
    """By which end, and up to which key, some boxes are split best; the end is -1 if a sample of them is all alike."""
    nodes, _, rows, ends, _, _ = room
    taken = min(count, SAMPLED)
    keys, which, uses = 0, SAMPLED * SAMPLED_ENDS, (SAMPLED + 1) * SAMPLED_ENDS
    sorted_keys = (SAMPLED + 2) * SAMPLED_ENDS
    seen = 0
    for i in range(taken):
        row = order[start + i * count // taken]
        begin = rows[row * ROW + ROW_AT]
        for p in range(begin, begin + 2 * rows[row * ROW + ROW_ENDS], 2):
            e = ends[p]
            k = slots[e]
            if k < 0:
                if seen == SAMPLED_ENDS:
                    continue
                k = seen
                slots[e] = k
                sample[which + k] = e
                sample[uses + k] = 0
                for j in range(taken):
                    sample[keys + k * SAMPLED + j] = smallest_key(e)
                seen += 1
            sample[keys + k * SAMPLED + i] = ends[p + 1]
    node = parent
    while node >= 0:
        k = slots[nodes[node * NODE + SPLIT]]
        if k >= 0:
            sample[uses + k] += 1
        node = nodes[node * NODE + PARENT]
    best_end, best_value, best_score = -1, 0, 0.0
    for k in range(seen):
        e = sample[which + k]
        slots[e] = -1
        for i in range(taken):
            key = sample[keys + k * SAMPLED + i]
            j = i
            while j > 0 and sample[sorted_keys + j - 1] > key:
                sample[sorted_keys + j] = sample[sorted_keys + j - 1]
                j -= 1
            sample[sorted_keys + j] = key
        # The largest key that leaves something beyond it, at the middle or next to it.
        middle = sample[sorted_keys + (taken - 1) // 2]
        above = (taken - 1) // 2
        while above < taken and sample[sorted_keys + above] == middle:
            above += 1
        below = (taken - 1) // 2
        while below > 0 and sample[sorted_keys + below - 1] == middle:
            below -= 1
        near, value = above, middle
        if above == taken or (below > 0 and taken - below - below < above + above - taken):
            near = below
            value = sample[sorted_keys + below - 1] if below > 0 else middle
        if not 0 < near < taken:
            continue
        score = min(near, taken - near) / np.float64(1 << min(sample[uses + k], 40))
        if score > best_score:
            best_end, best_value, best_score = e, value, score
    return best_end, best_value


@subkernel
def partition(room, order, start, count, end, value):
    """Let boxes with a key up to `value` come first; how many they are."""
    rows, ends = room[2], room[3]
    i, j = start, start + count - 1
    while i <= j:
        if _key_of(rows, ends, order[i], end) <= value:
            i += 1
        else:
            order[i], order[j] = order[j], order[i]
            j -= 1
    return i - start
