"""Sizes, and how ways are timed beside each other."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from benchmarks.diagrams.workload import SETS, Subscriptions

__all__ = ["MICRO", "MILLI", "Bench", "timed_in_turn"]

MILLI, MICRO = 1e3, 1e6


@dataclass(frozen=True)
class Bench:
    """How much is measured."""

    rounds: int = 3
    seed: int = 1
    is_quick: bool = False

    def size(self, count: int) -> int:
        return max(200, count // 100) if self.is_quick else count

    def drawn(self, name: str, count: int) -> Subscriptions:
        return SETS[name](np.random.default_rng(self.seed), count)


def timed_in_turn(
    ways: Mapping[str, Callable[[], Any]], rounds: int
) -> tuple[dict[str, float], dict[str, Any]]:
    """The least processor seconds of each way, round by round after one that compiles, and what each gave."""
    answers = {name: way() for name, way in ways.items()}
    taken = dict.fromkeys(ways, inf)
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.process_time()
            way()
            taken[name] = min(taken[name], time.process_time() - start)
    return taken, answers
