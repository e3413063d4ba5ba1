"""Find the boxes that a box may meet, rather than a point: the same tests, with a range of codes of each attribute.

What is found is a superset: checks are not tested, of boxes in deltas only two sides are, and cuts between doubles widen
the range.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.bits import trailing_zeros
from thatch.compiled.decorators import kernel, subkernel
from thatch.compiled.pointers import as_int32
from thatch.matching.segments import records as r
from thatch.matching.segments.kernels.blocks import (
    boxes_alive,
    list_blocks,
    mixed64,
    mixed_alive,
    n_zones,
    zones_alive,
)
from thatch.matching.segments.kernels.cells import FIRST_TEXT, number_cell, number_code, text_cell, text_code
from thatch.matching.segments.kernels.delta import SIDES

__all__ = ["ALL_CODES", "find_meeting"]

ALL_CODES = 65_535  # the highest code that a range may have: it spans all
_ZONES = 64
LOW, HIGH = False, True  # ends of a range


@subkernel
def _length(texts, at):
    """Texts begin with their length in four bytes."""
    return np.int64(as_int32(texts)[at >> 2])


@subkernel
def _cell_of_cut(segment, local, kind, value, texts, is_high):
    """The first cell above a cut or, if that is the high end of a range, the last one below it."""
    numbers = 2 * (segment.number_at[local + 1] - segment.number_at[local])
    if kind < r.NUMBER:
        texts_end = FIRST_TEXT + 1 + numbers + 2 * (segment.text_at[local + 1] - segment.text_at[local])
        cell = np.int64(kind if kind < 6 else FIRST_TEXT + numbers if kind == 6 else texts_end)
        return cell - 1 if is_high else cell
    is_above = kind & 1 != 0
    if kind >= r.TEXT:
        at = np.int64(value)
        inside = np.int64(
            text_cell(
                segment.text_keys, segment.text_offsets, segment.text_blob,
                segment.text_at[local], segment.text_at[local + 1], texts, at + 4, _length(texts, at),
            )
        )  # fmt: skip
        cell, is_equal = FIRST_TEXT + numbers + inside, inside & 1 != 0
    else:
        cell = np.int64(
            number_cell(
                segment.numbers, segment.number_at[local], segment.number_at[local + 1],
                segment.grid, segment.grid_at[local], segment.grid_at[local + 1],
                segment.grid_scale[local], value,
            )
        )  # fmt: skip
        is_equal = cell & 1 == 0
    if not is_equal or is_above == is_high:
        return cell
    return cell - 1 if is_high else cell + 1


@subkernel
def _wide_code_of_cut(kind, value, texts, is_high):
    """The coarse code of a cut, which may lie on either side of it."""
    if kind >= r.TEXT:
        at = np.int64(value)
        return np.int64(text_code(texts, at + 4, _length(texts, at)))
    if kind >= r.NUMBER:
        return np.int64(number_code(np.float64(value).view(np.uint64)))
    return np.int64(0 if kind < 5 and not is_high else kind - 1 if kind < 6 else ALL_CODES if is_high else 5)


@subkernel
def _passes_left(segment, box, low, high):
    """Whether the sides of a box that do not stand in its block pass; those on one attribute are alternatives."""
    left, at, end = segment.left, 3 * np.int64(segment.left_at[box]), 3 * np.int64(segment.left_at[box + 1])
    while at < end and left[at] != r.CHECK:
        which = np.int64(left[at])
        is_met = False
        while at < end and left[at] == which:
            is_met |= left[at + 1] <= high[which] and left[at + 2] >= low[which]
            at += 3
        if not is_met:
            return False
    return True


@subkernel
def _is_wanted(slot, labels, open_labels, traits, needed):
    """Whether a slot has the traits that are needed, and a label that is open."""
    label = np.int64(labels[slot])
    if needed & ~traits[slot] != 0 or label < 0 or label >> 6 >= len(open_labels):
        return False
    return open_labels[label >> 6] & (np.uint64(1) << np.uint64(label & 63)) != 0


@subkernel
def _keep(slot, labels, open_labels, is_once, out, count):
    """Write a slot, and close its label if one slot is enough; return how many there are."""
    if is_once:
        label = np.int64(labels[slot])
        open_labels[label >> 6] ^= np.uint64(1) << np.uint64(label & 63)
    out[count] = slot
    return count + 1


@subkernel
def _search_segment(
    segment, low, high, moment, labels, open_labels, traits, needed, is_once, most, found, out, count
):
    """Write the slots of boxes of a segment that a range may meet."""
    codes = segment.codes
    for number in range(segment.groups_length // segment.group_width):
        group = r.GroupRecord(segment.groups, number * segment.group_width)
        for step in range((n_zones(group) + 63) >> 6):
            zones = zones_alive(codes, group, step, low, high)
            while zones != 0:
                blocks, zones = list_blocks(codes, group, step, zones, low, high, _ZONES, found)
                for index in range(blocks):
                    if count == most:
                        return count
                    block = np.int64(found[index])
                    lanes = boxes_alive(codes, group, block, low, high)
                    if group.mixed_at >= 0:
                        at = group.mixed_at + block * (r.MIXED_SIDES * 192)
                        lanes = mixed_alive(segment, at, low, high, lanes)
                    while lanes != 0:
                        box = group.first_box + (block << 6) + np.int64(trailing_zeros(lanes))
                        lanes &= lanes - np.uint64(1)
                        owner = np.int64(segment.box_owner[box]) if segment.box_owner_length > 0 else box
                        slot = np.int64(segment.claims[owner]) >> 1
                        if not _is_wanted(slot, labels, open_labels, traits, needed):
                            continue
                        if segment.died[owner] > moment and (
                            group.left_kinds == 0 or _passes_left(segment, box, low, high)
                        ):
                            count = _keep(slot, labels, open_labels, is_once, out, count)
    return count


@subkernel
def _search_delta(
    delta, boxes, low, high, moment, labels, open_labels, traits, needed, is_once, most, out, count
):
    """The same for a delta."""
    is_narrow = len(low) == 64
    for block in range((boxes + 63) >> 6):
        if count == most:
            break
        lanes = ~np.uint64(0)
        if boxes - (block << 6) < 64:
            lanes = (np.uint64(1) << np.uint64(boxes - (block << 6))) - np.uint64(1)
        for side in range(SIDES):
            if lanes != 0:
                lanes = mixed64(delta.lanes, (block * SIDES + side) * 192, low, high, lanes, is_narrow)
        while lanes != 0:
            owner = np.int64(delta.box_owner[(block << 6) + np.int64(trailing_zeros(lanes))])
            lanes &= lanes - np.uint64(1)
            if delta.owners[2 * owner + 1] > moment:
                slot = np.int64(delta.owners[2 * owner]) >> 1
                if _is_wanted(slot, labels, open_labels, traits, needed):
                    count = _keep(slot, labels, open_labels, is_once, out, count)
    return count


@subkernel
def _local_of(segment, which):
    """The number of an attribute in a segment, -1 if it has none."""
    return np.int64(segment.local_of[which]) if which < segment.local_of_length else np.int64(-1)


@subkernel
def _aim(segment, attribute, kinds, values, texts, low, high, is_loose):
    """Set the ranges of codes that a box may meet or, unless `is_loose`, those that it meets for sure.

    Returns False if no range of some attribute is sure. Where codes are coarse, the first and the last are not sure.
    """
    result = True
    for side in range(len(attribute)):
        local = _local_of(segment, np.int64(attribute[side]))
        if local < 0:
            continue
        shift = segment.shifts[local]
        first = _cell_of_cut(segment, local, kinds[side, 0], values[side, 0], texts, LOW) >> shift
        last = _cell_of_cut(segment, local, kinds[side, 1], values[side, 1], texts, HIGH) >> shift
        if shift > 0 and not is_loose:
            first += 1
            last -= 1
            if last < 0:
                result, last = False, np.int64(0)
        low[local], high[local] = first, last
    return result


@kernel
def find_meeting(
    segments, deltas, newest, moment, attribute, kinds, values, texts, low, high, wide_low, wide_high,
    labels, open_labels, traits, needed, is_once, most, found, out,
):  # fmt: skip
    """Write the slots of filters that a box may meet, of those whose label is open; return how many there are, and how
    many of them, which come first, are met for sure as far as their sides tell.

    Ranges are 0 to ALL_CODES before and after.

    Parameters
    ----------
    segments, deltas : records, one behind the other
    newest, moment : how many boxes of the last delta count, and the last change that counts
    attribute, kinds, values : sides of the box: an attribute, and kinds and values of the low and the high cut
    texts : those of cuts, each with its length before it, at multiples of four
    open_labels : a bit for each label
    traits, needed : bits of each slot, and those that it must have
    is_once : whether one slot of each label is enough; its bit is cleared then
    most : slots that are enough in any case; with `is_once`, how many labels are open
    out : has room for a slot of every box
    """
    count = in_segments = np.int64(0)
    for is_loose in (False, True):  # first where codes alone decide
        for index in range(len(segments) // r.SEGMENT_WIDTH):
            segment = r.SegmentRecord(segments, index * r.SEGMENT_WIDTH)
            if (segment.is_exact != 0 and is_loose) or (
                segment.is_exact == 0 and not is_loose and not is_once
            ):
                continue
            can_be_sure = _aim(segment, attribute, kinds, values, texts, low, high, is_loose)
            if can_be_sure or is_loose:
                count = _search_segment(
                    segment,
                    low,
                    high,
                    moment,
                    labels,
                    open_labels,
                    traits,
                    needed,
                    is_once,
                    most,
                    found,
                    out,
                    count,
                )
            for side in range(len(attribute)):
                local = _local_of(segment, np.int64(attribute[side]))
                if local >= 0:
                    low[local], high[local] = 0, ALL_CODES
        if not is_loose:
            in_segments = count
    for side in range(len(attribute)):
        which = np.int64(attribute[side])
        if which < len(wide_low):
            wide_low[which] = _wide_code_of_cut(kinds[side, 0], values[side, 0], texts, LOW)
            wide_high[which] = _wide_code_of_cut(kinds[side, 1], values[side, 1], texts, HIGH)
    n_deltas = len(deltas) // r.DELTA_WIDTH
    for index in range(n_deltas):
        delta = r.DeltaRecord(deltas, index * r.DELTA_WIDTH)
        boxes = newest if index == n_deltas - 1 else delta.n_boxes
        count = _search_delta(
            delta,
            boxes,
            wide_low,
            wide_high,
            moment,
            labels,
            open_labels,
            traits,
            needed,
            is_once,
            most,
            out,
            count,
        )
    for side in range(len(attribute)):
        which = np.int64(attribute[side])
        if which < len(wide_low):
            wide_low[which], wide_high[which] = 0, ALL_CODES
    return count, in_segments
