"""Kernels that test sixty-four boxes at a time against an event: blocks of boxes, zones of blocks, zones of zones."""

from __future__ import annotations

import numpy as np

from thatch.compiled.bits import prefetch, trailing_zeros
from thatch.compiled.decorators import subkernel
from thatch.matching.segments.kernels.vectors import mixed64, sides64
from thatch.matching.segments.records import MIXED_SIDES

__all__ = ["boxes_alive", "list_blocks", "mixed_alive", "n_zones", "zones_alive"]


@subkernel
def _keys_alive(codes, start, step, total, group, low, high):
    """One bit for each whose key sides pass, of sixty-four boxes, blocks or zones.

    Parameters
    ----------
    start, step : where the codes of this kind begin in the group, and which sixty-four are meant
    total : how many of the kind the group has
    """
    keys, n_keys = group.keys, group.n_keys
    at = start + step * n_keys * 128
    lanes = ~np.uint64(0)
    for key in range(n_keys):
        which = keys[key]
        lanes &= sides64(codes, at + key * 128, low[which], high[which])
        if lanes == 0:
            break
    there = total - (step << 6)
    return lanes & ((np.uint64(1) << np.uint64(there)) - np.uint64(1)) if there < 64 else lanes


@subkernel
def mixed_alive(mixed, at, low, high, lanes, is_narrow):
    """Those of some boxes whose mixed sides pass."""
    for step in range(MIXED_SIDES):
        if lanes == 0:
            break
        lanes = mixed64(mixed, at + step * 192, low, high, lanes, is_narrow)
    return lanes


@subkernel
def n_zones(group):
    """How many zones a group has."""
    return (group.n_blocks + 63) >> 6


@subkernel
def boxes_alive(codes, group, block, low, high):
    """The boxes of a block whose key sides pass."""
    return _keys_alive(codes, group.codes_at, block, group.n_boxes, group, low, high)


@subkernel
def zones_alive(codes, group, step, low, high):
    """Of sixty-four zones of a group those in which a box may pass."""
    zones = n_zones(group)
    if zones == 1:  # its blocks are tested next anyway
        return np.uint64(1)
    return _keys_alive(codes, group.upper_zones_at, step, zones, group, low, high)


@subkernel
def list_blocks(codes, group, step, zones, low, high, most, found):
    """List the blocks in which a box may pass; return how many there are, and which zones are left for later.

    Parameters
    ----------
    step, zones : which sixty-four zones, and which of them may have such blocks
    most : how many zones to look at
    """
    one = np.uint64(1)
    count = np.int64(0)
    first, size = group.codes_at, group.n_keys * 128
    for _ in range(most):
        if zones == 0:
            break
        zone = (step << 6) + np.int64(trailing_zeros(zones))
        zones &= zones - one
        blocks = _keys_alive(codes, group.zones_at, zone, group.n_blocks, group, low, high)
        while blocks != 0:
            block = (zone << 6) + np.int64(trailing_zeros(blocks))
            found[count] = block
            if size > 0:  # fetch the codes of the first key, in lines of 32, while others are still tested
                for line in range(4):
                    prefetch(codes, first + block * size + 32 * line)
            blocks &= blocks - one
            count += 1
    return count, zones
