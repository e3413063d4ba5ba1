"""Probabilistic subsumption (ouksel2006): the conflict table, its fast decisions, and random points."""

from __future__ import annotations

from thatch.reduction.probabilistic.conflict_table import ConflictTable, MinimisedCover
from thatch.reduction.probabilistic.probability import find_probability, trials, witness_probability
from thatch.reduction.probabilistic.sampling import BoxDecider, decide_in_cells, rspc

__all__ = [
    "BoxDecider",
    "ConflictTable",
    "MinimisedCover",
    "decide_in_cells",
    "find_probability",
    "rspc",
    "trials",
    "witness_probability",
]
