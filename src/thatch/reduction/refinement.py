"""From boxes to events: the loop that asks a box checker until it has a proof, or an event as witness.

What the checker leaves uncovered is a cell in the space of labels. It becomes one of three things: a witness; a row that
was not known yet, if one of the others matches the event; or a *hole*, a slab of cells that holds no event, or in which
none was found. Holes are rows, too: they narrow the search, and the proof records which ones it rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from thatch.engine import Engine
from thatch.errors import UnknownSubscriptionError
from thatch.model.conjunctions import Conjunction, Dead, implied_constraint
from thatch.model.events import read_event
from thatch.model.filters import Filter
from thatch.model.lines import Constraint, intersect
from thatch.model.matching import holds
from thatch.model.names import base_of, key_of
from thatch.model.schema import Schema
from thatch.reduction.boxes import BoxSides
from thatch.reduction.event_boxes import EventBox
from thatch.reduction.problem import BoxVerdict, Verdict, Work
from thatch.reduction.rows import NamedRows, NearbyRows
from thatch.reduction.witnesses import Event, Points, Requirement, event_at, find_points, requirements

__all__ = [
    "Checker",
    "EngineFilters",
    "EventBoxTarget",
    "FilterTarget",
    "ListedFilters",
    "Others",
    "Refinement",
    "Target",
]

_MOST_ROUNDS = 5_000  # calls of the checker; every one but the last adds a row or a hole
_MOST_ADDED = 8  # subscriptions that match one event and are added at once
_MOST_TRIED = 1_000  # others that are tried one by one where boxes prove nothing

Checker = Callable[[NearbyRows, int], BoxVerdict]
"""Decide whether rows cover a box; `used` has positions among them. The second argument is the number of boxes to decide
for one answer."""


# --- what is to be covered, and what may cover it ----------------------------------------------------------------------


class FilterTarget:
    """A filter to be covered."""

    def __init__(self, filter: Filter) -> None:
        self._filter = filter
        self.has_conjunctions = filter.has_conjunctions

    def conjunctions(self, bases: Iterable[str]) -> Sequence[Conjunction]:  # noqa: ARG002 - needed for event boxes only
        """Its conjunctions with regard to these attributes; their number never changes."""
        return self._filter.conjunctions

    @property
    def suits_boxes(self) -> bool:
        """Whether boxes say all of it."""
        return self.has_conjunctions and not self._filter.has_checks

    def filter_among(self, others: Others) -> Filter:  # noqa: ARG002 - needed for event boxes only
        """What is to be covered, as a filter."""
        return self._filter

    def is_covered_by(self, other: Filter) -> bool:
        """Whether one filter provably contains it."""
        return other.covers(self._filter)


class EventBoxTarget:
    """An event box to be covered; attributes that it does not name are missing."""

    has_conjunctions = True
    suits_boxes = True

    def __init__(self, box: EventBox, schema: Schema | None) -> None:
        self._box = box
        self._schema = schema

    def conjunctions(self, bases: Iterable[str]) -> Sequence[Conjunction]:
        """The box with regard to these attributes."""
        return (self._box.conjunction(bases, self._schema),)

    def filter_among(self, others: Others) -> Filter:
        """The box as a filter over the attributes of others."""
        return Filter((self._box.conjunction(others.attributes(), self._schema),), self._schema, ())

    def is_covered_by(self, other: Filter) -> bool:
        """Whether one filter provably contains it."""
        return other.covers(self._box.filter(other))


class ListedFilters:
    """Filters named by their positions, all known from the start."""

    def __init__(self, filters: list[Filter], schema: Schema | None) -> None:
        self.schema = schema
        self._filters = filters

    @property
    def suits_boxes(self) -> bool:
        """Whether boxes say all of them."""
        return not any(each.has_checks or each.is_factored for each in self._filters)

    def attributes(self) -> set[str]:
        """The keys of the attributes that they are about."""
        return {key for each in self._filters for key in each.attributes()}

    def all(self) -> Iterator[tuple[Hashable, Filter]]:
        """All that are known from the start."""
        return iter(enumerate(self._filters))

    def find_matching(self, event: Event, limit: int | None = None) -> Iterator[tuple[Hashable, Filter]]:  # noqa: ARG002 - all
        """Some that match an event; none only if none does."""
        record = read_event(event, self.schema)
        for number, each in enumerate(self._filters):
            if each.holds(record):
                yield number, each


class EngineFilters:
    """The subscriptions of an engine named by their ids, each known once it matches an event."""

    def __init__(self, engine: Engine) -> None:
        self.schema = engine.schema
        self.suits_boxes = True  # whether boxes say all of those that have turned up
        self._engine = engine

    def attributes(self) -> frozenset[str]:
        """The keys of the attributes that they are about."""
        return frozenset(map(key_of, self._engine.attributes()))

    def all(self) -> Iterator[tuple[Hashable, Filter]]:
        """None is known from the start."""
        return iter(())

    def find_matching(
        self, event: Event, limit: int | None = _MOST_ADDED
    ) -> Iterator[tuple[Hashable, Filter]]:
        """Some that match an event; none only if none does."""
        for subscription in self._engine.match(event, limit=limit):
            try:
                found = self._engine.filter(subscription)
            except UnknownSubscriptionError:  # another thread has removed it
                continue
            self.suits_boxes = self.suits_boxes and not (found.has_checks or found.is_factored)
            yield subscription, found


Target = FilterTarget | EventBoxTarget
Others = ListedFilters | EngineFilters

# --- the loop ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Hole:
    """A slab without events; `doubt` says why that is not proved, and is empty if it is."""

    sides: BoxSides
    doubt: str


@dataclass(slots=True)
class _Proof:
    """What the verdicts on boxes rest on."""

    names: set[Hashable] = field(default_factory=set)
    doubts: set[str] = field(default_factory=set)
    rules: set[str] = field(default_factory=set)
    is_certain: bool = True


class _RowsAddedError(Exception):
    """Rows were added, so the question must be asked again."""


class Refinement:
    """Decides whether some filters cover a target; the checker decides about boxes."""

    def __init__(self, target: Target, others: Others, checker: Checker) -> None:
        self._target = target
        self._others = others
        self._checker = checker
        self._schema = others.schema
        self._rows = NamedRows(others.schema)
        self._complete = {name for name, each in others.all() if self._rows.add(name, each)}
        self._work = Work()

    def verdict(self) -> Verdict[Event]:
        """Decide about all conjunctions; an uncovered event ends the search."""
        if not self._target.has_conjunctions:
            return self._unproved("budget")
        proof = _Proof()
        for number in range(len(self._target.conjunctions(()))):
            answer = None
            while answer is None:
                try:
                    answer = self._decide_conjunction(number)
                except _RowsAddedError:
                    continue
            if isinstance(answer, Verdict):
                return answer
            proof.names |= answer.names
            proof.doubts |= answer.doubts
            proof.rules |= answer.rules
            proof.is_certain &= answer.is_certain
        if proof.doubts:
            return self._unproved("residual" if "residual" in proof.doubts else "gap")
        return self._proved(proof)

    def _decide_conjunction(self, number: int) -> _Proof | Verdict[Event]:
        """A proof that one conjunction is covered, or the verdict that it is not, or not provably."""
        conjunction = self._target.conjunctions(self._bases())[number]
        boxes = self._rows.coordinates.question(conjunction)
        if boxes is None:
            return self._unproved("budget")
        proof = _Proof()
        count = len(boxes) * len(self._target.conjunctions(()))
        for box in boxes:
            answer = self._decide_box(conjunction, box, count, proof)
            if answer is not None:
                return answer
        return proof

    def _bases(self) -> set[str]:
        keys = self._rows.coordinates.keys
        return {base_of(each) for key in keys for each in ([key] if isinstance(key, str) else key.keys)}

    def _decide_box(
        self, conjunction: Conjunction, box: BoxSides, count: int, proof: _Proof
    ) -> Verdict[Event] | None:
        """Add to the proof what covers one box; if nothing does, return the verdict."""
        holes: list[_Hole] = []
        while self._work.rounds < _MOST_ROUNDS:
            near = self._rows.near(box, [hole.sides for hole in holes])
            if near is None:
                break
            answer = self._checker(near, count)
            self._work += answer.work + Work(rounds=1)
            if answer.covered is None:
                break
            if answer.covered:
                self._extend_proof(proof, answer, near, holes)
                return None
            assert answer.witness is not None
            labels = dict(zip(near.axes.tolist(), answer.witness.tolist(), strict=True))
            found = self._find_event(conjunction, box, labels)
            if not isinstance(found, _Hole):
                return self._refute(conjunction, found, answer.decided_by)
            holes.append(found)
        return self._unproved("budget")

    def _extend_proof(self, proof: _Proof, answer: BoxVerdict, near: NearbyRows, holes: list[_Hole]) -> None:
        for number in near.numbers[list(answer.used)].tolist():
            if number < len(self._rows):
                proof.names.add(self._rows.name(number))
            elif holes[number - len(self._rows)].doubt:
                proof.doubts.add(holes[number - len(self._rows)].doubt)
        proof.rules.add(answer.decided_by)
        proof.is_certain &= answer.certain

    # --- from a cell to an event -------------------------------------------------------------------------------------

    def _find_event(self, conjunction: Conjunction, box: BoxSides, labels: dict[int, int]) -> Event | _Hole:
        """An event of the conjunction, inside one of its boxes and the cell with these labels; a hole if none is found."""
        coordinates = self._rows.coordinates
        constraints: dict[str, Constraint] = dict(conjunction.constraints)
        checks = dict.fromkeys(conjunction.residuals)
        ends = {axis: (low, high) for axis, low, high in zip(*(each.tolist() for each in box), strict=True)}
        ends |= {axis: (label, label) for axis, label in labels.items()}
        for axis, (low, high) in ends.items():
            key = coordinates.keys[axis]
            if isinstance(key, str):
                inside = (coordinates.cell(axis, low)[0], coordinates.cell(axis, high)[1])
                constraints[key] = intersect(implied_constraint(conjunction, key, self._schema), inside)
            else:
                checks[coordinates.check_at(axis, low)] = None
        found: Points = {}
        for requirement in requirements(constraints, checks, self._schema):
            try:
                part = find_points(requirement, self._schema)
            except Dead:
                return _Hole(self._slab(requirement, labels), "")
            if part is None:
                return _Hole(self._slab(requirement, labels), "gap" if requirement.is_plain else "residual")
            found |= part
        return event_at(found)

    def _slab(self, requirement: Requirement, labels: dict[int, int]) -> BoxSides:
        """All cells that agree with these labels on the axes of a requirement's attributes."""
        coordinates = self._rows.coordinates
        sides = []
        for axis, label in sorted(labels.items()):
            key = coordinates.keys[axis]
            if base_of(key if isinstance(key, str) else key.keys[0]) in requirement.bases:
                sides.append((axis, *coordinates.cell_ends(axis, label)))
        axes, lows, highs = zip(*sides, strict=True) if sides else ((), (), ())
        return np.array(axes, np.int32), np.array(lows, np.int64), np.array(highs, np.int64)

    def _refute(self, conjunction: Conjunction, event: Event, rule: str) -> Verdict[Event]:
        """The verdict if none of the others matches the event; if some do, their rows are added and all begins again."""
        record = read_event(event, self._schema)
        assert holds(conjunction, record), "an event of the filter"
        has_grown = False
        for name, each in self._others.find_matching(event):
            has_grown = True
            if name not in self._complete and self._rows.add(name, each):
                self._complete.add(name)
            else:
                self._rows.add_box_around(name, each, record)
        if has_grown:
            raise _RowsAddedError
        return Verdict(covered=False, certain=True, decided_by=rule, witness=event, work=self._work)

    # --- verdicts ----------------------------------------------------------------------------------------------------

    def _proved(self, proof: _Proof) -> Verdict[Event]:
        if not proof.is_certain:
            rule = "rspc capped" if "rspc capped" in proof.rules else "rspc"
        elif len(proof.names) < 2:
            rule = "pairwise" if proof.names else "empty"
        else:
            rule = "branch_and_bound"
        used: tuple[Any, ...] = tuple(sorted(proof.names))
        return Verdict(covered=True, certain=proof.is_certain, decided_by=rule, used=used, work=self._work)

    def _unproved(self, rule: str) -> Verdict[Event]:
        """Not proved by boxes; a single one of the others may still contain the target."""
        for name, each in islice(self._others.all(), _MOST_TRIED):
            if self._target.is_covered_by(each):
                return Verdict(
                    covered=True, certain=True, decided_by="pairwise", used=(name,), work=self._work
                )
        return Verdict(covered=None, certain=False, decided_by=rule, work=self._work)
