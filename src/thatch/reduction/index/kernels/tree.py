"""Boxes come into the trees of an index and leave them: the layout is told in `fields.py`."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, short_kernel, subkernel
from thatch.compiled.pointers import int64_at
from thatch.reduction.boxes import HIGHEST, LOWEST
from thatch.reduction.index.kernels.layout import (
    AT,
    BUILT,
    CAPACITY,
    COLUMNS,
    COMMON,
    CONTAIN,
    COUNT,
    DEEPEST,
    ENDS,
    FAR,
    FIRST,
    FREE,
    GARBAGE,
    LARGEST,
    LEAF,
    LEAVES,
    LIVE,
    N_AXES,
    N_ENDS,
    N_LEAVES,
    N_NODES,
    N_ROWS,
    NEAR,
    NODE,
    NODES,
    ORDER,
    PARENT,
    RARE,
    ROW,
    ROW_AT,
    ROW_ENDS,
    ROW_LEAF,
    ROW_NUMBER,
    ROW_VOLUME,
    ROWS,
    SAMPLE,
    SAMPLE_SIZE,
    SLOTS,
    SPLIT,
    STACK,
    STATE,
    VALUE,
    VOLUME,
)
from thatch.reduction.index.kernels.leaves import (
    NOTHING,
    choose_split,
    leaf_size,
    make_leaf,
    partition,
    smallest_key,
    words_for,
)
from thatch.reduction.index.kernels.search import load_box, room_of, unload_box, volume_of

__all__ = [
    "ADDED",
    "FULL",
    "add",
    "append",
    "build",
    "choose_trees",
    "insert",
    "leaf_room",
    "rebuild",
    "remove",
]

ADDED = -1  # of `insert`: nothing more to do
FULL = -2  # the arrays have no room for another box


@subkernel
def _new_node(room, parent):
    """The number of an empty leaf without memory."""
    nodes, state = room[0], room[5]
    node = state[FREE]
    if node >= 0:
        state[FREE] = nodes[node * NODE + PARENT]
    else:
        node = state[N_NODES]
        state[N_NODES] += 1
    for field in range(NODE):
        nodes[node * NODE + field] = 0
    nodes[node * NODE + SPLIT] = -1
    nodes[node * NODE + PARENT] = parent
    nodes[node * NODE + VOLUME] = -NOTHING
    nodes[node * NODE + FIRST] = NOTHING
    return node


@subkernel
def _grow(room, root, order, start, count, depth, slots, sample, stack, n_nodes, size):
    """Build the tree of `order[start : start + count]` at a node. False if there is no room for it."""
    nodes, _, rows, _, _, state = room
    stack[0], stack[1], stack[2], stack[3] = root, start, count, depth
    top = 4
    while top > 0:
        top -= 4
        node, start, count, depth = stack[top], stack[top + 1], stack[top + 2], stack[top + 3]
        base = node * NODE
        end, value = np.int64(-1), np.int64(0)
        if count > LEAF and depth < DEEPEST - 1:
            end, value = choose_split(room, nodes[base + PARENT], order, start, count, slots, sample)
        if end < 0:
            if not make_leaf(room, node, order, start, count, slots, sample, size):
                return False
            continue
        if state[N_NODES] + 2 > n_nodes:
            return False
        near_count = partition(room, order, start, count, end, value)
        near, far = _new_node(room, node), _new_node(room, node)
        if nodes[base + CAPACITY] > 0:  # it was a leaf
            state[GARBAGE] += leaf_size(nodes[base + COLUMNS], nodes[base + CAPACITY])
            nodes[base + CAPACITY] = 0
        nodes[base + SPLIT], nodes[base + VALUE] = end, value
        nodes[base + NEAR], nodes[base + FAR] = near, far
        nodes[base + COUNT], nodes[base + BUILT] = count, count
        volume, first = -NOTHING, NOTHING
        for i in range(start, start + count):
            volume = max(volume, rows[order[i] * ROW + ROW_VOLUME])
            first = min(first, rows[order[i] * ROW + ROW_NUMBER])
        nodes[base + VOLUME], nodes[base + FIRST] = volume, first
        stack[top], stack[top + 1], stack[top + 2], stack[top + 3] = near, start, near_count, depth + 1
        top += 4
        stack[top], stack[top + 1] = far, start + near_count
        stack[top + 2], stack[top + 3] = count - near_count, depth + 1
        top += 4
    return True


@subkernel
def _tree_of(room, axes, lows, start, end):
    """The axis whose tree a box belongs to: that of its rarest low end, -1 if all are frequent."""
    roots, state = room[4], room[5]
    best, fewest = -1, state[LIVE] // RARE
    for i in range(start, end):
        if lows[i] > LOWEST and roots[2 * np.int64(axes[i]) + 1] < fewest:
            best, fewest = np.int64(axes[i]), roots[2 * np.int64(axes[i]) + 1]
    return best


@subkernel
def _append(room, number, axes, lows, highs, start, end):
    """Write a box into the next row."""
    _, _, rows, ends, _, state = room
    row = state[N_ROWS]
    rows[row * ROW + ROW_AT] = state[N_ENDS]
    rows[row * ROW + ROW_NUMBER] = number
    rows[row * ROW + ROW_LEAF] = -1
    rows[row * ROW + ROW_VOLUME] = volume_of(axes, lows, highs, start, end)
    p = state[N_ENDS]
    for i in range(start, end):
        if lows[i] > LOWEST:
            ends[p], ends[p + 1] = 2 * np.int64(axes[i]), lows[i]
            p += 2
        if highs[i] < HIGHEST:
            ends[p], ends[p + 1] = 2 * np.int64(axes[i]) + 1, -highs[i]
            p += 2
    rows[row * ROW + ROW_ENDS] = (p - state[N_ENDS]) // 2
    state[N_ENDS] = p
    state[N_ROWS] += 1
    state[LIVE] += 1
    return row


@subkernel
def insert(desc, number, axes, lows, highs, start, end):
    """Add a box. FULL if there is no room (then nothing has changed), ADDED, or the node that should be built anew."""
    room = room_of(desc)
    nodes, leaves, rows, _, roots, state = room
    size = desc[LEAVES + 1]
    if (
        (state[N_NODES] + 3) * NODE > desc[NODES + 1]
        or size - state[N_LEAVES] < words_for(state, end - start)
        or (state[N_ROWS] + 1) * ROW > desc[ROWS + 1]
        or state[N_ENDS] + 4 * (end - start) > desc[ENDS + 1]
        or max(state[N_ROWS], state[LARGEST]) >= desc[ORDER + 1]
        or (state[N_ROWS] >= LEAF and desc[SAMPLE + 1] < SAMPLE_SIZE)
    ):
        return FULL
    query, order = int64_at(desc, CONTAIN), int64_at(desc, ORDER)
    slots, sample = int64_at(desc, SLOTS), int64_at(desc, SAMPLE)

    row = _append(room, number, axes, lows, highs, start, end)
    volume = rows[row * ROW + ROW_VOLUME]
    axis = _tree_of(room, axes, lows, start, end)
    for i in range(start, end):
        if lows[i] > LOWEST:
            roots[2 * np.int64(axes[i]) + 1] += 1
    if axis >= 0 and roots[2 * axis] < 0:
        roots[2 * axis] = _new_node(room, -1)
    node = state[COMMON] if axis < 0 else roots[2 * axis]

    load_box(query, axes, lows, highs, start, end, state[N_AXES])
    depth = 0
    base = node * NODE
    while True:
        nodes[base + COUNT] += 1
        nodes[base + VOLUME] = max(nodes[base + VOLUME], volume)
        nodes[base + FIRST] = min(nodes[base + FIRST], number)
        if nodes[base + SPLIT] < 0:
            break
        node = nodes[base + NEAR] if query[nodes[base + SPLIT]] <= nodes[base + VALUE] else nodes[base + FAR]
        base = node * NODE
        depth += 1

    count = nodes[base + COUNT]
    at, columns, capacity = nodes[base + AT], nodes[base + COLUMNS], nodes[base + CAPACITY]
    if count <= capacity:
        keys = at + 2 * columns + 3 * capacity + count - 1
        in_columns = 0
        for c in range(columns):
            e = leaves[at + c]
            key = query[e]
            if key != smallest_key(e):
                in_columns += 1
            leaves[keys + c * capacity] = key
            leaves[at + columns + c] = min(leaves[at + columns + c], key)
        slot = at + 2 * columns + count - 1
        leaves[slot] = 2 * row + (1 if in_columns < rows[row * ROW + ROW_ENDS] else 0)
        leaves[slot + capacity] = number
        leaves[slot + 2 * capacity] = volume
        rows[row * ROW + ROW_LEAF] = node
        unload_box(query, axes, start, end, state[N_AXES], LOWEST, -HIGHEST)
        return ADDED
    unload_box(query, axes, start, end, state[N_AXES], LOWEST, -HIGHEST)

    for i in range(count - 1):
        order[i] = leaves[at + 2 * columns + i] >> 1
    order[count - 1] = row
    split, value = np.int64(-1), np.int64(0)
    if count > LEAF and depth < DEEPEST - 1:
        split, value = choose_split(room, nodes[base + PARENT], order, 0, count, slots, sample)
    if split < 0:
        make_leaf(room, node, order, 0, count, slots, sample, size)
        return ADDED
    near_count = partition(room, order, 0, count, split, value)
    near, far = _new_node(room, node), _new_node(room, node)
    # One of the two takes over the memory.
    nodes[near * NODE + AT], nodes[near * NODE + COLUMNS], nodes[near * NODE + CAPACITY] = (
        at,
        columns,
        capacity,
    )
    nodes[base + CAPACITY] = 0
    nodes[base + SPLIT], nodes[base + VALUE] = split, value
    nodes[base + NEAR], nodes[base + FAR] = near, far
    nodes[base + BUILT] = count
    make_leaf(room, near, order, 0, near_count, slots, sample, size)
    make_leaf(room, far, order, near_count, count - near_count, slots, sample, size)

    allowed = 12
    left = state[LIVE] // LEAF
    while left > 0:
        allowed += 2
        left >>= 1
    if depth <= allowed:
        return ADDED
    worst = ADDED
    while node >= 0:
        if nodes[node * NODE + COUNT] > 2 * nodes[node * NODE + BUILT]:
            worst = node
        node = nodes[node * NODE + PARENT]
    return worst


@kernel
def add(desc, number, axes, lows, highs):
    """Add one box, as `insert` tells."""
    return insert(desc, number, axes, lows, highs, 0, len(axes))


@kernel
def remove(desc, row):
    """Take a box out of its leaf; its row and its ends stay behind."""
    room = room_of(desc)
    nodes, leaves, rows, ends, roots, state = room
    node = rows[row * ROW + ROW_LEAF]
    base = node * NODE
    at, columns, capacity = nodes[base + AT], nodes[base + COLUMNS], nodes[base + CAPACITY]
    last = nodes[base + COUNT] - 1
    boxes = at + 2 * columns
    slot = 0
    while leaves[boxes + slot] >> 1 != row:
        slot += 1
    for column in range(3 + columns):
        leaves[boxes + column * capacity + slot] = leaves[boxes + column * capacity + last]
    rows[row * ROW + ROW_LEAF] = -1
    start = rows[row * ROW + ROW_AT]
    for p in range(start, start + 2 * rows[row * ROW + ROW_ENDS], 2):
        if ends[p] & 1 == 0:
            roots[ends[p] + 1] -= 1
    state[LIVE] -= 1
    while node >= 0:
        nodes[node * NODE + COUNT] -= 1
        node = nodes[node * NODE + PARENT]


@kernel
def rebuild(desc, root):
    """Build the tree below a node anew. False if there was no room: then all trees must be built anew."""
    room = room_of(desc)
    nodes, leaves, _, _, _, state = room
    order, slots = int64_at(desc, ORDER), int64_at(desc, SLOTS)
    sample, stack = int64_at(desc, SAMPLE), int64_at(desc, STACK)
    depth = 0
    node = nodes[root * NODE + PARENT]
    while node >= 0:
        depth += 1
        node = nodes[node * NODE + PARENT]
    count = 0
    stack[0] = root
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        base = node * NODE
        if nodes[base + SPLIT] >= 0:
            stack[top], stack[top + 1] = nodes[base + NEAR], nodes[base + FAR]
            top += 2
        else:
            for i in range(nodes[base + COUNT]):
                order[count] = leaves[nodes[base + AT] + 2 * nodes[base + COLUMNS] + i] >> 1
                count += 1
            if nodes[base + CAPACITY] > 0:
                state[GARBAGE] += leaf_size(nodes[base + COLUMNS], nodes[base + CAPACITY])
                nodes[base + CAPACITY] = 0
        if node != root:
            nodes[base + PARENT] = state[FREE]
            state[FREE] = node
    return _grow(
        room,
        root,
        order,
        0,
        count,
        depth,
        slots,
        sample,
        stack,
        desc[NODES + 1] // NODE,
        desc[LEAVES + 1],
    )


@short_kernel
def leaf_room(desc, sides):
    """How many words of leaves there must be for a further box with so many sides."""
    state = int64_at(desc, STATE)
    return state[N_LEAVES] + words_for(state, sides)


@kernel
def append(desc, offsets, axes, lows, highs, numbers):
    """Write boxes behind those that are there, in no tree yet; there must be room."""
    room = room_of(desc)
    for box in range(len(numbers)):
        _append(room, numbers[box], axes, lows, highs, offsets[box], offsets[box + 1])


@kernel
def choose_trees(desc, out_trees):
    """out_trees = the axis whose tree each of all rows belongs to, -1 for the common one; low ends are counted."""
    room = room_of(desc)
    _, _, rows, ends, roots, state = room
    for row in range(len(out_trees)):
        start = rows[row * ROW + ROW_AT]
        for p in range(start, start + 2 * rows[row * ROW + ROW_ENDS], 2):
            if ends[p] & 1 == 0:
                roots[ends[p] + 1] += 1
    for row in range(len(out_trees)):
        best, fewest = -1, state[LIVE] // RARE
        start = rows[row * ROW + ROW_AT]
        for p in range(start, start + 2 * rows[row * ROW + ROW_ENDS], 2):
            if ends[p] & 1 == 0 and roots[ends[p] + 1] < fewest:
                best, fewest = ends[p] >> 1, roots[ends[p] + 1]
        out_trees[row] = best


@kernel
def build(desc, trees):
    """Build all trees of rows that are in the order of their trees. False if there is no room."""
    room = room_of(desc)
    roots, state = room[4], room[5]
    order, slots = int64_at(desc, ORDER), int64_at(desc, SLOTS)
    sample, stack = int64_at(desc, SAMPLE), int64_at(desc, STACK)
    state[COMMON] = _new_node(room, -1)
    start = 0
    while start < len(trees):
        axis = trees[start]
        end = start
        while end < len(trees) and trees[end] == axis:
            end += 1
        if state[N_NODES] + 1 > desc[NODES + 1] // NODE:
            return False
        if axis < 0:
            node = state[COMMON]
        else:
            node = _new_node(room, -1)
            roots[2 * axis] = node
        for i in range(start, end):
            order[i - start] = i
        if not _grow(
            room,
            node,
            order,
            0,
            end - start,
            0,
            slots,
            sample,
            stack,
            desc[NODES + 1] // NODE,
            desc[LEAVES + 1],
        ):
            return False
        start = end
    return True
