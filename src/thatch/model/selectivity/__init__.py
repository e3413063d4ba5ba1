"""How likely an event satisfies a predicate: the one estimate that planning, merging, placement and indexes share."""

from __future__ import annotations

from thatch.model.selectivity.named import NamedValues
from thatch.model.selectivity.selectivity import Selectivity

__all__ = ["NamedValues", "Selectivity"]
