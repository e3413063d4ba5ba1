"""Kernels that build segments: tables and merged tables, the order of sides and boxes, blocks and zones."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, subkernel
from thatch.compiled.pointers import as_doubles, as_int32
from thatch.matching.segments.kernels.blocks import LANES
from thatch.matching.segments.kernels.cells import compare_texts, count_below, number_cell, text_key
from thatch.matching.segments.records import CHECK, MIXED_SIDES, NUMBER, TEXT, GroupRecord

__all__ = [
    "emit_blocks", "kd_order", "mark_used", "merge_values", "order_sides", "rank_sides", "remap",
    "text_keys",
]  # fmt: skip


@kernel
def text_keys(starts, ends, blob, skipped, out_keys):
    """Write the first eight bytes of every text, after those skipped, as numbers that sort like the texts."""
    for text in range(len(out_keys)):
        out_keys[text] = text_key(blob, min(starts[text] + skipped, ends[text]), ends[text])


# --- ranks ------------------------------------------------------------------------------------------------------------


@kernel
def rank_sides(sides, numbers_of, texts_of, out_low, out_high):
    """The first and the last cell of every side.

    Parameters
    ----------
    sides : attribute, then kind and value of the lower and the upper cut
    numbers_of : the distinct numbers of the attributes, with their grids
    texts_of : the distinct texts of the attributes by their position among all, and the position of each text
    """
    local, lo_kind, lo_value, hi_kind, hi_value = sides
    number_at, numbers, grid_at, grid, grid_scale = numbers_of
    distinct, steps = as_doubles(numbers), as_int32(grid)  # as searches see them, so that it is compiled once
    text_at, words, position = texts_of
    for side in range(len(local)):
        which = local[side]
        n_numbers = number_at[which + 1] - number_at[which]
        n_texts = text_at[which + 1] - text_at[which]
        for end in range(2):
            kind = np.int64(hi_kind[side]) if end else np.int64(lo_kind[side])
            value = hi_value[side] if end else lo_value[side]
            rank = kind
            if kind >= TEXT:
                below = count_below(words, text_at[which], text_at[which + 1], position[np.int64(value)])
                rank = 7 + 2 * n_numbers + 2 * below + (kind - TEXT)
            elif kind >= NUMBER:
                cell = number_cell(
                    distinct, number_at[which], number_at[which + 1],
                    steps, grid_at[which], grid_at[which + 1], grid_scale[which], value,
                )  # fmt: skip
                rank = cell + (kind - NUMBER)  # the cell of a known number is the rank of the cut below it
            elif kind == 6:
                rank = 6 + 2 * n_numbers
            elif kind == 7:
                rank = 7 + 2 * n_numbers + 2 * n_texts
            if end:
                out_high[side] = rank - 1
            else:
                out_low[side] = rank


# --- merging tables --------------------------------------------------------------------------------------------------


@kernel
def mark_used(attribute, low, high, number_at, text_at, out_numbers, out_texts):
    """Which values of a table some side begins or ends at."""
    for side in range(len(attribute)):
        which = attribute[side]
        numbers = number_at[which + 1] - number_at[which]
        texts = text_at[which + 1] - text_at[which]
        for end in range(2):
            rank = np.int64(high[side]) + 1 if end else np.int64(low[side])
            if 6 <= rank < 6 + 2 * numbers:
                out_numbers[number_at[which] + ((rank - 6) >> 1)] = True
            elif 7 + 2 * numbers <= rank < 7 + 2 * numbers + 2 * texts:
                out_texts[text_at[which] + ((rank - 7 - 2 * numbers) >> 1)] = True


@kernel
def merge_values(keys, offsets, blob, used, starts, ends, out_chosen, out_at, out_index):
    """Merge the used values of several sorted tables into one, attribute by attribute.

    Parameters
    ----------
    keys : the values of all tables: numbers, or the first bytes of texts
    offsets, blob : the texts, nothing for numbers
    starts, ends : where the values of each attribute (column) lie in each table (row)
    out_chosen : for each value of the merged table, where it comes from
    out_at : where the values of each attribute begin in the merged table
    out_index : for each value, its position among those of its attribute there
    """
    parts, attributes = starts.shape
    at = np.empty(parts, np.int64)
    count = 0
    for attribute in range(attributes):
        first = count
        for part in range(parts):
            at[part] = starts[part, attribute]
        while True:
            best = -1
            for part in range(parts):
                while at[part] < ends[part, attribute] and not used[at[part]]:
                    at[part] += 1
                if at[part] < ends[part, attribute] and (
                    best < 0 or _order(keys, offsets, blob, at[part], at[best]) < 0
                ):
                    best = part
            if best < 0:
                break
            chosen = at[best]
            out_chosen[count] = chosen
            for part in range(parts):
                if at[part] < ends[part, attribute] and _order(keys, offsets, blob, at[part], chosen) == 0:
                    out_index[at[part]] = count - first
                    at[part] += 1
            count += 1
        out_at[attribute + 1] = count


@subkernel
def _order(keys, offsets, blob, a, b):
    """-1, 0 or 1 as one value sorts before, with or after another."""
    if keys[a] != keys[b]:
        return -1 if keys[a] < keys[b] else 1
    if len(offsets) == 0:
        return 0
    return compare_texts(blob, offsets[a], offsets[a + 1], blob, offsets[b], offsets[b + 1])


@kernel
def remap(sides, old_at, local, new_at, index, out_sides):
    """Translate sides to the ranks of a merged table.

    Parameters
    ----------
    sides : attribute, first and last cell
    old_at, new_at : where each attribute's numbers and texts begin, before and after
    local : the attributes' new numbers
    index : where numbers and texts have gone
    """
    attribute, low, high = sides
    out_attribute, out_low, out_high = out_sides
    number_at, text_at = old_at
    new_number_at, new_text_at = new_at
    number_index, text_index = index
    for side in range(len(attribute)):
        old = attribute[side]
        new = local[old]
        out_attribute[side] = new
        numbers, texts = number_at[old + 1] - number_at[old], text_at[old + 1] - text_at[old]
        new_numbers = new_number_at[new + 1] - new_number_at[new]
        new_texts = new_text_at[new + 1] - new_text_at[new]
        for end in range(2):
            rank = np.int64(high[side]) + 1 if end else np.int64(low[side])
            moved = rank
            if rank >= 6:
                step = rank - 6
                inner = rank - 7 - 2 * numbers
                if step < 2 * numbers:
                    moved = 6 + 2 * number_index[number_at[old] + (step >> 1)] + (step & 1)
                elif step == 2 * numbers:
                    moved = 6 + 2 * new_numbers
                elif inner < 2 * texts:
                    moved = 7 + 2 * new_numbers + 2 * text_index[text_at[old] + (inner >> 1)] + (inner & 1)
                else:
                    moved = 7 + 2 * new_numbers + 2 * new_texts
            if end:
                out_high[side] = moved - 1
            else:
                out_low[side] = moved


# --- order --------------------------------------------------------------------------------------------------------------


@kernel
def order_sides(offsets, selectivity, out_order):
    """Order the sides of every box, the most selective first."""
    for box in range(len(offsets) - 1):
        for side in range(offsets[box], offsets[box + 1]):
            out_order[side] = side
            where = side
            while where > offsets[box] and selectivity[out_order[where - 1]] > selectivity[side]:
                out_order[where] = out_order[where - 1]
                where -= 1
            out_order[where] = side


@subkernel
def _select(key, order, start, end, middle):
    """Partly sort order[start:end] by key, so that the median lies at `middle`."""
    end -= 1
    while end > start:
        a, b, c = key[order[start]], key[order[(start + end) >> 1]], key[order[end]]
        pivot = max(min(a, b), min(max(a, b), c))
        left, right = start, end
        while left <= right:
            while key[order[left]] < pivot:
                left += 1
            while key[order[right]] > pivot:
                right -= 1
            if left <= right:
                order[left], order[right] = order[right], order[left]
                left += 1
                right -= 1
        if middle <= right:
            end = right
        elif middle >= left:
            start = left
        else:
            return


@kernel
def kd_order(centres, widths, out_order):
    """Order boxes so that runs of 64 lie close together: split at the median of the widest-spread key, again and again.

    centres and widths have a row per key; out_order starts as 0, 1, 2, ...
    """
    keys, count = centres.shape
    stack = np.empty((128, 2), np.int64)
    stack[0, 0], stack[0, 1] = 0, count
    depth = 1
    while depth > 0:
        depth -= 1
        start, end = stack[depth, 0], stack[depth, 1]
        if end - start <= LANES:
            continue
        best, chosen = -1.0, 0
        step = max(1, (end - start) // 512)
        for key in range(keys):
            least, most, width, seen = np.inf, -np.inf, 0.0, 0
            for index in range(start, end, step):
                centre = centres[key, out_order[index]]
                least, most = min(least, centre), max(most, centre)
                width += widths[key, out_order[index]]
                seen += 1
            spread = (most - least) / (width / seen + 1e-6)
            if spread > best:
                best, chosen = spread, key
        middle = start + ((end - start + LANES - 1) // LANES // 2) * LANES
        _select(centres[chosen], out_order, start, end, middle)
        stack[depth, 0], stack[depth, 1] = start, middle
        stack[depth + 1, 0], stack[depth + 1, 1] = middle, end
        depth += 2


@kernel
def emit_blocks(row, hulls, codes16, checks, out_codes, out_mixed, out_left_at, out_left, left):
    """Write the blocks and zones of one group.

    Codes that stand for no box are such that they change no hull, and empty mixed sides such that they pass.

    Parameters
    ----------
    row : its `GroupRecord`
    hulls : where those of each box begin, their attributes, those of each box in order, and their sides
    codes16 : lo and hi code of every side
    checks : where those of each box begin, nothing if there are none, and their numbers
    left : how many sides are left over by now
    """
    offsets, attributes, order, spans = hulls
    lo16, hi16 = codes16
    check_at, check_number = checks
    group = GroupRecord(row, 0)
    keys, n_keys, blocks = group.keys, group.n_keys, group.n_blocks
    codes_at, zones_at, mixed_at = group.codes_at, group.zones_at, group.mixed_at
    for block in range(blocks):
        base = codes_at + block * n_keys * 128
        for lane in range(min(np.int64(LANES), group.n_boxes - block * LANES)):
            taken = 0
            box = group.first_box + block * LANES + lane
            out_left_at[box] = left
            for position in range(offsets[box], offsets[box + 1]):
                hull = order[position]
                start, end = spans[hull], spans[hull + 1]
                is_left = True
                for key in range(n_keys):
                    if keys[key] == attributes[hull]:
                        is_left = False
                        out_codes[base + key * 128 + lane] = lo16[start]
                        out_codes[base + key * 128 + 64 + lane] = hi16[end - 1]
                if is_left and taken < MIXED_SIDES:
                    is_left = False
                    where = mixed_at + (block * MIXED_SIDES + taken) * 192 + lane
                    out_mixed[where] = attributes[hull]
                    out_mixed[where + 64] = lo16[start]
                    out_mixed[where + 128] = hi16[end - 1]
                    taken += 1
                if is_left or end - start > 1:
                    for side in range(start, end):
                        out_left[3 * left] = attributes[hull]
                        out_left[3 * left + 1] = lo16[side]
                        out_left[3 * left + 2] = hi16[side]
                        left += 1
            if len(check_at) > 0:
                for check in range(check_at[box], check_at[box + 1]):
                    number = check_number[check]
                    out_left[3 * left] = CHECK
                    out_left[3 * left + 1] = number & 65535
                    out_left[3 * left + 2] = number >> 16
                    left += 1
            out_left_at[box + 1] = left
    _write_zones(out_codes, codes_at, zones_at, blocks, n_keys)
    _write_zones(out_codes, zones_at, group.upper_zones_at, (blocks + 63) // 64, n_keys)
    return left


@subkernel
def _write_zones(codes, source, target, count, n_keys):
    """The hull of every block of 64, as lanes of the next level."""
    for index in range((count + 63) // 64 * 64):
        where = target + (index >> 6) * n_keys * 128 + (index & 63)
        for key in range(n_keys):
            least, most = 65535, 0
            if index < count:
                start = source + index * n_keys * 128 + key * 128
                for lane in range(LANES):
                    lo, hi = np.int64(codes[start + lane]), np.int64(codes[start + 64 + lane])
                    least = lo if lo < least else least
                    most = hi if hi > most else most
            codes[where + key * 128] = least
            codes[where + key * 128 + 64] = most
