"""Boxes: conjunctions with their unions written out, one interval per constrained attribute."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from thatch.model.conjunctions import Conjunction
from thatch.model.lines import Cut, intervals
from thatch.model.residuals import Residual

__all__ = ["Box", "boxes_of"]


@dataclass(frozen=True, slots=True)
class Box:
    """Every flat event whose attributes lie between two cuts each, and that passes the residual checks.

    An attribute that is not listed may lie anywhere, missing included.
    """

    intervals: tuple[tuple[str, Cut, Cut], ...]
    residuals: tuple[Residual, ...] = ()


def boxes_of(conjunction: Conjunction) -> Iterator[Box]:
    """The boxes of one conjunction, made as they are asked for; together they are the conjunction."""
    sides = (
        [(key, low, high) for low, high in intervals(constraint)]
        for key, constraint in conjunction.constraints
    )
    for chosen in product(*sides):
        yield Box(chosen, conjunction.residuals)
