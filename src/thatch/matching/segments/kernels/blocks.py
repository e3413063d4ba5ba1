"""Kernels that test blocks of sixty-four boxes, zones of sixty-four blocks, and these in sixty-fours, against an event."""

from __future__ import annotations

import numpy as np

from thatch.compiled.bits import prefetch, trailing_zeros
from thatch.compiled.decorators import subkernel
from thatch.matching.segments import fields as f
from thatch.matching.segments.kernels.vectors import mixed64, sides64

__all__ = ["alive", "boxes_alive", "list_blocks", "mixed_alive", "n_zones", "zones_alive"]


@subkernel
def alive(codes, at, groups, row, keys, low, high):
    """One bit for each of 64 boxes, or zones of them, whose key sides pass."""
    lanes = ~np.uint64(0)
    for key in range(keys):
        which = groups[row + f.FIRST_KEY + key]
        lanes &= sides64(codes, at + key * 128, low[which], high[which])
        if lanes == 0:
            break
    return lanes


@subkernel
def mixed_alive(mixed, at, low, high, lanes, is_narrow):
    """Those of some boxes whose mixed sides pass."""
    for step in range(f.SLOTS):
        if lanes == 0:
            break
        lanes = mixed64(mixed, at + step * 192, low, high, lanes, is_narrow)
    return lanes


@subkernel
def n_zones(groups, row):
    """How many zones a group has."""
    return (groups[row + f.GROUP_BLOCKS] + 63) >> 6


@subkernel
def _alive_of(codes, field, place, total, groups, row, low, high):
    """One bit for each that passes of the sixty-four at a place, of all that a group has of a kind."""
    keys = groups[row + f.GROUP_KEYS]
    lanes = alive(codes, groups[row + field] + place * keys * 128, groups, row, keys, low, high)
    there = total - (place << 6)
    return lanes & ((np.uint64(1) << np.uint64(there)) - np.uint64(1)) if there < 64 else lanes


@subkernel
def boxes_alive(codes, groups, row, block, low, high):
    """The boxes of a block whose key sides pass."""
    return _alive_of(codes, f.GROUP_CODES, block, groups[row + f.GROUP_BOXES], groups, row, low, high)


@subkernel
def zones_alive(codes, groups, row, place, low, high):
    """Of sixty-four zones of a group those in which a box may pass."""
    zones = n_zones(groups, row)
    if zones == 1:  # told by its blocks as well
        return np.uint64(1)
    return _alive_of(codes, f.GROUP_ZONES2, place, zones, groups, row, low, high)


@subkernel
def list_blocks(codes, groups, row, place, zones, low, high, most, found):
    """Write down blocks in which a box may pass, of some of sixty-four zones; how many, and which zones are left.

    Parameters
    ----------
    place, zones : which sixty-four, and which of them
    most : zones that are looked at
    """
    one = np.uint64(1)
    count = np.int64(0)
    first, step = groups[row + f.GROUP_CODES], groups[row + f.GROUP_KEYS] * 128
    for _ in range(most):
        if zones == 0:
            break
        zone = (place << 6) + np.int64(trailing_zeros(zones))
        zones &= zones - one
        blocks = _alive_of(codes, f.GROUP_ZONES, zone, groups[row + f.GROUP_BLOCKS], groups, row, low, high)
        while blocks != 0:
            block = (zone << 6) + np.int64(trailing_zeros(blocks))
            found[count] = block
            if step > 0:  # those of the first key, in lines of 32 codes, while others are still tested
                for line in range(4):
                    prefetch(codes, first + block * step + 32 * line)
            blocks &= blocks - one
            count += 1
    return count, zones
