"""The exact search. Call `refute` from Python or from other kernels:

    code, nodes = refute(lows, highs, k, m, low, high, budget, room, witness, used)

It decides whether the box `low[:m]` .. `high[:m]` lies in the union of the rows `lows[:k, :m]` .. `highs[:k, :m]`. All
ends are closed, `int64` and between LOWEST and HIGHEST. The arrays may be larger than `k` and `m`, which may be 0.

    COVERED   `used[:k]` (bool) marks rows whose union contains the box
    OPEN      not covered: `witness[:m]` (int64) lies in the box and in no row
    BUDGET    not decided within `budget` cells (at least 1)
    ROOM      `room` (one-dimensional int64) is too small: call again with one at least twice as large

`nodes` is the number of cells searched. Nothing is allocated, and nothing that an earlier call left in `room` is read, so
one array serves any number of calls; `room_for(k, m)` words are enough for nearly all. `used` and `witness` are undefined
for other codes than those above.

The layout of `room` (`cells.py` describes boxes, proofs and frames):

    axis numbers | row numbers | starts of rows | entries (side, bound) | current proof | smallest bounds for the
    reduction | learned boxes | in how many proofs each row had a part | frames, growing upwards ... units (row, side,
    old end), growing downwards
"""

from __future__ import annotations

from thatch.compiled.decorators import kernel
from thatch.compiled.pointers import pointer_to
from thatch.reduction.kernels.cells import (
    BRANCH,
    ENTRIES,
    HEADER,
    KEPT,
    NEXT,
    PARENT,
    TOTAL,
    UNITS,
    bound_of,
    choose,
    contains,
    find_witness,
    fold,
    order,
    reduce,
    resolve_row,
    start_proof,
)

__all__ = ["BUDGET", "COVERED", "OPEN", "ROOM", "refute", "room_for"]

COVERED = 1
OPEN = 0
BUDGET = -1
ROOM = -2

_LEARNED = 256  # most boxes to keep; the oldest one is dropped
_LEARNED_WORDS = 1 << 18  # most memory for them
_ENTRIES_WORDS = 1 << 16  # initial memory for entries
_FEW_ROWS = (
    24  # reduce fewer rows in every cell, more in the first one only: removing few of many does not pay
)


@kernel
def room_for(k, m):
    """How many words to start with for `k` rows on `m` axes."""
    proof = 2 * m + (k >> 6) + 1
    learned = min(_LEARNED * proof, _LEARNED_WORDS + proof)
    entries = min(4 * k * m, max(_ENTRIES_WORDS, 16 * k))
    frames = min(k + 2, 16) * (HEADER + 6 * m + 4 * k + 4 * proof)
    return 9 * m + 3 * k + 1 + entries + proof + learned + frames


@kernel
def refute(lows, highs, k, m, low, high, budget, room, witness, used):
    """Decide whether a box is covered; the top of this file describes the parameters."""
    size = room.shape[0]
    memory = pointer_to(room)  # an array would be tested for negative indices
    ids = m
    starts = ids + k
    top = starts + k + 1
    if size < top + 4 * m:
        return ROOM, 0
    for i in range(k):
        used[i] = False
    for j in range(m):
        memory[j] = -1

    # The conflict table of the rows that meet the box.
    n = 0
    for i in range(k):
        if top + 4 * m > size:
            return ROOM, 0
        begin = top
        meets = True
        for j in range(m):
            lower = lows[i, j]
            upper = highs[i, j]
            if lower > high[j] or upper < low[j]:
                meets = False
                break
            if lower > low[j]:
                memory[top] = 2 * j
                memory[top + 1] = lower
                top += 2
            if upper < high[j]:
                memory[top] = 2 * j + 1
                memory[top + 1] = -upper
                top += 2
        if not meets:
            top = begin
        elif top == begin:
            used[i] = True
            return COVERED, 1
        else:
            memory[ids + n] = i
            memory[starts + n] = begin
            n += 1
    memory[starts + n] = top
    if n == 0:
        for j in range(m):
            witness[j] = low[j]
        return OPEN, 1

    # Renumber the axes with entries.
    axes = 0
    for p in range(memory[starts], top, 2):
        memory[memory[p] >> 1] = 0
    for j in range(m):
        if memory[j] == 0:
            memory[j] = axes
            axes += 1
    for p in range(memory[starts], top, 2):
        memory[p] = 2 * memory[memory[p] >> 1] + (memory[p] & 1)

    sides = 2 * axes
    words = (n + 63) >> 6
    length = sides + words  # of a proof
    proof = top
    least = proof + length
    learned = least + 3 * sides
    most_learned = min(_LEARNED, 1 + _LEARNED_WORDS // length)
    n_learned = 0
    next_learned = 0
    activity = learned + most_learned * length
    bottom = activity + n
    units = size  # units are at memory[units:size]

    frame = bottom
    if frame + HEADER + sides + 3 * sides + n + length > units - 3 * n:
        return ROOM, 0
    for j in range(m):
        if memory[j] >= 0:
            memory[frame + HEADER + 2 * memory[j]] = low[j]
            memory[frame + HEADER + 2 * memory[j] + 1] = -high[j]
    for row in range(n):
        memory[activity + row] = 0
        memory[frame + HEADER + sides + row] = row
    memory[frame + PARENT] = -1
    source = frame + HEADER + sides  # where the rows of the cell stand, and how many
    count = n
    nodes = 0
    while True:
        # Open a cell: its frame has the cell itself and the parent.
        nodes += 1
        if nodes > budget:
            return BUDGET, nodes
        cell = frame + HEADER
        rows = cell + sides
        memory[frame + UNITS] = units
        is_refuted = False
        for q in range(n_learned):
            if contains(memory, learned + q * length, cell, sides):
                for e in range(length):
                    memory[proof + e] = memory[learned + q * length + e]
                is_refuted = True
                break
        if not is_refuted:
            if rows + count + 2 * sides + length > units - 3 * count:
                return ROOM, nodes
            is_stable = False
            while not (is_stable or is_refuted):
                is_stable = True
                left = 0
                for a in range(source, source + count):
                    row = memory[a]
                    defined = 0
                    meets = True
                    only = -1
                    for p in range(memory[starts + row], memory[starts + row + 1], 2):
                        e = memory[p]
                        bound = memory[p + 1]
                        if bound > memory[cell + e]:
                            if bound > -memory[cell + (e ^ 1)]:
                                meets = False
                                break
                            defined += 1
                            only = p
                    if not meets:
                        continue
                    if defined > 1:
                        memory[rows + left] = row
                        left += 1
                    elif defined == 1:
                        e = memory[only]
                        units -= 3
                        memory[units] = row
                        memory[units + 1] = e
                        memory[units + 2] = memory[cell + (e ^ 1)]
                        memory[cell + (e ^ 1)] = 1 - memory[only + 1]
                        is_stable = False
                    else:
                        start_proof(memory, proof, sides, words, row, starts)
                        is_refuted = True
                        break
                source = rows
                count = left
        if not is_refuted:
            memory[frame + TOTAL] = count
            kept = count
            if count < _FEW_ROWS or memory[frame + PARENT] < 0:
                kept = reduce(memory, rows, count, cell, sides, starts, least)
            memory[frame + KEPT] = kept
            if kept == 0:
                find_witness(memory, frame, sides, starts, proof, least)
                for j in range(m):
                    witness[j] = low[j] if memory[j] < 0 else memory[proof + 2 * memory[j]]
                return OPEN, nodes
            order(memory, frame, choose(memory, rows, kept, cell, starts, activity), sides, starts)

        # Go back through all cells that are refuted by now, to the next one to open.
        while is_refuted:
            cell = frame + HEADER
            while units < memory[frame + UNITS]:
                row, e, end = memory[units], memory[units + 1], memory[units + 2]
                units += 3
                memory[cell + (e ^ 1)] = end
                if memory[proof + (e ^ 1)] > end:
                    resolve_row(memory, proof, row, e ^ 1, starts, sides)
            frame = memory[frame + PARENT]
            if frame < 0:
                for row in range(n):
                    word = memory[proof + sides + (row >> 6)]
                    used[memory[ids + row]] = (word >> (row & 63)) & 1 == 1
                return COVERED, nodes
            for row in range(n):
                memory[activity + row] += (memory[proof + sides + (row >> 6)] >> (row & 63)) & 1
            if n_learned < most_learned:
                n_learned += 1
            for e in range(length):
                memory[learned + next_learned * length + e] = memory[proof + e]
            next_learned += 1
            if next_learned == most_learned:
                next_learned = 0

            cell = frame + HEADER
            entries = memory[frame + ENTRIES]
            if not contains(memory, proof, cell, sides):
                sides_at = cell + sides + memory[frame + TOTAL]
                x = memory[frame + NEXT]
                done = sides_at + 2 * entries + x * length
                if done + length > units:
                    return ROOM, nodes
                for e in range(length):
                    memory[done + e] = memory[proof + e]
                side = memory[sides_at + x]
                memory[sides_at + entries + x] = memory[cell + side]
                memory[cell + side] = bound_of(memory, memory[frame + BRANCH], side, starts)
                memory[frame + NEXT] = x + 1
                if x + 1 < entries:
                    is_refuted = False
                    continue
                start_proof(memory, proof, sides, words, memory[frame + BRANCH], starts)
            fold(memory, frame, proof, sides, words)

        # The next child.
        cell = frame + HEADER
        sides_at = cell + sides + memory[frame + TOTAL]
        entries = memory[frame + ENTRIES]
        child = sides_at + 2 * entries + memory[frame + NEXT] * length
        if child + HEADER + sides > units:
            return ROOM, nodes
        for e in range(sides):
            memory[child + HEADER + e] = memory[cell + e]
        side = memory[sides_at + memory[frame + NEXT]]
        memory[child + HEADER + (side ^ 1)] = 1 - bound_of(memory, memory[frame + BRANCH], side, starts)
        memory[child + PARENT] = frame
        source = cell + sides
        count = memory[frame + KEPT]
        frame = child
