"""Bytes that constraints take: nested tuples of numbers and texts."""

from __future__ import annotations

import sys

from thatch.model.lines import Constraint

__all__ = ["bytes_of"]


def bytes_of(constraint: Constraint) -> int:
    """Bytes of a constraint: its tuple, and cuts at values; others are the same objects everywhere."""
    cuts = [cut for cut in constraint if len(cut) == 3]
    return sys.getsizeof(constraint) + sum(sys.getsizeof(cut) + sys.getsizeof(cut[1]) for cut in cuts)
