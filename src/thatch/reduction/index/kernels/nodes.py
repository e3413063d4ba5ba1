"""Nodes and leaves of the trees of an index; `records.py` describes the layout.

Too many boxes for a leaf are split at the median of one end. Ends take turns: a second split by the same end helps few
questions, because the near side answers all of them.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import subkernel
from thatch.reduction.boxes import HIGHEST, LOWEST
from thatch.reduction.index.kernels.questions import node_at, row_at
from thatch.reduction.index.records import LANES, LEAF, MOST_COLUMNS, NODE, SAMPLED, SAMPLED_ENDS

__all__ = [
    "NOTHING",
    "choose_split",
    "depth_of",
    "divide",
    "drop_leaf",
    "make_leaf",
    "new_node",
    "partition",
    "smallest_key",
    "words_for",
]

NOTHING = np.iinfo(np.int64).max  # the first number where there are no boxes


@subkernel
def smallest_key(end):
    """The key of an end that a box lacks."""
    return LOWEST if end & 1 == 0 else -HIGHEST


@subkernel
def _key_of(index, row, end):
    """The key of a box for one end."""
    box = row_at(index, row)
    for p in range(box.start, box.start + 2 * box.n_ends, 2):
        if index.ends[p] == end:
            return index.ends[p + 1]
    return smallest_key(end)


@subkernel
def leaf_size(columns, capacity):
    """How many words a leaf takes."""
    return 2 * columns + (3 + columns) * capacity


@subkernel
def words_for(index, sides):
    """How many words of leaves one more box with so many sides may need: for a leaf made again, or two after a split.

    Most links have few boxes, and there may be thousands of links, so few boxes need little.
    """
    state = index.state
    columns = min(MOST_COLUMNS, state.end_words // 2 + 2 * sides)
    if state.n_rows < LANES:
        return leaf_size(columns, LANES)
    if state.n_rows < LEAF:
        return leaf_size(columns, LEAF)
    return 2 * leaf_size(columns, 2 * max(state.largest, LEAF))


# --- nodes -------------------------------------------------------------------------------------------------------------


@subkernel
def new_node(index, parent):
    """The number of an empty leaf without memory."""
    state = index.state
    number = state.free
    if number >= 0:
        state.free = node_at(index, number).parent
    else:
        number = state.n_nodes
        state.n_nodes += 1
    for field in range(NODE):
        index.nodes[number * NODE + field] = 0
    node = node_at(index, number)
    node.split = -1
    node.parent = parent
    node.volume = -NOTHING
    node.first = NOTHING
    return number


@subkernel
def divide(index, number, end, value):
    """Make a node an inner one with two empty children; return these."""
    node = node_at(index, number)
    near, far = new_node(index, number), new_node(index, number)
    node.split = end
    node.value = value
    node.near = near
    node.far = far
    node.capacity = 0
    return near, far


@subkernel
def drop_leaf(index, node):
    """Give up the memory of a node, if it is a leaf."""
    if node.capacity > 0:
        index.state.garbage += leaf_size(node.columns, node.capacity)
        node.capacity = 0


@subkernel
def depth_of(index, number):
    """How many nodes are above a node."""
    depth = -1
    while number >= 0:
        depth += 1
        number = node_at(index, number).parent
    return depth


# --- making a leaf ---------------------------------------------------------------------------------------------------


@subkernel
def _choose_columns(index, start, count):
    """Write the ends that get columns into `sample`, and their columns into `slots`; return how many there are."""
    ends, slots, sample = index.ends, index.slots, index.sample
    seen = 0  # `sample` lists the ends seen so far, and how often
    for i in range(start, start + count):
        box = row_at(index, index.order[i])
        for p in range(box.start, box.start + 2 * box.n_ends, 2):
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
    return columns


@subkernel
def _reserve(index, node, columns, capacity):
    """Find memory for a leaf, if possible the memory of the node itself. False if there is none."""
    state = index.state
    needed = leaf_size(columns, capacity)
    held = leaf_size(node.columns, node.capacity) if node.capacity > 0 else 0
    if held >= needed:
        state.garbage += held - needed
        return True
    state.garbage += held
    if state.leaf_words + needed > index.leaves_length:
        return False
    node.start = state.leaf_words
    state.leaf_words += needed
    return True


@subkernel
def _put(index, number, slot, row):
    """Write a box into a leaf; `slots` has the column of each of its ends, -1 for those without."""
    leaves, node, box = index.leaves, node_at(index, number), row_at(index, row)
    start, columns, capacity = node.start, node.columns, node.capacity
    boxes = start + 2 * columns
    keys = boxes + 3 * capacity
    for c in range(columns):
        leaves[keys + c * capacity + slot] = smallest_key(leaves[start + c])
    mark = 0
    for p in range(box.start, box.start + 2 * box.n_ends, 2):
        c = index.slots[index.ends[p]]
        if c < 0:
            mark = 1
        else:
            leaves[keys + c * capacity + slot] = index.ends[p + 1]
    for c in range(columns):
        leaves[start + columns + c] = min(leaves[start + columns + c], leaves[keys + c * capacity + slot])
    leaves[boxes + slot] = 2 * row + mark
    leaves[boxes + capacity + slot] = box.number
    leaves[boxes + 2 * capacity + slot] = box.volume
    box.leaf = number


@subkernel
def make_leaf(index, number, start, count):
    """Make a node a leaf with the boxes `order[start : start + count]`. False if there is no room.

    `slots` is -1 everywhere, before and after.
    """
    leaves, slots, sample, node = index.leaves, index.slots, index.sample, node_at(index, number)
    columns = _choose_columns(index, start, count)
    if count <= LANES:
        capacity = LANES
    elif count <= LEAF:
        capacity = LEAF
    else:
        capacity = (2 * count + LANES - 1) // LANES * LANES
    if not _reserve(index, node, columns, capacity):
        for c in range(columns):
            slots[sample[c]] = -1
        return False
    node.split = -1
    node.columns = columns
    node.capacity = capacity
    node.count = count
    node.built = count
    index.state.largest = max(index.state.largest, capacity)
    for c in range(columns):
        leaves[node.start + c] = sample[c]
        leaves[node.start + columns + c] = NOTHING
    for k in range(2 * columns, leaf_size(columns, capacity)):
        leaves[node.start + k] = 0
    volume, first = -NOTHING, NOTHING
    for i in range(count):
        row = index.order[start + i]
        _put(index, number, i, row)
        volume = max(volume, row_at(index, row).volume)
        first = min(first, row_at(index, row).number)
    node.volume = volume
    node.first = first
    for c in range(columns):
        slots[leaves[node.start + c]] = -1
    return True


# --- splitting -------------------------------------------------------------------------------------------------------

# Parts of `sample`: SAMPLED keys of each end, the ends, how often they were split by above, and keys of one end sorted.
_ENDS = SAMPLED * SAMPLED_ENDS
_USES = (SAMPLED + 1) * SAMPLED_ENDS
_SORTED = (SAMPLED + 2) * SAMPLED_ENDS


@subkernel
def _sample_keys(index, parent, start, count, taken):
    """Sample the keys of some boxes, and count how often nodes above split by each end; return how many ends there are."""
    ends, slots, sample = index.ends, index.slots, index.sample
    seen = 0
    for i in range(taken):
        box = row_at(index, index.order[start + i * count // taken])
        for p in range(box.start, box.start + 2 * box.n_ends, 2):
            e = ends[p]
            k = slots[e]
            if k < 0:
                if seen == SAMPLED_ENDS:
                    continue
                k = seen
                slots[e] = k
                sample[_ENDS + k] = e
                sample[_USES + k] = 0
                for j in range(taken):
                    sample[k * SAMPLED + j] = smallest_key(e)
                seen += 1
            sample[k * SAMPLED + i] = ends[p + 1]
    number = parent
    while number >= 0:
        node = node_at(index, number)
        k = slots[node.split]
        if k >= 0:
            sample[_USES + k] += 1
        number = node.parent
    return seen


@subkernel
def _split_at_median(sample, k, taken):
    """The largest key near the median that leaves something beyond it, and how many keys are up to it."""
    for i in range(taken):
        key = sample[k * SAMPLED + i]
        j = i
        while j > 0 and sample[_SORTED + j - 1] > key:
            sample[_SORTED + j] = sample[_SORTED + j - 1]
            j -= 1
        sample[_SORTED + j] = key
    middle = sample[_SORTED + (taken - 1) // 2]
    above = (taken - 1) // 2
    while above < taken and sample[_SORTED + above] == middle:
        above += 1
    below = (taken - 1) // 2
    while below > 0 and sample[_SORTED + below - 1] == middle:
        below -= 1
    if above == taken or (below > 0 and taken - below - below < above + above - taken):
        return (sample[_SORTED + below - 1] if below > 0 else middle), below
    return middle, above


@subkernel
def choose_split(index, parent, start, count):
    """The end and the largest near key for the best split of some boxes; the end is -1 if a sample is all alike."""
    slots, sample = index.slots, index.sample
    taken = min(count, SAMPLED)
    seen = _sample_keys(index, parent, start, count, taken)
    best_end, best_value, best_score = np.int64(-1), np.int64(0), 0.0
    for k in range(seen):
        e = sample[_ENDS + k]
        slots[e] = -1
        value, near = _split_at_median(sample, k, taken)
        if not 0 < near < taken:
            continue
        score = min(near, taken - near) / np.float64(1 << min(sample[_USES + k], 40))
        if score > best_score:
            best_end, best_value, best_score = e, value, score
    return best_end, best_value


@subkernel
def partition(index, start, count, end, value):
    """Move boxes with a key up to `value` to the front; return how many there are."""
    order = index.order
    i, j = start, start + count - 1
    while i <= j:
        if _key_of(index, order[i], end) <= value:
            i += 1
        else:
            order[i], order[j] = order[j], order[i]
            j -= 1
    return i - start
