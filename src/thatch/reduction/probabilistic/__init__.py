"""Probabilistic subsumption (ouksel2006): the conflict table, its fast decisions, and random points."""

from __future__ import annotations

from thatch.reduction.probabilistic.conflict_table import ConflictTable, MinimisedCover
from thatch.reduction.probabilistic.probability import find_probability, trials, witness_probability
from thatch.reduction.probabilistic.sampling import rspc, rspc_in_cells

__all__ = [
    "ConflictTable",
    "MinimisedCover",
    "find_probability",
    "rspc",
    "rspc_in_cells",
    "trials",
    "witness_probability",
]
