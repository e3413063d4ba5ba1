"""From boxes to events: the loop that asks a checker of boxes until there is a proof or an event as witness.

What a checker leaves open is a cell in the space of labels. It becomes one of three things: a witness; a row that was
not known yet, if one of the others matches the event; or a *hole*, a slab of cells in which there is no event, or none
was found. Holes are rows too: they narrow what is left to search, and tell what a proof rests on.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

import numpy as np

from thatch.model.conjunctions import Conjunction, Dead, implied
from thatch.model.events import read_event
from thatch.model.filters import Filter
from thatch.model.lines import Constraint, intersect
from thatch.model.matching import holds
from thatch.model.names import base_of
from thatch.model.schema import Schema
from thatch.reduction.deciding import Decide
from thatch.reduction.problem import BoxVerdict, Verdict, Work
from thatch.reduction.rows import BoxSides, Near, Rows
from thatch.reduction.witnesses import Demand, Event, Places, demands, event_of, places

__all__ = ["Asked", "Others", "Refinement"]

_MOST_ROUNDS = 5_000  # questions to the checker; every one but the last adds a row or a hole
_MOST_TRIED = 1_000  # others that are tried one by one where boxes prove nothing


class Asked(Protocol):
    """What is to be covered."""

    def conjunctions(self, bases: Iterable[str]) -> Sequence[Conjunction]:
        """Its conjunctions, with regard to these attributes; always as many."""

    def covered_by(self, other: Filter) -> bool:
        """Whether one filter is proved to contain it."""


class Others(Protocol):
    """What is to cover it: filters under names."""

    schema: Schema | None

    def all(self) -> Iterator[tuple[Hashable, Filter]]:
        """All that are known from the start."""

    def matching(self, event: Event) -> Iterator[tuple[Hashable, Filter]]:
        """Some that match an event; none only if none does."""


@dataclass(frozen=True, slots=True)
class _Hole:
    """A slab without an event; `doubt` says why it is not proved that there is none, empty if it is."""

    sides: BoxSides
    doubt: str


@dataclass(slots=True)
class _Proof:
    """What the verdicts on boxes rest on."""

    names: set[Hashable] = field(default_factory=set)
    doubts: set[str] = field(default_factory=set)
    rules: set[str] = field(default_factory=set)
    is_certain: bool = True


class _Grown(Exception):  # noqa: N818 - not an error: there are new rows, so the question is a new one
    """Rows were added."""


class Refinement:
    """One question, held against some others.

    Parameters
    ----------
    asked : what is to be covered
    others : by what
    decide : the checker of boxes
    """

    def __init__(self, asked: Asked, others: Others, decide: Decide) -> None:
        self._asked = asked
        self._others = others
        self._decide = decide
        self._schema = others.schema
        self._rows = Rows(others.schema)
        self._whole = {name for name, each in others.all() if self._rows.add(name, each)}
        self._work = Work()

    def verdict(self) -> Verdict[Event]:
        """Whether all conjunctions are covered; an event that is not ends the search."""
        proof = _Proof()
        for number in range(len(self._asked.conjunctions(()))):
            answer = None
            while answer is None:
                try:
                    answer = self._conjunction(number)
                except _Grown:
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

    def _conjunction(self, number: int) -> _Proof | Verdict[Event]:
        """A proof that one conjunction is covered, or the verdict that it is not, or not proved to be."""
        conjunction = self._asked.conjunctions(self._bases())[number]
        boxes = self._rows.coordinates.question(conjunction)
        if boxes is None:
            return self._unproved("budget")
        proof = _Proof()
        shares = len(boxes) * len(self._asked.conjunctions(()))
        for box in boxes:
            answer = self._box(conjunction, box, shares, proof)
            if answer is not None:
                return answer
        return proof

    def _bases(self) -> set[str]:
        keys = self._rows.coordinates.keys
        return {base_of(each) for key in keys for each in ([key] if isinstance(key, str) else key.keys)}

    def _box(
        self, conjunction: Conjunction, box: BoxSides, shares: int, proof: _Proof
    ) -> Verdict[Event] | None:
        """Add to the proof what covers one box; the verdict if nothing does."""
        holes: list[_Hole] = []
        while self._work.rounds < _MOST_ROUNDS:
            near = self._rows.near(box, [hole.sides for hole in holes])
            if near is None:
                break
            answer = self._decide(near, shares)
            self._work += answer.work + Work(rounds=1)
            if answer.covered is None:
                break
            if answer.covered:
                self._note(proof, answer, near, holes)
                return None
            assert answer.witness is not None
            found = self._event(
                conjunction, box, dict(zip(near.axes.tolist(), answer.witness.tolist(), strict=True))
            )
            if not isinstance(found, _Hole):
                return self._refuted(conjunction, found, answer.decided_by)
            holes.append(found)
        return self._unproved("budget")

    def _note(self, proof: _Proof, answer: BoxVerdict, near: Near, holes: list[_Hole]) -> None:
        for number in near.numbers[list(answer.used)].tolist():
            if number < len(self._rows):
                proof.names.add(self._rows.name(number))
            elif holes[number - len(self._rows)].doubt:
                proof.doubts.add(holes[number - len(self._rows)].doubt)
        proof.rules.add(answer.decided_by)
        proof.is_certain &= answer.certain

    # --- from a cell to an event -------------------------------------------------------------------------------------

    def _event(self, conjunction: Conjunction, box: BoxSides, labels: dict[int, int]) -> Event | _Hole:
        """An event of the conjunction, in a box of it and in the cell with these labels; a hole if none is found."""
        coordinates = self._rows.coordinates
        constraints: dict[str, Constraint] = dict(conjunction.constraints)
        checks = dict.fromkeys(conjunction.residuals)
        ends = {axis: (low, high) for axis, low, high in zip(*(each.tolist() for each in box), strict=True)}
        ends |= {axis: (label, label) for axis, label in labels.items()}
        for axis, (low, high) in ends.items():
            key = coordinates.keys[axis]
            if isinstance(key, str):
                inside = (coordinates.cell(axis, low)[0], coordinates.cell(axis, high)[1])
                constraints[key] = intersect(implied(conjunction, key, self._schema), inside)
            else:
                checks[coordinates.holds(axis, low)] = None
        found: Places = {}
        for demand in demands(constraints, checks, self._schema):
            try:
                part = places(demand, self._schema)
            except Dead:
                return _Hole(self._slab(demand, labels), "")
            if part is None:
                return _Hole(self._slab(demand, labels), "gap" if demand.is_plain else "residual")
            found |= part
        return event_of(found)

    def _slab(self, demand: Demand, labels: dict[int, int]) -> BoxSides:
        """All cells that agree with these labels on the axes that a demand is about."""
        coordinates = self._rows.coordinates
        sides = []
        for axis, label in sorted(labels.items()):
            key = coordinates.keys[axis]
            if base_of(key if isinstance(key, str) else key.keys[0]) in demand.bases:
                sides.append((axis, *coordinates.cell_side(axis, label)))
        axes, lows, highs = zip(*sides, strict=True) if sides else ((), (), ())
        return np.array(axes, np.int32), np.array(lows, np.int64), np.array(highs, np.int64)

    def _refuted(self, conjunction: Conjunction, event: Event, rule: str) -> Verdict[Event]:
        """The verdict if no other matches the event; else more rows are known than before."""
        record = read_event(event, self._schema)
        assert holds(conjunction, record), "an event of the filter"
        has_grown = False
        for name, each in self._others.matching(event):
            has_grown = True
            if name not in self._whole and self._rows.add(name, each):
                self._whole.add(name)
            else:
                self._rows.add_piece(name, each, record)
        if has_grown:
            raise _Grown
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
        """Not proved by boxes; one of the others may contain it all the same."""
        for name, each in islice(self._others.all(), _MOST_TRIED):
            if self._asked.covered_by(each):
                used: tuple[Any, ...] = (name,)
                return Verdict(covered=True, certain=True, decided_by="pairwise", used=used, work=self._work)
        return Verdict(covered=None, certain=False, decided_by=rule, work=self._work)
