"""A shortest text that passes tests, by a product of automata explored breadth first within a budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from thatch.model.regexes import Regex
from thatch.model.texts.letters import all_kinds, between, fresh_letter, is_folded_letter
from thatch.model.texts.machines import FoldedMachine, FormMachine, LineMachine, Machine
from thatch.model.texts.sets import TextClauses, TextSet, mirrored
from thatch.model.wildcards import Wildcard

__all__ = ["BudgetSpentError", "Steps", "shortest_text"]

State = tuple[int, ...]


@dataclass(slots=True)
class Steps:
    """How many steps of single machines searches may still take."""

    left: int


class BudgetSpentError(Exception):
    """The search took too many steps; not an error of anybody's."""


def shortest_text(parts: TextClauses, steps: Steps) -> str | None:
    """A shortest text that is one of every clause and none of the excluded; None if there is none.

    TextClauses are patterns and constraints. Raises `BudgetSpentError` when no steps are left, or if constraints of
    texts and of reversed texts meet.
    """
    every = {part for clause in parts.clauses for part in clause} | parts.excluded
    directions = {part.is_reversed for part in every if isinstance(part.form, tuple)}
    if len(directions) > 1:
        raise BudgetSpentError
    if True not in directions:
        return _Search(parts.clauses, parts.excluded, steps).find()
    clauses = [frozenset(map(_turned, clause)) for clause in parts.clauses]
    found = _Search(clauses, set(map(_turned, parts.excluded)), steps).find()
    return None if found is None else found[::-1]


def _turned(part: TextSet) -> TextSet:
    """The same part for texts that are read from their end."""
    return TextSet(mirrored(part.form), part.is_folded) if isinstance(part.form, Wildcard) else part


def _size(part: TextSet) -> int:
    """About how long it takes to make a machine."""
    return len(part.form) if isinstance(part.form, tuple) else len(part.form.text)


def _machine(part: TextSet) -> Machine:
    assert not isinstance(part.form, Regex)
    machine: Machine = FormMachine(part.form) if isinstance(part.form, Wildcard) else LineMachine(part.form)
    return FoldedMachine(machine) if part.is_folded else machine


class _Search:
    """One search. A state of the product has the states of all machines."""

    def __init__(self, clauses: Sequence[frozenset[TextSet]], excluded: set[TextSet], steps: Steps) -> None:
        self._steps = steps
        places: dict[TextSet, int] = {}
        for part in (part for group in (*clauses, excluded) for part in group):
            places.setdefault(part, len(places))
        steps.left -= sum(map(_size, places))
        if steps.left < 0:
            raise BudgetSpentError
        self._machines = list(map(_machine, places))
        self._clauses = [[places[part] for part in clause] for clause in clauses]
        self._excluded = [places[part] for part in excluded]
        folded = {machine.is_folded for machine in self._machines}
        self._is_folded = folded == {True}
        self._kinds: tuple[str, ...] | None = None
        every: set[str] = set().union(*(machine.letters() for machine in self._machines))
        if len(folded) == 2:
            sides = [
                frozenset().union(*(each.letters() for each in self._machines if each.is_folded is side))
                for side in (False, True)
            ]
            self._kinds = all_kinds(*sides, is_ordered=any(each.is_ordered for each in self._machines))
        self._fresh = fresh_letter(every)

    def find(self) -> str | None:
        """The text, None if there is none."""
        start = tuple(machine.start for machine in self._machines)
        if self._is_hopeless(start):
            return None
        seen = {start}
        layer = [(start, "")]
        while layer:
            following = []
            for state, text in layer:
                if self._accepts(state):
                    return text
                for letter in self._letters(state):
                    self._steps.left -= len(state)
                    if self._steps.left < 0:
                        raise BudgetSpentError
                    new = tuple(
                        [
                            machine.step(each, letter) if each else 0
                            for machine, each in zip(self._machines, state, strict=True)
                        ]
                    )
                    if new not in seen and not self._is_hopeless(new):
                        seen.add(new)
                        following.append((new, text + letter))
            layer = following
        return None

    def _accepts(self, state: State) -> bool:
        machines = self._machines
        return all(
            any(machines[at].accepts(state[at]) for at in clause) for clause in self._clauses
        ) and not any(machines[at].accepts(state[at]) for at in self._excluded)

    def _is_hopeless(self, state: State) -> bool:
        return any(self._machines[at].is_all(state[at]) for at in self._excluded) or not all(
            any(state[at] for at in clause) for clause in self._clauses
        )

    def _letters(self, state: State) -> Iterable[str]:
        if self._kinds is not None:
            return self._kinds
        found: set[str] = set()
        is_ordered = False
        for machine, each in zip(self._machines, state, strict=True):
            if each:
                own = set(machine.relevant(each))
                is_ordered = is_ordered or (machine.is_ordered and bool(own))
                found |= own
        if self._is_folded:
            letters = sorted(letter for letter in found if is_folded_letter(letter))
        else:
            letters = sorted(found)
        if is_ordered:
            return (*letters, *between(tuple(sorted(found))))
        return (*letters, self._fresh)
