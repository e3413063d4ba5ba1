"""The predicate step of covering: how predicates relate to all that are known, compared anew or remembered.

Section 4.4 of the paper remembers which predicates imply which others, in a table without what follows from the rest of
it. Here that table is complete: what is asked stands there, and a new predicate is compared with the others once.
Predicates are constraints on lines, as those of filters are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from time import process_time

import numpy as np

from thatch.experiments.li2005.setting import subscriptions_of
from thatch.experiments.trials import Parameters, Row, Simulation
from thatch.model.language import parse
from thatch.model.lines import Constraint, covers
from thatch.workloads.li2005 import NAMES, OPERATORS, Ints, Predicates

__all__ = ["SIMULATION", "Relations"]

Predicate = tuple[int, str, Constraint]  # its variable, its attribute, where it holds
Related = tuple[list[int], list[int]]  # the variables of those that cover it, and of those that it covers


class Relations:
    """Predicates that are known, and who covers whom among them."""

    def __init__(self) -> None:
        self._known: dict[str, list[Predicate]] = {}
        self._related: dict[int, Related] = {}

    def __len__(self) -> int:
        """How many predicates are known."""
        return len(self._related)

    def compared(self, predicate: Predicate) -> Related:
        """Who covers a predicate and whom it covers, by comparing it with all on its attribute."""
        _, key, own = predicate
        known = self._known.get(key, ())
        above = [variable for variable, _, other in known if covers(other, own)]
        below = [variable for variable, _, other in known if covers(own, other)]
        return above, below

    def remembered(self, predicate: Predicate) -> Related:
        """The same by looking it up; a predicate that is not known is compared first, and known from now on."""
        variable, key, _ = predicate
        found = self._related.get(variable)
        if found is None:
            self._known.setdefault(key, []).append(predicate)
            found = self._related[variable] = self.compared(predicate)
            for each in found[0]:
                if each != variable:
                    self._related[each][1].append(variable)
            for each in found[1]:
                if each != variable:
                    self._related[each][0].append(variable)
        return found


def _trial(parameters: Parameters, seed: int) -> Sequence[Row]:
    count, every = int(parameters["count"]), int(parameters["every"])
    table = subscriptions_of(parameters, seed)
    predicates, which = _distinct(table)
    marks = np.linspace(0, count, int(parameters["marks"]) + 1, dtype=np.int64).tolist()
    relations = Relations()
    found: list[Row] = []
    for start, end in pairwise(marks):
        remembered: list[float] = []
        compared: list[float] = []
        for row in range(start, end):
            here = [predicates[each] for each in which[table.offsets[row] : table.offsets[row + 1]]]
            remembered.append(_seconds(relations.remembered, here))
            if row % every == 0:  # comparing takes long, and about as long for all
                compared.append(_seconds(relations.compared, here))
        found.append(
            {
                "arrived": end,
                "known": len(relations),
                "compared_us": 1e6 * float(np.mean(compared)),
                "remembered_us": 1e6 * float(np.mean(remembered)),
            }
        )
    return found


def _distinct(table: Predicates) -> tuple[list[Predicate], Ints]:
    """Every predicate once, and which of them each is."""
    _, firsts, inverse = np.unique(table.numbers, return_index=True, return_inverse=True)
    schema = table.schema
    found = []
    for variable, place in enumerate(firsts.tolist()):
        operator = OPERATORS[table.operator[place]]
        read = parse(f"{NAMES[table.attribute[place]]} {operator} {table.value[place]}", schema=schema)
        found.append((variable, *read.conjunctions[0].constraints[0]))
    return found, inverse


def _seconds(ask: Callable[[Predicate], Related], predicates: Iterable[Predicate]) -> float:
    moment = process_time()
    for each in predicates:
        ask(each)
    return process_time() - moment


SIMULATION = Simulation(
    name="li2005/predicates",
    trial=_trial,
    parameters={"shape": str, "count": int, "scale": int, "marks": int, "every": int},
    results={"arrived": int, "known": int, "compared_us": float, "remembered_us": float},
)
