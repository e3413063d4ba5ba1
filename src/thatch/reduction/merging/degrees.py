"""How imperfect a merger is (li2005, definitions 1 and 2): what it lets through beyond its parts, as a probability.

What a merger holds beyond its parts is written as disjoint boxes, whose probabilities add up. With advertisements, only
advertised events count. Beyond a number of boxes some parts are not subtracted, and the degree is an upper bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from thatch.model.conjunctions import Conjunction
from thatch.model.covering import overlap, subtract
from thatch.model.lines import EMPTY, WHOLE, Constraint, difference, intersect
from thatch.model.selectivity import Selectivity

__all__ = ["Degree", "ExpectedTraffic", "Sides"]

_MOST_PIECES = 256

Sides = dict[str, Constraint]


@dataclass(frozen=True, slots=True)
class Degree:
    """What a merger costs."""

    # The share of what the merger holds that none of its parts does (definition 1, with advertisements 2).
    imperfect: float = 0.0
    # The paper's IMT: the probability that an event is let through in vain, at most.
    threshold: float = 0.0


class ExpectedTraffic:
    """Which events are expected: where they lie, and conjunctions of which each satisfies one, if they are known."""

    def __init__(self, selectivity: Selectivity, advertised: Sequence[Conjunction] = ()) -> None:
        self.selectivity = selectivity
        self._advertised: list[Sides] = []  # disjoint
        taken: list[Sides] = []
        for each in advertised:
            sides = dict(each.constraints)
            self._advertised += _subtract_all([sides], taken)
            taken.append(sides)

    @property
    def knows_gaps(self) -> bool:
        """Whether a merger may cost nothing though it holds more than its parts."""
        return self.selectivity.is_measured or bool(self._advertised)

    def degree_beyond(self, merger: Sides, parts: Sequence[Sides]) -> Degree:
        """How imperfect a merger of these parts is, all of them boxes."""
        return self._degree(merger, _subtract_all([merger], parts))

    def degree_on(self, merger: Sides, key: str, held: Constraint) -> Degree:
        """How imperfect a merger is whose parts differ from it in one attribute only, on which they hold this."""
        beyond = difference(merger[key], held) if merger[key] != held else EMPTY
        return self._degree(merger, [{**merger, key: beyond}] if beyond else [])

    def least(
        self,
        rest: Iterable[tuple[str, Constraint]],
        keys: Sequence[str],
        merger: Sequence[Constraint],
        one: Sequence[Constraint],
        other: Sequence[Constraint],
    ) -> float:
        """A quick lower bound on the probability that an event passes a merger of two boxes in vain.

        `rest` is what both have in common; on each of the keys, the merger and both boxes have a constraint.
        """
        if self._advertised:
            return 0.0
        both = [intersect(*sides) for sides in zip(one, other, strict=True)]
        whole, first, second, shared = (
            prod(map(self.selectivity.upper, keys, sides)) for sides in (merger, one, other, both)
        )
        return prod(self.selectivity.upper(*each) for each in rest) * (whole - first - second + shared)

    def _degree(self, whole: Sides, extra: list[Sides]) -> Degree:
        if not extra:
            return Degree()
        all_events, wholes = 1.0, [whole]
        if self._advertised:
            all_events = sum(map(self.mass, self._advertised))
            extra, wholes = _intersect_all(extra, self._advertised), _intersect_all(wholes, self._advertised)
        beyond, held = sum(map(self.mass, extra)), sum(map(self.mass, wholes))
        if not beyond or not held or not all_events:
            return Degree()
        return Degree(min(beyond / held, 1.0), min(beyond / all_events, 1.0))

    def mass(self, box: Sides) -> float:
        """The share of events in a box."""
        share = 1.0
        for key, constraint in box.items():
            share *= self.selectivity.upper(key, constraint)
        return share


def _subtract_all(boxes: list[Sides], others: Sequence[Sides]) -> list[Sides]:
    """Disjoint pieces of disjoint boxes that lie in none of the others, or, if they are many, in none of the first."""
    for other in others:
        left = [piece for box in boxes for piece in (subtract(box, other) if overlap(box, other) else [box])]
        if len(left) > _MOST_PIECES:
            return boxes
        boxes = left
    return boxes


def _intersect_all(boxes: Sequence[Sides], spaces: Sequence[Sides]) -> list[Sides]:
    """The parts of boxes that lie in spaces."""
    found = []
    for box in boxes:
        for space in spaces:
            both = dict(box)
            for key, constraint in space.items():
                both[key] = intersect(both.get(key, WHOLE), constraint)
            if all(both.values()):
                found.append(both)
    return found
