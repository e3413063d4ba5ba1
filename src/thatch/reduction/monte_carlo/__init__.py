"""Paper 000's probabilistic subsumption test: random points, after all that the conflict table can tell."""

from __future__ import annotations

from thatch.reduction.monte_carlo.celled import rspc_in_cells
from thatch.reduction.monte_carlo.probability import find_probability, log_trials, trials, witness_probability
from thatch.reduction.monte_carlo.sampling import rspc

__all__ = ["find_probability", "log_trials", "rspc", "rspc_in_cells", "trials", "witness_probability"]
