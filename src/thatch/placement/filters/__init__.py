"""Filters for a given assignment: few boxes around many."""

from __future__ import annotations

from thatch.placement.filters.fitting import Fit, filters_of, fitted

__all__ = ["Fit", "filters_of", "fitted"]
