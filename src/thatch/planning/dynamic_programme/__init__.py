"""Optimal adaptive strategies for sets whose answer is yes or no, by dynamic programming (paper C, section 3)."""

from __future__ import annotations

from thatch.planning.dynamic_programme.gates import Gates, gates_of
from thatch.planning.dynamic_programme.states import state_count
from thatch.planning.dynamic_programme.strategy import Strategy, best_strategy

__all__ = ["Gates", "Strategy", "best_strategy", "gates_of", "state_count"]
