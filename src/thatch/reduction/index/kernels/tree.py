"""Add boxes to the trees of an index, and remove them; `records.py` describes the layout."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, short_kernel, subkernel
from thatch.reduction.boxes import HIGHEST, LOWEST
from thatch.reduction.index.kernels.nodes import (
    NOTHING,
    choose_split,
    depth_of,
    divide,
    drop_leaf,
    make_leaf,
    new_node,
    partition,
    smallest_key,
    words_for,
)
from thatch.reduction.index.kernels.questions import axis_at, load_box, node_at, row_at, unload_box, volume_of
from thatch.reduction.index.records import DEEPEST, LEAF, NODE, RARE, ROW, SAMPLE_SIZE, IndexRecord

__all__ = [
    "ADDED",
    "FULL",
    "STALE",
    "add",
    "append",
    "build",
    "choose_trees",
    "insert",
    "is_stale",
    "leaf_room",
    "rebuild",
    "remove",
]

# What a change asks for: nothing, or a node to build again (0 and above), or
ADDED = -1  # nothing
FULL = -2  # larger arrays
STALE = -3  # all trees built again

_MOST_GARBAGE = 1 << 13  # words; less is not worth moving leaves


@subkernel
def _grow(index, root, count):
    """Build the tree of `order[:count]` at a node. False if there is no room for it."""
    order, stack, state = index.order, index.stack, index.state
    most_nodes = index.nodes_length // NODE
    stack[0], stack[1], stack[2], stack[3] = root, 0, count, depth_of(index, root)
    top = 4
    while top > 0:
        top -= 4
        number, start, count, depth = stack[top], stack[top + 1], stack[top + 2], stack[top + 3]
        node = node_at(index, number)
        end, value = np.int64(-1), np.int64(0)
        if count > LEAF and depth < DEEPEST - 1:
            end, value = choose_split(index, node.parent, start, count)
        if end < 0:
            if not make_leaf(index, number, start, count):
                return False
            continue
        if state.n_nodes + 2 > most_nodes:
            return False
        near_count = partition(index, start, count, end, value)
        drop_leaf(index, node)
        near, far = divide(index, number, end, value)
        node.count = count
        node.built = count
        volume, first = -NOTHING, NOTHING
        for i in range(start, start + count):
            volume = max(volume, row_at(index, order[i]).volume)
            first = min(first, row_at(index, order[i]).number)
        node.volume = volume
        node.first = first
        stack[top], stack[top + 1], stack[top + 2], stack[top + 3] = near, start, near_count, depth + 1
        top += 4
        stack[top], stack[top + 1] = far, start + near_count
        stack[top + 2], stack[top + 3] = count - near_count, depth + 1
        top += 4
    return True


# --- one box at a time -----------------------------------------------------------------------------------------------


@subkernel
def _append(index, number, axes, lows, highs, start, end):
    """Write a box into the next row."""
    state, ends = index.state, index.ends
    row = state.n_rows
    box = row_at(index, row)
    box.start = state.end_words
    box.number = number
    box.leaf = -1
    box.volume = volume_of(lows, highs, start, end)
    p = state.end_words
    for i in range(start, end):
        if lows[i] > LOWEST:
            ends[p], ends[p + 1] = 2 * np.int64(axes[i]), lows[i]
            p += 2
        if highs[i] < HIGHEST:
            ends[p], ends[p + 1] = 2 * np.int64(axes[i]) + 1, -highs[i]
            p += 2
    box.n_ends = (p - state.end_words) // 2
    state.end_words = p
    state.n_rows += 1
    state.live += 1
    return row


@subkernel
def _has_room(index, sides):
    """Whether the arrays have room for one more box with so many sides."""
    state = index.state
    return (
        (state.n_nodes + 3) * NODE <= index.nodes_length
        and state.leaf_words + words_for(index, sides) <= index.leaves_length
        and (state.n_rows + 1) * ROW <= index.rows_length
        and state.end_words + 4 * sides <= index.ends_length
        and max(state.n_rows, state.largest) < index.order_length
        and (state.n_rows < LEAF or index.sample_length >= SAMPLE_SIZE)
    )


@subkernel
def _root_for(index, axes, lows, start, end):
    """The root of the tree for a box: that of its rarest low end, or the common one if all are frequent."""
    best, fewest = np.int64(-1), index.state.live // RARE
    for i in range(start, end):
        if lows[i] > LOWEST and axis_at(index, axes[i]).low_ends < fewest:
            best, fewest = np.int64(axes[i]), axis_at(index, axes[i]).low_ends
    for i in range(start, end):
        if lows[i] > LOWEST:
            axis_at(index, axes[i]).low_ends += 1
    if best < 0:
        return index.state.common
    if axis_at(index, best).root < 0:
        axis_at(index, best).root = new_node(index, -1)
    return axis_at(index, best).root


@subkernel
def _find_leaf(index, root, row):
    """Count a box in on the way to its leaf; return the leaf and its depth."""
    box, query = row_at(index, row), index.contain
    number, depth = root, 0
    while True:
        node = node_at(index, number)
        node.count += 1
        node.volume = max(node.volume, box.volume)
        node.first = min(node.first, box.number)
        if node.split < 0:
            return number, depth
        number = node.near if query[node.split] <= node.value else node.far
        depth += 1


@subkernel
def _put_last(index, number, row):
    """Write a box into the last slot of a leaf that has room for it and has counted it."""
    node, box = node_at(index, number), row_at(index, row)
    leaves, query = index.leaves, index.contain
    start, columns, capacity = node.start, node.columns, node.capacity
    slot = start + 2 * columns + node.count - 1
    in_columns = 0
    for c in range(columns):
        e = leaves[start + c]
        key = query[e]
        if key != smallest_key(e):
            in_columns += 1
        leaves[slot + (3 + c) * capacity] = key
        leaves[start + columns + c] = min(leaves[start + columns + c], key)
    leaves[slot] = 2 * row + (1 if in_columns < box.n_ends else 0)
    leaves[slot + capacity] = box.number
    leaves[slot + 2 * capacity] = box.volume
    box.leaf = number


@subkernel
def _split_leaf(index, number, row, depth):
    """Make a full leaf larger, or split it; return whether it was split."""
    node = node_at(index, number)
    leaves, order = index.leaves, index.order
    start, columns, capacity, count = node.start, node.columns, node.capacity, node.count
    for i in range(count - 1):
        order[i] = leaves[start + 2 * columns + i] >> 1
    order[count - 1] = row
    end, value = np.int64(-1), np.int64(0)
    if count > LEAF and depth < DEEPEST - 1:
        end, value = choose_split(index, node.parent, 0, count)
    if end < 0:
        make_leaf(index, number, 0, count)
        return False
    near_count = partition(index, 0, count, end, value)
    near, far = divide(index, number, end, value)
    child = node_at(index, near)  # it takes over the memory
    child.start = start
    child.columns = columns
    child.capacity = capacity
    node.built = count
    make_leaf(index, near, 0, near_count)
    make_leaf(index, far, near_count, count - near_count)
    return True


@subkernel
def _find_lopsided(index, number, depth):
    """The highest node above a split one that is worth building again, ADDED if the tree is not too deep."""
    allowed = 12
    left = index.state.live // LEAF
    while left > 0:
        allowed += 2
        left >>= 1
    worst = np.int64(ADDED)
    if depth > allowed:
        while number >= 0:
            node = node_at(index, number)
            if node.count > 2 * node.built:
                worst = number
            number = node.parent
    return worst


@subkernel
def insert(index, number, axes, lows, highs, start, end):
    """Add a box; return what that asks for. FULL: nothing has changed."""
    if not _has_room(index, end - start):
        return np.int64(FULL)
    row = _append(index, number, axes, lows, highs, start, end)
    root = _root_for(index, axes, lows, start, end)
    load_box(index, axes, lows, highs, start, end)
    leaf, depth = _find_leaf(index, root, row)
    has_room = node_at(index, leaf).count <= node_at(index, leaf).capacity
    if has_room:
        _put_last(index, leaf, row)
    unload_box(index, axes, start, end)
    if has_room or not _split_leaf(index, leaf, row, depth):
        return np.int64(ADDED)
    return _find_lopsided(index, leaf, depth)


@subkernel
def _is_stale(state):
    """Whether half of what is stored is useless, so that all trees should be built again."""
    return state.n_rows > 2 * state.live + 64 or state.garbage > _MOST_GARBAGE + state.leaf_words // 2


@short_kernel
def is_stale(table):
    """Whether half of what is stored is useless, so that all trees should be built again."""
    return _is_stale(IndexRecord(table, 0).state)


@kernel
def add(table, number, axes, lows, highs):
    """Add a box; return what that asks for. FULL: nothing has changed."""
    index = IndexRecord(table, 0)
    wish = insert(index, number, axes, lows, highs, 0, len(axes))
    return np.int64(STALE) if wish != FULL and _is_stale(index.state) else wish


@kernel
def remove(table, row):
    """Take a box out of its leaf; its row and its ends stay behind. Return what that asks for."""
    index = IndexRecord(table, 0)
    leaves, state, box = index.leaves, index.state, row_at(index, row)
    number = box.leaf
    node = node_at(index, number)
    boxes, columns, capacity = node.start + 2 * node.columns, node.columns, node.capacity
    last = node.count - 1
    slot = 0
    while leaves[boxes + slot] >> 1 != row:
        slot += 1
    for column in range(3 + columns):
        leaves[boxes + column * capacity + slot] = leaves[boxes + column * capacity + last]
    box.leaf = -1
    for p in range(box.start, box.start + 2 * box.n_ends, 2):
        if index.ends[p] & 1 == 0:
            axis_at(index, index.ends[p] >> 1).low_ends -= 1
    state.live -= 1
    while number >= 0:
        node_at(index, number).count -= 1
        number = node_at(index, number).parent
    return STALE if _is_stale(state) else ADDED


# --- many boxes ------------------------------------------------------------------------------------------------------


@kernel
def rebuild(table, root):
    """Build the tree below a node again. False if there is no room for it, or if all trees should be built again."""
    index = IndexRecord(table, 0)
    leaves, order, stack, state = index.leaves, index.order, index.stack, index.state
    count = 0
    stack[0] = root
    top = 1
    while top > 0:
        top -= 1
        number = stack[top]
        node = node_at(index, number)
        if node.split >= 0:
            stack[top], stack[top + 1] = node.near, node.far
            top += 2
        else:
            for i in range(node.count):
                order[count] = leaves[node.start + 2 * node.columns + i] >> 1
                count += 1
            drop_leaf(index, node)
        if number != root:
            node.parent = state.free
            state.free = number
    return _grow(index, root, count) and not _is_stale(state)


@short_kernel
def leaf_room(table, sides):
    """How many words of leaves there must be for one more box with so many sides."""
    index = IndexRecord(table, 0)
    return index.state.leaf_words + words_for(index, sides)


@kernel
def append(table, offsets, axes, lows, highs, numbers):
    """Write boxes into the next rows, in no tree yet; there must be room."""
    index = IndexRecord(table, 0)
    for box in range(len(numbers)):
        _append(index, numbers[box], axes, lows, highs, offsets[box], offsets[box + 1])


@kernel
def choose_trees(table, out_trees):
    """Count low ends, and write the axis whose tree each row belongs to, -1 for the common tree."""
    index = IndexRecord(table, 0)
    ends = index.ends
    for row in range(len(out_trees)):
        box = row_at(index, row)
        for p in range(box.start, box.start + 2 * box.n_ends, 2):
            if ends[p] & 1 == 0:
                axis_at(index, ends[p] >> 1).low_ends += 1
    for row in range(len(out_trees)):
        best, fewest = np.int64(-1), index.state.live // RARE
        box = row_at(index, row)
        for p in range(box.start, box.start + 2 * box.n_ends, 2):
            if ends[p] & 1 == 0 and axis_at(index, ends[p] >> 1).low_ends < fewest:
                best, fewest = ends[p] >> 1, axis_at(index, ends[p] >> 1).low_ends
        out_trees[row] = best


@kernel
def build(table, trees):
    """Build all trees of rows that are in the order of their trees. False if there is no room."""
    index = IndexRecord(table, 0)
    state = index.state
    state.common = new_node(index, -1)
    start = 0
    while start < len(trees):
        axis = trees[start]
        end = start
        while end < len(trees) and trees[end] == axis:
            end += 1
        if state.n_nodes + 1 > index.nodes_length // NODE:
            return False
        root = state.common
        if axis >= 0:
            root = new_node(index, -1)
            axis_at(index, axis).root = root
        for i in range(start, end):
            index.order[i - start] = i
        if not _grow(index, root, end - start):
            return False
        start = end
    return True
