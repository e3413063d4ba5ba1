"""Compiled loops over the boxes of a negative space.

Boxes are stored by column: `lows[column, slot]` and `highs[column, slot]`, of which the first `count` slots are in use. A
single box is given by ascending `columns`, and `low` and `high` on them; it spans all others. A block of boxes is tested
column by column without a branch, so that the compiler vectorises it and never reads axes that the box spans.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, subkernel

__all__ = [
    "BENEFIT",
    "COST",
    "RATIO",
    "choose",
    "cut",
    "find_containing",
    "find_meeting",
    "find_meeting_any",
    "meets",
    "stream",
]

BLOCK = 256  # boxes tested at once: their sides on some columns fit the first-level cache
RATIO, BENEFIT, COST = 0, 1, 2  # which boxes are split first


# --- finding ---------------------------------------------------------------------------------------------------------


@subkernel
def mark_meeting(lows, highs, start, size, columns, low, high, mask):
    """Set the mask to 1 for those boxes of a block that meet a box; return whether there are any."""
    some = np.uint8(1)
    for i in range(size):
        mask[i] = 1
    for side in range(columns.size):
        ends_low = lows[columns[side], start : start + size]
        ends_high = highs[columns[side], start : start + size]
        below, above = low[side], high[side]
        some = np.uint8(0)
        for i in range(size):
            mask[i] &= np.uint8(ends_low[i] <= above) & np.uint8(ends_high[i] >= below)
            some |= mask[i]
        if some == 0:
            break
    return some != 0


@kernel
def find_meeting(lows, highs, count, columns, low, high, out_slots):
    """Write the slots of all boxes that meet a box, ascending; return how many there are."""
    mask = np.empty(BLOCK, np.uint8)
    found = 0
    for start in range(0, count, BLOCK):
        size = min(BLOCK, count - start)
        if mark_meeting(lows, highs, start, size, columns, low, high, mask):
            for i in range(size):
                out_slots[found] = start + i
                found += np.int64(mask[i])
    return found


@kernel
def find_containing(lows, highs, count, low, high):
    """The first slot whose box contains a box with a side on every column; -1 if there is none."""
    mask = np.empty(BLOCK, np.uint8)
    for start in range(0, count, BLOCK):
        size = min(BLOCK, count - start)
        for i in range(size):
            mask[i] = 1
        some = np.uint8(1)
        for column in range(lows.shape[0]):
            ends_low = lows[column, start : start + size]
            ends_high = highs[column, start : start + size]
            below, above = low[column], high[column]
            some = np.uint8(0)
            for i in range(size):
                mask[i] &= np.uint8(ends_low[i] <= below) & np.uint8(ends_high[i] >= above)
                some |= mask[i]
            if some == 0:
                break
        if some != 0:
            for i in range(size):
                if mask[i]:
                    return start + i
    return -1


@kernel
def meets(lows, highs, count, columns, low, high):
    """Whether any of the boxes meets a box."""
    mask = np.empty(BLOCK, np.uint8)
    for start in range(0, count, BLOCK):
        if mark_meeting(lows, highs, start, min(BLOCK, count - start), columns, low, high, mask):
            return True
    return False


@kernel
def find_meeting_any(lows, highs, slots, other_lows, other_highs, count):
    """Which of the boxes in these slots meet any of some other boxes."""
    mask = np.empty(BLOCK, np.uint8)
    columns = np.arange(lows.shape[0])
    low, high = np.empty(lows.shape[0], np.int64), np.empty(lows.shape[0], np.int64)
    are_met = np.zeros(slots.size, np.bool_)
    for i in range(slots.size):
        for column in range(lows.shape[0]):
            low[column], high[column] = lows[column, slots[i]], highs[column, slots[i]]
        for start in range(0, count, BLOCK):
            size = min(BLOCK, count - start)
            if mark_meeting(other_lows, other_highs, start, size, columns, low, high, mask):
                are_met[i] = True
                break
    return are_met


# --- splitting -------------------------------------------------------------------------------------------------------


@subkernel
def copy_piece(lows, highs, piece_low, piece_high, slot):
    """Write a piece into a slot."""
    for column in range(lows.shape[0]):
        lows[column, slot] = piece_low[column]
        highs[column, slot] = piece_high[column]


@kernel
def cut(lows, highs, count, slots, columns, low, high):
    """Subtract a box from those in these ascending slots, which are overwritten (figure 4); return the new count.

    The first piece stays in the slot, the others go to the end. A box of which nothing is left leaves a hole, which is
    filled from the end. There must be room for `slots.size * (2 * columns.size - 1)` more boxes.
    """
    rest_low, rest_high = np.empty(lows.shape[0], np.int64), np.empty(lows.shape[0], np.int64)
    holes = 0  # they overwrite slots that are done
    for hit in range(slots.size):
        slot = slots[hit]
        for column in range(lows.shape[0]):
            rest_low[column] = lows[column, slot]
            rest_high[column] = highs[column, slot]
        to = slot
        for side in range(columns.size):
            column = columns[side]
            if rest_low[column] < low[side]:
                end = rest_high[column]
                rest_high[column] = low[side] - 1
                copy_piece(lows, highs, rest_low, rest_high, to)
                count += to == count
                to = count
                rest_low[column], rest_high[column] = low[side], end
            if rest_high[column] > high[side]:
                end = rest_low[column]
                rest_low[column] = high[side] + 1
                copy_piece(lows, highs, rest_low, rest_high, to)
                count += to == count
                to = count
                rest_low[column], rest_high[column] = end, high[side]
        if to == slot:
            slots[holes] = slot
            holes += 1
    for hole in range(holes - 1, -1, -1):
        count -= 1
        if slots[hole] != count:
            for column in range(lows.shape[0]):
                lows[column, slots[hole]] = lows[column, count]
                highs[column, slots[hole]] = highs[column, count]
    return count


@kernel
def choose(lows, highs, slots, columns, low, high, made, allowed, metric, literal, out_slots):
    """Choose which of the boxes in these slots to cut when not all may be (figure 8, lines 8 to 29).

    A box of which at most one piece is left is always cut. The others are cut in the order of their scores as long as
    that makes at most `allowed` pieces in total; `literal` only tests this before each cut. Volumes are sums of
    logarithms, because products would overflow. Returns how many slots are chosen, which are in `out_slots`, ascending,
    and how many pieces are `made` so far.
    """
    costs = np.empty(slots.size, np.int64)
    scores = np.empty(slots.size, np.float64)
    candidates = np.empty(slots.size, np.int64)
    chosen = n_candidates = 0
    for slot in slots:
        cost = 0
        for side in range(columns.size):
            cost += lows[columns[side], slot] < low[side]
            cost += highs[columns[side], slot] > high[side]
        if cost <= 1:
            out_slots[chosen] = slot
            chosen += 1
            continue
        score = -np.float64(cost)
        if metric != COST:
            score = 0.0
            side = 0
            for column in range(lows.shape[0]):
                begin, end = lows[column, slot], highs[column, slot]
                if side < columns.size and columns[side] == column:
                    begin, end = max(begin, low[side]), min(end, high[side])
                    side += 1
                score += np.log(np.float64(end - begin) + 1.0)
            if metric == RATIO:
                score -= np.log(np.float64(cost))
        costs[n_candidates], scores[n_candidates], candidates[n_candidates] = cost, score, slot
        n_candidates += 1
    for candidate in np.argsort(-scores[:n_candidates], kind="mergesort"):
        if made + (0 if literal else costs[candidate]) > allowed:
            break
        made += costs[candidate]
        out_slots[chosen] = candidates[candidate]
        chosen += 1
    out_slots[:chosen].sort()
    return chosen, made


# --- whole streams ---------------------------------------------------------------------------------------------------


@kernel
def enlarge(array, room):
    """The same columns with room for more boxes."""
    larger = np.empty((array.shape[0], room), np.int64)
    for column in range(array.shape[0]):
        larger[column, : array.shape[1]] = array[column]
    return larger


@kernel
def stream(
    new_lows,
    new_highs,
    domain_low,
    domain_high,
    marks,
    k,
    metric,
    literal,
    dynamic,
    pairwise,
    most,
    out_counts,
):
    """Subscribe box after box (figures 6 and 8); at each mark, write the counts of boxes, subsumed and covered.

    `k` is -1 for the exact form. Stops when there are more than `most` boxes; returns the number of subscriptions done.
    """
    n_axes = new_lows.shape[1]
    columns = np.arange(n_axes)
    lows, highs = np.empty((n_axes, 1024), np.int64), np.empty((n_axes, 1024), np.int64)
    lows[:, 0], highs[:, 0] = domain_low, domain_high
    slots, chosen = np.empty(1024, np.int64), np.empty(1024, np.int64)
    active_lows = np.empty((n_axes, new_lows.shape[0] if pairwise else 0), np.int64)
    active_highs = np.empty((n_axes, new_lows.shape[0] if pairwise else 0), np.int64)
    count = 1
    subsumed = covered = active = mark = 0
    for new in range(new_lows.shape[0]):
        low, high = new_lows[new], new_highs[new]
        if pairwise and find_containing(active_lows, active_highs, active, low, high) >= 0:
            covered += 1
            subsumed += 1
        else:
            hits = find_meeting(lows, highs, count, columns, low, high, slots)
            if hits == 0:
                subsumed += 1
            else:
                if pairwise:
                    active_lows[:, active], active_highs[:, active] = low, high
                active += 1
                if k >= 0:
                    allowed = k * active - count if dynamic else k
                    hits, _ = choose(
                        lows, highs, slots[:hits], columns, low, high, 0, allowed, metric, literal, chosen
                    )
                    slots[:hits] = chosen[:hits]
                needed = count + hits * (2 * n_axes - 1)
                if needed > lows.shape[1]:
                    lows, highs = enlarge(lows, 2 * needed), enlarge(highs, 2 * needed)
                    kept = slots[:hits]
                    slots, chosen = np.empty(2 * needed, np.int64), np.empty(2 * needed, np.int64)
                    slots[:hits] = kept
                count = cut(lows, highs, count, slots[:hits], columns, low, high)
        if count > most:
            return new
        if mark < marks.size and new + 1 == marks[mark]:
            out_counts[mark, 0], out_counts[mark, 1], out_counts[mark, 2] = count, subsumed, covered
            mark += 1
    return new_lows.shape[0]
