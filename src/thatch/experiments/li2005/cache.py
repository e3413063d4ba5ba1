"""Figure 13, predicates: how the predicates of a subscription relate to all known ones, compared again or cached.

Section 4.4 of the paper caches which predicates imply which others, in a table without entries that follow from the rest.
Here the table is complete: a new predicate is compared with the others once, and every answer is looked up.
Predicates are constraints on lines, as those of filters are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from time import process_time

import numpy as np

from thatch.experiments.experiment import Comparison, Comparisons, Experiment, Plot
from thatch.experiments.li2005.setting import COUNT, SCALE, SETTING, SMALL, subscriptions_of
from thatch.experiments.results import Results, number
from thatch.experiments.trials import Row, Simulation, columns, grid
from thatch.model.language import parse
from thatch.model.lines import Constraint, covers
from thatch.reports import PlotAxis
from thatch.workloads.li2005 import NAMES, OPERATORS, Ints, Predicates

__all__ = ["CACHE", "Relations"]

Predicate = tuple[int, str, Constraint]  # its variable, its attribute, where it holds
Related = tuple[list[int], list[int]]  # the variables of those that cover it, and of those that it covers


class Relations:
    """The known predicates, and which of them cover which."""

    def __init__(self) -> None:
        self._known: dict[str, list[Predicate]] = {}
        self._related: dict[int, Related] = {}

    def __len__(self) -> int:
        """How many predicates are known."""
        return len(self._related)

    def compare(self, predicate: Predicate) -> Related:
        """The predicates that cover one and those it covers, by comparing it with all on its attribute."""
        _, key, own = predicate
        known = self._known.get(key, ())
        above = [variable for variable, _, other in known if covers(other, own)]
        below = [variable for variable, _, other in known if covers(own, other)]
        return above, below

    def look_up(self, predicate: Predicate) -> Related:
        """The same from the cache; an unknown predicate is compared and added first."""
        variable, key, _ = predicate
        found = self._related.get(variable)
        if found is None:
            self._known.setdefault(key, []).append(predicate)
            found = self._related[variable] = self.compare(predicate)
            for side, opposite in ((0, 1), (1, 0)):
                for each in found[side]:
                    if each != variable:
                        self._related[each][opposite].append(variable)
        return found


def _trial(seed: int, *, shape: str, count: int, scale: int, marks: int, every: int) -> Iterator[Row]:
    table = subscriptions_of(seed, shape, count, scale)
    predicates, which = _distinct(table)
    relations = Relations()
    for start, end in pairwise(np.linspace(0, count, marks + 1, dtype=np.int64).tolist()):
        remembered: list[float] = []
        compared: list[float] = []
        for row in range(start, end):
            here = [predicates[each] for each in which[table.offsets[row] : table.offsets[row + 1]]]
            remembered.append(_seconds(relations.look_up, here))
            if row % every == 0:  # slow, and about as slow for every subscription
                compared.append(_seconds(relations.compare, here))
        yield {
            "arrived": end,
            "known": len(relations),
            "compared_us": 1e6 * float(np.mean(compared)),
            "remembered_us": 1e6 * float(np.mean(remembered)),
        }


def _distinct(table: Predicates) -> tuple[list[Predicate], Ints]:
    """The distinct predicates, and the number of each predicate among them."""
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
    results=columns(int="arrived known", float="compared_us remembered_us"),
)


_SETS = ("A", "B")


def _compare(results: Results) -> Comparisons:
    for shape in _SETS:
        marks = [int(mark) for mark in results.choices("arrived", shape=shape)]
        compared, remembered, known = (
            [results.mean(name, shape=shape, arrived=mark) or 0.0 for mark in marks]
            for name in ("compared_us", "remembered_us", "known")
        )
        slower = [mark for mark, one, two in zip(marks, remembered, compared, strict=True) if one > two]
        paper = "2.46 ms of 23.41: 0.105" if shape == "B" else "–"
        yield Comparison(
            f"with the cache / without, {shape}, {number(known[-1])} predicates",
            paper,
            f"{remembered[-1] / max(compared[-1], 1e-9):.3f}",
            "nothing is compared any more; in compiled code a whole step takes a few microseconds either way",
        )
        yield Comparison(
            f"microseconds at the end, {shape}: without | with the cache",
            paper,
            f"{compared[-1]:.0f} | {remembered[-1]:.1f}",
        )
        yield Comparison(
            f"subscriptions up to which the cache is slower, {shape}",
            "about 50,000",
            f"{max(slower):,}" if slower else f"below {marks[0]:,}",
            "a complete table compares each new predicate once; the paper minimises its table each time",
        )


CACHE = Experiment(
    name="li2005/cache",
    figure="Figure 13, predicates",
    title="covering among predicates, with and without a cache",
    statement="At 5,000 predicates it takes 23.41 ms to find how the predicates of a new subscription relate to all others, and "
    "2.46 ms with a cache; while the index is built the cache costs more, up to about 50,000 subscriptions.",
    setting=SETTING
    + "Predicates are constraints on lines, compared in Python. Without the cache one subscription of fifty "
    "is measured. One seed.",
    simulation=SIMULATION,
    full=grid(1, shape=_SETS, count=(COUNT,), scale=(1,), marks=(100,), every=(50,)),
    quick=grid(1, shape=_SETS, count=(SMALL,), scale=(SCALE,), marks=(5,), every=(10,)),
    compare=_compare,
    plots=tuple(
        Plot(
            f"Microseconds for the predicates of a subscription, {what} the cache",
            "arrived",
            name,
            by=("shape",),
            y=PlotAxis("microseconds", log=True),
        )
        for what, name in (("without", "compared_us"), ("with", "remembered_us"))
    ),
)
