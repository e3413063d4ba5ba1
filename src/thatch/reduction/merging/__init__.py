"""One filter around several, and how many events more it lets through (paper L, section 5)."""

from __future__ import annotations

from thatch.reduction.merging.degrees import Degree, Sides, Traffic
from thatch.reduction.merging.densities import Density, Profiled, Uniform
from thatch.reduction.merging.rules import around, conjunction_of, merged, predicates_in, united

__all__ = [
    "Degree",
    "Density",
    "Profiled",
    "Sides",
    "Traffic",
    "Uniform",
    "around",
    "conjunction_of",
    "merged",
    "predicates_in",
    "united",
]
