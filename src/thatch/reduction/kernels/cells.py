"""One cell of the exact search: proofs, the reduction, the choice of a row, the witness.

A box is a vector of *sides*, two for each axis: `side[2j] = low` and `side[2j + 1] = -high`. So both ends are treated
alike, and A contains B iff `A[e] <= B[e]` for every side e. A row's entry on side e with bound b (ouksel2006, section 4.2)

    is defined in a cell     iff `b > cell[e]`
    holds in all of it       iff `b > -cell[e ^ 1]`
    is granted by            `cell[e ^ 1] = 1 - b`
    is denied by             `cell[e] = b`
    conflicts with (e ^ 1, c) iff `b + c <= 1`

Rows keep only the entries that are defined in the whole box, and axes without entries are left out: smaller cells define
no further ones.

Everything is in one array of words, `room`, and is named by where it begins. The entries of row i, pairs of a side and a
bound, are from `room[starts + i]` to `room[starts + i + 1]`. A proof is a box and, in bits, the rows that it rests on. A
frame is one level of the search:

    header | cell | rows, kept ones first | sides of the branching row, in order | ends of the cell before each of them
    was denied | the proof of each finished child
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thatch.compiled.decorators import subkernel

__all__ = [
    "BRANCH",
    "ENTRIES",
    "HEADER",
    "KEPT",
    "NEXT",
    "PARENT",
    "TOTAL",
    "UNITS",
    "bound_of",
    "choose",
    "contains",
    "find_witness",
    "fold",
    "order",
    "reduce",
    "resolve_row",
    "start_proof",
]

_NO_SIDE = -(1 << 62)  # a box without an end on this side
_NO_BOUND = 1 << 62  # no entry on this side

# The header of a frame: where the parent's frame begins (-1 for none), how many rows there are, how many are kept, the
# branching row, how many entries it has, how many children are finished, and where units begin.
PARENT, TOTAL, KEPT, BRANCH, ENTRIES, NEXT, UNITS, HEADER = 0, 1, 2, 3, 4, 5, 6, 7


@subkernel
def contains(room: Any, box: int, cell: int, sides: int) -> bool:
    """Whether one box contains the other."""
    e = 0
    while e < sides and room[box + e] <= room[cell + e]:
        e += 1
    return e == sides


@subkernel
def start_proof(room: Any, proof: int, sides: int, words: int, row: int, starts: int) -> None:
    """Make a single row the current proof."""
    for e in range(sides):
        room[proof + e] = _NO_SIDE
    for word in range(words):
        room[proof + sides + word] = 0
    for p in range(room[starts + row], room[starts + row + 1], 2):
        room[proof + room[p]] = room[p + 1]
    room[proof + sides + (row >> 6)] |= np.int64(1) << (row & 63)


@subkernel
def _resolve(room: Any, proof: int, other: int, side: int, sides: int, words: int) -> None:
    """Resolve the current proof with `other`, which continues it beyond this side."""
    far = room[other + side]
    near = room[proof + (side ^ 1)]
    for e in range(sides):
        if room[other + e] > room[proof + e]:
            room[proof + e] = room[other + e]
    room[proof + side] = far
    room[proof + (side ^ 1)] = near
    for word in range(sides, sides + words):
        room[proof + word] |= room[other + word]


@subkernel
def resolve_row(room: Any, proof: int, row: int, side: int, starts: int, sides: int) -> None:
    """The same with a row instead of a proof."""
    near = room[proof + (side ^ 1)]
    far = _NO_SIDE
    for p in range(room[starts + row], room[starts + row + 1], 2):
        e = room[p]
        if e == side:
            far = room[p + 1]
        elif room[p + 1] > room[proof + e]:
            room[proof + e] = room[p + 1]
    room[proof + side] = far
    room[proof + (side ^ 1)] = near
    room[proof + sides + (row >> 6)] |= np.int64(1) << (row & 63)


@subkernel
def fold(room: Any, frame: int, proof: int, sides: int, words: int) -> None:
    """Widen the current proof, which covers the rest of the cell, over the finished children."""
    cell = frame + HEADER
    sides_at = cell + sides + room[frame + TOTAL]
    ends = sides_at + room[frame + ENTRIES]
    done = ends + room[frame + ENTRIES]
    for x in range(room[frame + NEXT] - 1, -1, -1):
        side = room[sides_at + x]
        end = room[ends + x]
        room[cell + side] = end
        if room[proof + side] > end:
            _resolve(room, proof, done + x * (sides + words), side, sides, words)


@subkernel
def reduce(room: Any, rows: int, count: int, cell: int, sides: int, starts: int, least: int) -> int:
    """Algorithm 2 of ouksel2006: return how many rows are left; removed ones follow them, the last one first.

    Smallest bounds are those of the rows at the beginning of a pass: an entry that conflicts with none of them conflicts
    with none that is left.
    """
    first, owner, second = least, least + sides, least + 2 * sides
    kept = count
    while kept > 0:
        for e in range(sides):
            room[first + e] = _NO_BOUND
            room[owner + e] = -1
            room[second + e] = _NO_BOUND
        for a in range(rows, rows + kept):
            row = room[a]
            for p in range(room[starts + row], room[starts + row + 1], 2):
                e = room[p]
                bound = room[p + 1]
                if bound > room[cell + e]:
                    if bound < room[first + e]:
                        room[second + e] = room[first + e]
                        room[first + e] = bound
                        room[owner + e] = row
                    elif bound < room[second + e]:
                        room[second + e] = bound
        before = kept
        a = rows
        while a < rows + kept:
            row = room[a]
            defined = 0
            is_free = False
            for p in range(room[starts + row], room[starts + row + 1], 2):
                e = room[p]
                bound = room[p + 1]
                if bound > room[cell + e]:
                    defined += 1
                    facing = e ^ 1
                    nearest = room[second + facing] if room[owner + facing] == row else room[first + facing]
                    if bound + nearest > 1:
                        is_free = True
                        break
            if is_free or defined >= kept:
                kept -= 1
                room[a] = room[rows + kept]
                room[rows + kept] = row
            else:
                a += 1
        if kept == before:
            break
    return kept


@subkernel
def choose(room: Any, rows: int, kept: int, cell: int, starts: int, activity: int) -> int:
    """Choose the row to branch on: with few entries, a large share of the cell, and a part in many proofs so far.

    SAT solvers use the last criterion. Compared to fewest entries, then largest volume, it takes far fewer cells on the
    hardest known instances (310 wide rows on 20 axes), and somewhat more on narrow rows.
    """
    best = -1
    highest = -1.0
    for a in range(rows, rows + kept):
        row = room[a]
        score = 1.0 + room[activity + row]
        for p in range(room[starts + row], room[starts + row + 1], 2):
            if room[p + 1] > room[cell + room[p]]:
                score *= 0.5
        if score <= highest:  # the volume is at most 1
            continue
        p = room[starts + row]
        while p < room[starts + row + 1]:
            e = room[p]
            end = room[cell + e]
            cut = max(room[p + 1] - end, 0)
            span = 1 - room[cell + (e ^ 1)] - end
            p += 2
            if e & 1 == 0 and p < room[starts + row + 1] and room[p] == e + 1:
                cut += max(room[p + 1] - room[cell + e + 1], 0)
                p += 2
            score *= 1.0 - cut / span
        if score > highest:
            highest = score
            best = row
    return best


@subkernel
def order(room: Any, frame: int, row: int, sides: int, starts: int) -> None:
    """Write the sides of the branching row into its frame, the widest piece first."""
    cell = frame + HEADER
    sides_at = cell + sides + room[frame + TOTAL]
    count = 0
    for p in range(room[starts + row], room[starts + row + 1], 2):
        e = room[p]
        end = room[cell + e]
        if room[p + 1] <= end:
            continue
        width = (room[p + 1] - end) / (1 - room[cell + (e ^ 1)] - end)
        x = count
        while x > 0:
            other = room[sides_at + x - 1]
            end = room[cell + other]
            if (bound_of(room, row, other, starts) - end) / (1 - room[cell + (other ^ 1)] - end) >= width:
                break
            room[sides_at + x] = other
            x -= 1
        room[sides_at + x] = e
        count += 1
    room[frame + BRANCH] = row
    room[frame + ENTRIES] = count
    room[frame + NEXT] = 0


@subkernel
def bound_of(room: Any, row: int, side: int, starts: int) -> Any:
    """The bound of a row's entry on a side."""
    p = room[starts + row]
    while room[p] != side:
        p += 2
    return room[p + 1]


@subkernel
def find_witness(room: Any, frame: int, sides: int, starts: int, point: int, region: int) -> None:
    """Fill `point`, which has a number for each axis at every other index, from this frame up to the first.

    At each level, take the part of the cell that all kept rows miss, each by an entry that the point satisfies. Then go
    through the removed rows, the last one first, and choose any entry that leaves something; there always is one.
    """
    is_last = True
    while frame >= 0:
        cell = frame + HEADER
        rows = cell + sides
        total = room[frame + TOTAL]
        kept = room[frame + KEPT]
        if not is_last:  # the cell as it was when rows were removed
            sides_at = rows + total
            ends = sides_at + room[frame + ENTRIES]
            for x in range(room[frame + NEXT] - 1, -1, -1):
                room[cell + room[sides_at + x]] = room[ends + x]
        for e in range(sides):
            room[region + e] = room[cell + e]
        for a in range(rows, rows + kept):
            row = room[a]
            for p in range(room[starts + row], room[starts + row + 1], 2):
                e = room[p]
                value = room[point + e] if e & 1 == 0 else -room[point + e - 1]
                if value < room[p + 1]:
                    if 1 - room[p + 1] > room[region + (e ^ 1)]:
                        room[region + (e ^ 1)] = 1 - room[p + 1]
                    break
        for a in range(rows + kept, rows + total):
            row = room[a]
            for p in range(room[starts + row], room[starts + row + 1], 2):
                e = room[p]
                if room[region + e] < room[p + 1]:
                    if 1 - room[p + 1] > room[region + (e ^ 1)]:
                        room[region + (e ^ 1)] = 1 - room[p + 1]
                    break
        for e in range(0, sides, 2):
            room[point + e] = room[region + e]
        is_last = False
        frame = room[frame + PARENT]
