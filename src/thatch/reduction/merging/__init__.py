"""One filter around several, and how many events more it lets through (paper L, section 5)."""

from __future__ import annotations

from thatch.reduction.merging.degrees import Degree, Traffic
from thatch.reduction.merging.densities import Density, Profiled, Uniform
from thatch.reduction.merging.rules import around, merged, replaced, united

__all__ = ["Degree", "Density", "Profiled", "Traffic", "Uniform", "around", "merged", "replaced", "united"]
