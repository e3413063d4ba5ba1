"""Rules: filters kept as trees over literals, of which one pass over an event's texts finds those that hold."""

from __future__ import annotations

from thatch.matching.segments.rules.routing import is_rule
from thatch.matching.segments.rules.segment import RuleSegment

__all__ = ["RuleSegment", "is_rule"]
