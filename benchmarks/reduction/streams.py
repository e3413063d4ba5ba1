"""Streams of boxes in the order in which they come, decided by one way after the other, in processor time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes
from thatch.reduction.index import Answers, BoxIndex
from thatch.workloads.jafarpour2008 import TOP, zipf_boxes
from thatch.workloads.ouksel2006 import COMPARISON_TOP, comparison

__all__ = ["Stream", "best_time", "by_index", "comparison_stream", "zipf_stream"]


@dataclass(frozen=True)
class Stream:
    """Boxes of a domain from 0 to `top` on every axis."""

    name: str
    lows: np.ndarray
    highs: np.ndarray
    top: int

    def __len__(self) -> int:
        return len(self.lows)

    @property
    def boxes(self) -> Boxes:
        """With ends of the domain as ends of the axis, so that what is not constrained is no side."""
        return Boxes.of(
            np.where(self.lows <= 0, LOWEST, self.lows), np.where(self.highs >= self.top, HIGHEST, self.highs)
        )

    @property
    def domain(self) -> tuple[np.ndarray, np.ndarray]:
        """For those who need a bounded one."""
        axes = self.lows.shape[1]
        return np.zeros(axes, np.int64), np.full(axes, self.top, np.int64)


def zipf_stream(count: int, axes: int, form: str, exponent: float, seed: int) -> Stream:
    """The boxes of jafarpour2008."""
    lows, highs = zipf_boxes(np.random.default_rng(seed), count, axes, form, exponent)
    return Stream(f"{axes}-D, {form} {exponent:g}", lows, highs, TOP)


def comparison_stream(count: int, axes: int, seed: int) -> Stream:
    """Scenario 1-2 of ouksel2006."""
    lows, highs = comparison(np.random.default_rng(seed), count, axes)
    return Stream(f"scenario 1-2, m = {axes}", lows, highs, COMPARISON_TOP)


def by_index(stream: Stream, *, pairwise: bool = False, budget: float | None = None) -> Answers:
    """Every box decided by those kept before it, and kept if it is not covered."""
    return BoxIndex().stream(stream.boxes, budget=budget, pairwise_only=pairwise)


def best_time(work: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """The least processor seconds that some work took, and what it gave last."""
    best = float("inf")
    result: Any = None
    for _ in range(rounds):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return best, result
