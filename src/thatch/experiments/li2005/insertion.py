"""Figure 13: inserting subscriptions into diagrams, with covering checked in one phase and in two."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from thatch.experiments.experiment import Comparison, Comparisons, Experiment, Plot
from thatch.experiments.li2005.covering import ends_of
from thatch.experiments.li2005.setting import COUNT, SCALE, SETTING, SMALL, show_rounded, subscriptions_of
from thatch.experiments.results import Results, percent
from thatch.experiments.trials import Row, Simulation, columns, grid
from thatch.workloads.li2005 import ATTRIBUTES, Ints, Predicates

if TYPE_CHECKING:
    from thatch.matching.diagrams.chains import Chains

__all__ = ["FIG13"]

# `pass` evaluates all nodes in order, as the paper does; `walk` goes up from the bottom, as the policy Diagrams does.
WAYS = ("pass", "walk")

Box = tuple[Ints, Ints, Ints]


def _trial(seed: int, *, shape: str, count: int, scale: int, marks: int, way: str) -> Iterator[Row]:
    table = subscriptions_of(seed, shape, count, scale)
    inserted = _passes(table) if way == "pass" else _walks(table)
    for start, end in pairwise(np.linspace(0, count, marks + 1, dtype=np.int64).tolist()):
        some = list(islice(inserted, end - start))
        one, two, sizes = zip(*some, strict=True)
        one_us, one_nodes = np.mean(one, axis=0).tolist()
        two_us, two_nodes = np.mean(two, axis=0).tolist()
        yield {
            "arrived": end,
            "size": sizes[-1],
            "one_us": 1e6 * one_us,
            "two_us": 1e6 * two_us,
            "one_nodes": one_nodes,
            "two_nodes": two_nodes,
        }


Inserted = tuple[tuple[float, int], tuple[float, int], int | None]
Related = tuple[int, int, int]  # an output that covers, or -1; how many are covered; nodes evaluated


def _passes(table: Predicates) -> Iterator[Inserted]:
    """Figure 7 of the paper; each of two separate algorithms compares predicates by itself."""
    from thatch.matching.diagrams.chains import Chains

    chains, size = Chains(), 0
    _, firsts, inverse = np.unique(table.numbers, return_index=True, return_inverse=True)
    lows, highs = ends_of(table)
    columns = (table.attribute, lows, highs)
    sides = tuple(np.concatenate([[0], column[firsts]]) for column in columns)
    new, variables = _Covering(chains, sides), 1 + inverse
    for row in range(len(table)):
        here = slice(table.offsets[row], table.offsets[row + 1])
        new.take((columns[0][here], columns[1][here], columns[2][here]))
        if not row:
            new.two_phases()  # compiles the kernels
            new.one_phase()
        moments = [process_time()]
        _, _, nodes_of_two = new.two_phases()
        moments.append(process_time())
        cover, covered, nodes_of_one = new.one_phase()
        moments.append(process_time())
        if cover < 0:
            size += 1 - covered
            for node in new.found[:covered].tolist():
                chains.remove(node)
            chains.renumber()
            chains.insert(variables[here][::-1].tolist())
        two, one = np.diff(moments).tolist()
        yield (one, nodes_of_one), (two, nodes_of_two), size


class _Covering:
    """Compares new subscriptions with those in diagrams, in one phase or in two.

    Parameters
    ----------
    sides : attribute, least and greatest value of every variable
    """

    def __init__(self, chains: Chains, sides: tuple[Ints, ...]) -> None:
        self._chains, self._sides = chains, sides
        self._state = np.zeros(len(sides[0]), np.uint8)
        self._value, self.found = np.zeros(64, np.uint8), np.zeros(64, np.int64)

    def take(self, box: Box) -> None:
        """Choose the subscription to compare; arrays grow with the diagrams."""
        columns = self._chains.columns
        self._columns, self._box = (columns.variable, columns.child, columns.outputs), box
        nodes = len(columns.variable)
        if len(self._value) < nodes:
            self._value, self.found = np.zeros(2 * nodes, np.uint8), np.zeros(2 * nodes, np.int64)

    def one_phase(self) -> Related:
        from thatch.experiments.li2005.kernels import COVERED, COVERS

        return self._related(COVERED | COVERS)

    def two_phases(self) -> Related:
        from thatch.experiments.li2005.kernels import COVERED, COVERS

        first = self._related(COVERED)
        if first[0] >= 0:
            return first
        _, covered, nodes = self._related(COVERS)
        return -1, covered, first[2] + nodes

    def _related(self, wanted: int) -> Related:
        from thatch.experiments.li2005.kernels import assign, evaluate

        assign(self._sides, self._box, self._state)
        size = len(self._box[0])
        answer: Related = evaluate(self._columns, self._state, wanted, size, self._value, self.found)
        return answer


def _walks(table: Predicates) -> Iterator[Inserted]:
    """The way of the policy `Diagrams`."""
    from thatch.reduction.diagrams import DiagramJudge

    lows, highs = ends_of(table)
    axes = (ATTRIBUTES - 1 - table.attribute).astype(np.int32)
    judges = DiagramJudge(1), DiagramJudge(2)
    for row in range(len(table)):
        sides = slice(table.offsets[row], table.offsets[row + 1])
        box = (axes[sides][::-1].copy(), lows[sides][::-1].copy(), highs[sides][::-1].copy())
        spent = []
        for judge in judges:
            before, moment = judge.looked_at, process_time()
            judge.add(row, *box)
            spent.append((process_time() - moment, judge.looked_at - before))
        yield spent[0], spent[1], None


SIMULATION = Simulation(
    name="li2005/insertion",
    trial=_trial,
    results=columns(int="arrived size", float="one_us two_us one_nodes two_nodes"),
)


_SETS = ("A", "B")
_COUNT = 100_000  # 200,000 would take four times as long, because a pass visits the whole table
_WHY = {
    "pass": "one pass instead of two",
    "walk": "a walk that only looks for a cover ends sooner, and visits few nodes",
}


def _compare(results: Results) -> Comparisons:
    for way, why in _WHY.items():
        for shape in _SETS:
            one, two, one_nodes, two_nodes = (
                results.mean(name, shape=shape, way=way)
                for name in ("one_us", "two_us", "one_nodes", "two_nodes")
            )
            yield Comparison(
                f"one phase is quicker than two by, {way}, {shape}: time | nodes evaluated",
                "45.8 %",
                f"{_saved(one, two)} | {_saved(one_nodes, two_nodes)}",
                why,
            )
            yield Comparison(
                f"microseconds for a subscription, {way}, {shape}: one phase | two",
                "milliseconds; the curves are lost",
                f"{one or 0:.0f} | {two or 0:.0f}",
            )
        # Whether the time falls in the end, as the paper says.
        marks = [int(mark) for mark in results.choices("arrived", shape="A", way=way)]
        some = tuple(marks[:: max(len(marks) // 4, 1)])
        yield Comparison(
            f"microseconds in one phase, {way}, A, after {' / '.join(f'{mark:,}' for mark in some)}",
            "rises, then falls as more is covered",
            results.show_means("one_us", show_rounded, shape="A", way=way, arrived=some),
        )


def _saved(one: float | None, two: float | None) -> str:
    return "–" if one is None or not two else percent(1 - one / two) or "–"


FIG13 = Experiment(
    name="li2005/fig13",
    title="subscription insertion time, one phase and two",
    statement="One algorithm that finds who covers and who is covered at once is 45.8 % quicker than two separate ones. Times "
    "rise while diagrams grow, and fall when most subscriptions are covered.",
    setting=SETTING
    + "`pass` is figure 7: predicates are compared, then all nodes are evaluated in order until one covers; two separate "
    "algorithms each do both. `walk` is what the policy Diagrams does: it goes up from the bottom as long as nodes hold. Both "
    "see the same diagrams. Processor time, compiled; 100,000 subscriptions from pools half as large, one seed.",
    simulation=SIMULATION,
    full=grid(1, shape=_SETS, count=(_COUNT,), scale=(COUNT // _COUNT,), marks=(20,), way=WAYS),
    quick=grid(1, shape=_SETS, count=(SMALL,), scale=(SCALE,), marks=(3,), way=WAYS),
    compare=_compare,
    plots=tuple(
        Plot(f"Microseconds for a subscription, {phases}", "arrived", name, by=("way", "shape"))
        for phases, name in (("one phase", "one_us"), ("two phases", "two_us"))
    ),
)
