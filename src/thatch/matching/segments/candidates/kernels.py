"""Kernels that keep candidates, boxes whose codes pass, as numbers: that of a group, that of a box, and flags."""

from __future__ import annotations

from thatch.matching.segments.vectors.kernels import merged

__all__ = [
    "FLAGS", "HAS_CHECKS", "LISTED", "SEVERAL", "SHIFT", "SURE",
    "box_of", "candidate_of", "group_of", "sure_candidate",
]  # fmt: skip

SURE = 1  # its codes leave nothing open
LISTED = HAS_CHECKS = 2  # first that a side in its block may be on a list, later that it has checks
SEVERAL = 4  # it may have several sides on lists, which may have to agree on an element
FLAGS, SHIFT = 7, 3


@merged
def candidate_of(box, is_sure, is_listed, is_several, group):
    """A box of a group whose codes pass, as a number."""
    flags = (SURE if is_sure else 0) | (LISTED if is_listed else 0) | (SEVERAL if is_several else 0)
    return (group << (32 + SHIFT)) | (box << SHIFT) | flags


@merged
def sure_candidate(box, group):
    """The same of a box whose codes leave nothing open, on no list."""
    return (group << (32 + SHIFT)) | (box << SHIFT) | SURE


@merged
def box_of(candidate):
    """The number of its box."""
    return (candidate >> SHIFT) & 0xFFFFFFFF


@merged
def group_of(candidate):
    """The number of its group."""
    return candidate >> (32 + SHIFT)
