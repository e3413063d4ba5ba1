"""Negative space (jafarpour2008): what is not covered yet, as disjoint boxes, decides which rows are forwarded."""

from __future__ import annotations

from thatch.reduction.negative_space.spaces import ApproximateSpace, ExactSpace, StreamCounts, stream

__all__ = ["ApproximateSpace", "ExactSpace", "StreamCounts", "stream"]
