"""One filter around several, and how many events more it lets through (li2005, section 5)."""

from __future__ import annotations

from thatch.reduction.merging.degrees import Degree, ExpectedTraffic, Sides
from thatch.reduction.merging.occasions import Occasion, When
from thatch.reduction.merging.rules import around, predicates_in, unite

__all__ = ["Degree", "ExpectedTraffic", "Occasion", "Sides", "When", "around", "predicates_in", "unite"]
