"""Two-level matching: a fast tier in memory with a budget, and a cold one in a database (commonality, section 5.2)."""

from __future__ import annotations

from thatch.tiering.budget import Budget
from thatch.tiering.engine import TieredEngine
from thatch.tiering.fast import DiagramTier, SegmentTier
from thatch.tiering.problem import Answer, ClusterRecord, ColdTier, FastTier
from thatch.tiering.reference import PlainColdTier

__all__ = [
    "Answer",
    "Budget",
    "ClusterRecord",
    "ColdTier",
    "DiagramTier",
    "FastTier",
    "PlainColdTier",
    "SegmentTier",
    "TieredEngine",
]
