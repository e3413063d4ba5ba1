"""Paper 001: what is not covered yet, as disjoint boxes, and who is forwarded because of it."""

from __future__ import annotations

from thatch.reduction.negative_space.approximate import ApproximateNegativeSpace
from thatch.reduction.negative_space.exact import NegativeSpace
from thatch.reduction.negative_space.stream import Growth, stream

__all__ = ["ApproximateNegativeSpace", "Growth", "NegativeSpace", "stream"]
