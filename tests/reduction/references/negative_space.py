"""The slow definition of negative space: points of a small grid, and figures 4, 7, 8 and 9 in plain Python.

A box is a tuple of pairs, the low and the high end on every axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from math import prod
from typing import Literal

from thatch.reduction.problem import NOTHING, Moves

__all__ = ["Box", "FigureSpace", "PointSpace", "is_permitted_split", "overlap", "points", "subtract"]

Box = tuple[tuple[int, int], ...]
Point = tuple[int, ...]


def points(boxes: Iterable[Box]) -> set[Point]:
    """All points of some boxes."""
    return {point for box in boxes for point in product(*(range(low, high + 1) for low, high in box))}


def overlap(one: Box, other: Box) -> Box | None:
    """What two boxes have in common."""
    common = tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(one, other, strict=True))
    return common if all(low <= high for low, high in common) else None


def subtract(box: Box, other: Box, axis: int = 0) -> list[Box]:
    """What another box leaves of a box, in disjoint boxes (figure 4, with `r(i) and s(i)` in line 9)."""
    if axis == 0 and overlap(box, other) is None:
        return [box]
    if axis == len(box):
        return []
    (low, high), (other_low, other_high) = box[axis], other[axis]
    kept = [each for each in ((low, other_low - 1), (other_high + 1, high)) if each[0] <= each[1]]
    remaining = (max(low, other_low), min(high, other_high))
    pieces = [(*box[:axis], each, *box[axis + 1 :]) for each in kept]
    return pieces + subtract((*box[:axis], remaining, *box[axis + 1 :]), other, axis + 1)


class PointSpace:
    """Exact: a row is covered if each of its points is a point of an active row.

    Parameters
    ----------
    order : in which order rows that may no longer be covered are looked at
    """

    def __init__(self, order: Callable[[Iterable[int]], list[int]] = sorted) -> None:
        self._order = order
        self._points: dict[int, set[Point]] = {}
        self.active: set[int] = set()

    def known(self) -> set[Point]:
        """The points that a row must have none besides to be covered."""
        return set().union(*(self._points[row] for row in self.active))

    def add(self, row: int, boxes: Iterable[Box]) -> Moves:
        """Subscribe."""
        self._points[row] = points(boxes)
        return Moves((row,)) if self._subscribe(row) else NOTHING

    def remove(self, row: int) -> Moves:
        """Unsubscribe."""
        del self._points[row]
        if row not in self.active:
            return NOTHING
        self.active.discard(row)
        known = self.known()
        affected = [
            other for other in self._points if other not in self.active and self._points[other] - known
        ]
        return Moves(tuple(other for other in self._order(affected) if self._subscribe(other)), (row,))

    def _subscribe(self, row: int) -> bool:
        if self._points[row] <= self.known():
            return False
        self.active.add(row)
        return True


class FigureSpace:
    """Approximate: figure 8 with a strict limit, and for each unsubscription figure 9, its repair, or figure 7."""

    def __init__(self, domain: Box, k: int) -> None:
        self._k = k
        self.negative = [domain]
        self.active: dict[int, Box] = {}
        self.passive: dict[int, Box] = {}
        self.shares: dict[int, list[Box]] = {}

    def add(self, row: int, box: Box) -> None:
        """Subscribe (figure 8)."""
        hits = [region for region in self.negative if overlap(region, box)]
        if not hits:
            self.passive[row] = box
            return
        self.active[row], self.shares[row] = box, []
        made = 0
        # Those of which at most one piece is left cost nothing and come first.
        for region in sorted(hits, key=lambda each: (_cost(each, box) > 1, -_score(each, box, "ratio"))):
            cost = _cost(region, box)
            if cost > 1:
                if made + cost > self._k:
                    break
                made += cost
            self.negative.remove(region)
            self.negative += subtract(region, box)
            self._give(row, region, box)

    def remove(self, row: int, how: Literal["figure 9", "reassign", "figure 7"]) -> None:
        """Unsubscribe."""
        if row in self.passive:
            del self.passive[row]
            return
        box, freed = self.active.pop(row), self.shares.pop(row)
        if how == "figure 7":
            freed = [box]
        if how != "figure 9":
            for other, other_box in self.active.items():
                if how == "reassign":
                    for region in freed:
                        self._give(other, region, other_box)
                freed = [piece for region in freed for piece in subtract(region, other_box)]
        self.negative += freed
        for other, other_box in list(self.passive.items()):
            if any(overlap(other_box, region) for region in freed):
                self.add(other, self.passive.pop(other))

    def _give(self, row: int, region: Box, box: Box) -> None:
        common = overlap(region, box)
        if common:
            self.shares[row].append(common)


def is_permitted_split(
    before: Iterable[Box], after: Iterable[Box], box: Box, allowed: int, metric: str, *, literal: bool
) -> bool:
    """Whether figure 8 may turn these boxes into those, whatever it does among boxes with equal scores."""
    hits = [region for region in before if overlap(region, box)]
    there = set(after)
    split = [region for region in hits if region not in there]
    kept = [region for region in hits if region in there]
    expected = [region for region in before if region not in split]
    expected += [piece for region in split for piece in subtract(region, box)]
    if sorted(expected) != sorted(after) or any(_cost(region, box) <= 1 for region in kept):
        return False
    paid = [region for region in split if _cost(region, box) > 1]
    return _is_permitted_choice(paid, kept, box, allowed, metric, literal=literal)


def _is_permitted_choice(
    paid: Sequence[Box], kept: Sequence[Box], box: Box, allowed: int, metric: str, *, literal: bool
) -> bool:
    """Whether splitting those, and not these, keeps to the order of scores and to the limit."""
    slack = 1e-9  # scores are compared as logarithms elsewhere
    scores = [_score(region, box, metric) for region in paid]
    best = max((_score(region, box, metric) for region in kept), default=0.0)
    if any(score < best * (1 - slack) for score in scores):
        return False
    made = sum(_cost(region, box) for region in paid)
    if literal:
        lowest = min(scores, default=0.0) * (1 + slack)
        last = max((_cost(r, box) for r in paid if _score(r, box, metric) <= lowest), default=0)
        return (not paid or made - last <= allowed) and (not kept or made > allowed)
    following = max((_cost(r, box) for r in kept if _score(r, box, metric) >= best * (1 - slack)), default=0)
    return (not paid or made <= allowed) and (not kept or made + following > allowed)


def _cost(region: Box, box: Box) -> int:
    return len(subtract(region, box))


def _score(region: Box, box: Box, metric: str) -> float:
    common = overlap(region, box)
    benefit = prod(high - low + 1 for low, high in common) if common else 0
    cost = max(_cost(region, box), 1)
    return {"ratio": benefit / cost, "benefit": float(benefit), "cost": 1 / cost}[metric]
