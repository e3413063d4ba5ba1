"""The segment index: immutable columns of boxes in rank space, tested sixty-four at a time."""

from __future__ import annotations

from thatch.matching.segments.index import SegmentIndex

__all__ = ["SegmentIndex"]
