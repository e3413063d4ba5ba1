"""Few boxes around many: k-means, insertion, merging of pairs, and the best two boxes."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, subkernel
from thatch.placement.kernels.boxes import contains, copy_box, copy_boxes, enclose
from thatch.placement.kernels.growth import insert
from thatch.placement.kernels.volumes import union_of

__all__ = ["cluster", "find_two", "insert_in_order", "merge_pairs"]


@kernel
def cluster(rows, weights, draws, rounds, labels):
    """Weighted k-means with `len(draws)` centres; `labels` gets the cluster of each row. How many clusters there are."""
    n, sides = rows.shape
    most = draws.shape[0]
    centres = np.empty((most, sides))
    k = _seed(rows, weights, draws, most, centres, np.empty(n))
    sums = np.empty((k, sides))
    mass = np.empty(k)
    for row in range(n):
        labels[row] = -1
    for _ in range(rounds):
        changed = False
        for c in range(k):
            mass[c] = 0.0
            for side in range(sides):
                sums[c, side] = 0.0
        for row in range(n):
            c = _nearest(rows, row, centres, k)
            if labels[row] != c:
                labels[row] = c
                changed = True
            mass[c] += weights[row]
            for side in range(sides):
                sums[c, side] += weights[row] * rows[row, side]
        if not changed:
            break
        for c in range(k):
            if mass[c] > 0.0:
                for side in range(sides):
                    centres[c, side] = sums[c, side] / mass[c]
    return k


@subkernel
def _seed(rows, weights, draws, k, centres, squares):
    """k-means++: draw each centre by weight times squared distance from the centres before it. How many there are."""
    n, sides = rows.shape
    for c in range(k):
        total = 0.0
        for row in range(n):
            if c == 0:
                squares[row] = np.inf
                total += weights[row]
                continue
            square = 0.0
            for side in range(sides):
                square += (rows[row, side] - centres[c - 1, side]) ** 2
            squares[row] = min(squares[row], square)
            total += squares[row] * weights[row]
        if total <= 0.0:
            return c
        wanted = draws[c] * total
        chosen = n - 1
        for row in range(n):
            wanted -= weights[row] if c == 0 else squares[row] * weights[row]
            if wanted <= 0.0:
                chosen = row
                break
        copy_box(centres, c, rows, chosen)
    return k


@subkernel
def _nearest(rows, row, centres, k):
    """The centre nearest to a row."""
    best = np.inf
    chosen = 0
    for c in range(k):
        square = 0.0
        for side in range(rows.shape[1]):
            square += (rows[row, side] - centres[c, side]) ** 2
        if square < best:
            best = square
            chosen = c
    return chosen


@kernel
def insert_in_order(rows, order, tie, room, out):
    """Insert rows in an order, each where the union grows least. How many boxes of `out` are used."""
    k = 0
    volume = 0.0
    most = out.shape[0]
    trial = np.empty((most + 1, rows.shape[1]))
    for row in order:
        k, volume = insert(out, k, most, volume, (rows, row, row + 1), tie, trial, room)
    return k


@kernel
def merge_pairs(rows, most):
    """Merge the pair whose box wastes least until `most` are left; rows change, the result marks those that remain.

    The best partner of each row is remembered, so that a merge costs O(n), except for rows that lost their partner.
    """
    n = rows.shape[0]
    alive = np.ones(n, np.bool_)
    partner = np.full(n, -1, np.int64)
    cost = np.full(n, np.inf)
    left = n
    for a in range(n):
        for b in range(a + 1, n):
            waste = _waste(rows, a, b)
            if waste < cost[a]:
                cost[a] = waste
                partner[a] = b
    while left > most:
        a = -1
        best = np.inf
        for row in range(n):
            if alive[row] and cost[row] < best:
                best = cost[row]
                a = row
        b = partner[a]
        enclose(rows, a, rows, b)
        alive[b] = False
        left -= 1
        for row in range(n):
            if alive[row] and row != a and contains(rows, a, rows, row) and left > 1:
                alive[row] = False
                left -= 1
        for row in range(n):
            if not alive[row]:
                continue
            lost = partner[row] >= 0 and (partner[row] == a or not alive[partner[row]])
            if row == a or lost:
                cost[row] = np.inf
                partner[row] = -1
                for other in range(row + 1, n):
                    if alive[other]:
                        waste = _waste(rows, row, other)
                        if waste < cost[row]:
                            cost[row] = waste
                            partner[row] = other
            elif row < a:
                waste = _waste(rows, row, a)
                if waste < cost[row]:
                    cost[row] = waste
                    partner[row] = a
    return alive


@subkernel
def _waste(rows, a, b):
    """How much larger the box around two boxes is than their union."""
    d = rows.shape[1] // 2
    around = 1.0
    first = 1.0
    second = 1.0
    shared = 1.0
    for axis in range(d):
        low_a, high_a, low_b, high_b = rows[a, axis], rows[a, d + axis], rows[b, axis], rows[b, d + axis]
        around *= max(high_a, high_b) - min(low_a, low_b)
        first *= high_a - low_a
        second *= high_b - low_b
        shared *= max(0.0, min(high_a, high_b) - max(low_a, low_b))
    return around - first - second + shared


@kernel
def find_two(ends, counts, beyond, is_free, fixed, least, room, out):
    """The two boxes of least union with the `fixed` ones, if it is below `least`; how many of `out` are used.

    The first box ends at `ends[side, 0]`, except on the sides that a choice in `is_free` leaves free: there every end is
    tried. The second box is the hull of `beyond[side, end]`, which is what sticks out of the first on that side.
    """
    sides = ends.shape[0]
    d = sides // 2
    k = fixed.shape[0]
    trial = np.empty((k + 2, sides))
    copy_boxes(trial, fixed, k)
    free = np.empty(d, np.int64)
    at = np.empty(d, np.int64)
    used = 0
    for choice in range(is_free.shape[0]):
        n = 0
        for side in range(sides):
            trial[k, side] = ends[side, 0]
            if is_free[choice, side]:
                free[n] = side
                at[n] = 0
                n += 1
        digit = 0
        while digit < d:
            for axis in range(d):
                trial[k + 1, axis] = np.inf
                trial[k + 1, d + axis] = -np.inf
            for digit in range(d):
                trial[k, free[digit]] = ends[free[digit], at[digit]]
                enclose(trial, k + 1, beyond[free[digit]], at[digit])
            boxes = 1 if trial[k + 1, 0] == np.inf else 2
            is_box = True
            for axis in range(d):
                is_box = is_box and trial[k, axis] <= trial[k, d + axis]
            if is_box:
                volume = union_of(trial, k + boxes, room)
                if volume < least:
                    least = volume
                    used = boxes
                    for slot in range(boxes):
                        copy_box(out, slot, trial, k + slot)
            digit = 0
            while digit < d:
                at[digit] += 1
                if at[digit] < counts[free[digit]]:
                    break
                at[digit] = 0
                digit += 1
    return used
