"""Fast tiers: the engine's segments, and decision diagrams, where sharing saves memory."""

from __future__ import annotations

from thatch.tiering.fast.diagrams import DiagramTier
from thatch.tiering.fast.segments import SegmentTier

__all__ = ["DiagramTier", "SegmentTier"]
