"""Subscriptions one after the other into diagrams: covering in one phase, and in two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from thatch.experiments.li2005.covering import ends_of
from thatch.experiments.li2005.setting import subscriptions_of
from thatch.experiments.trials import Parameters, Row, Simulation
from thatch.workloads.li2005 import ATTRIBUTES, Ints, Predicates

if TYPE_CHECKING:
    from thatch.matching.diagrams.chains import Chains

__all__ = ["SIMULATION", "WAYS"]

WAYS = (
    "pass",
    "walk",
)  # all nodes in order, as the paper does; from the bottom to what may still hold, as the policy does

Box = tuple[Ints, Ints, Ints]


def _trial(parameters: Parameters, seed: int) -> Sequence[Row]:
    count = int(parameters["count"])
    table = subscriptions_of(parameters, seed)
    marks = np.linspace(0, count, int(parameters["marks"]) + 1, dtype=np.int64).tolist()
    inserted = _passes(table) if parameters["way"] == "pass" else _walks(table)
    found: list[Row] = []
    spent = _Spent()
    for arrived, (one, two, size) in enumerate(inserted, 1):
        spent.add(one, two)
        if arrived == marks[len(found) + 1]:
            found.append({"arrived": arrived, "size": size, **spent.means()})
            spent = _Spent()
    return found


@dataclass(slots=True)
class _Spent:
    """Seconds and nodes, summed over some subscriptions."""

    count: int = 0
    seconds: list[float] = field(default_factory=lambda: [0.0, 0.0])
    nodes: list[int] = field(default_factory=lambda: [0, 0])

    def add(self, *phases: tuple[float, int]) -> None:
        self.count += 1
        for place, (seconds, nodes) in enumerate(phases):
            self.seconds[place] += seconds
            self.nodes[place] += nodes

    def means(self) -> Row:
        one, two = (1e6 * each / self.count for each in self.seconds)
        nodes_one, nodes_two = (each / self.count for each in self.nodes)
        return {"one_us": one, "two_us": two, "one_nodes": nodes_one, "two_nodes": nodes_two}


Inserted = tuple[tuple[float, int], tuple[float, int], int | None]
Related = tuple[int, int, int]  # an output that covers, or -1; how many are covered; nodes evaluated


def _passes(table: Predicates) -> Iterator[Inserted]:
    """As figure 7 has it; each of two separate algorithms compares predicates by itself."""
    from thatch.matching.diagrams.chains import Chains

    chains, room, size = Chains(), _Room(), 0
    _, firsts, inverse = np.unique(table.numbers, return_index=True, return_inverse=True)
    lows, highs = ends_of(table)
    columns = (table.attribute, lows, highs)
    sides = tuple(np.concatenate([[0], column[firsts]]) for column in columns)
    variables = 1 + inverse
    for row in range(len(table)):
        here = slice(table.offsets[row], table.offsets[row + 1])
        new = _New(chains, room, sides, (columns[0][here], columns[1][here], columns[2][here]))
        if not row:
            new.two_phases()  # which are compiled now, if they never were
            new.one_phase()
        moments = [process_time()]
        _, _, nodes_of_two = new.two_phases()
        moments.append(process_time())
        cover, covered, nodes_of_one = new.one_phase()
        moments.append(process_time())
        if cover < 0:
            size += 1 - covered
            for node in room.found[:covered].tolist():
                chains.remove(node)
            chains.renumbered()
            chains.insert(variables[here][::-1].tolist())
        two, one = np.diff(moments).tolist()
        yield (one, nodes_of_one), (two, nodes_of_two), size


class _Room:
    """Room for the values of nodes and variables, which grows with them."""

    def __init__(self) -> None:
        self.value, self.found, self.state = (np.zeros(64, kind) for kind in (np.uint8, np.int64, np.uint8))

    def make(self, nodes: int, variables: int) -> None:
        if len(self.value) < nodes:
            self.value, self.found = np.zeros(2 * nodes, np.uint8), np.zeros(2 * nodes, np.int64)
        if len(self.state) < variables:
            self.state = np.zeros(variables, np.uint8)


class _New:
    """A new subscription before diagrams."""

    def __init__(self, chains: Chains, room: _Room, sides: tuple[Ints, ...], box: Box) -> None:
        columns = chains.columns
        self._columns = (columns.variable, columns.child, columns.outputs)
        self._room, self._sides, self._box = room, sides, box
        room.make(len(columns.variable), len(sides[0]))

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

        room = self._room
        assign(self._sides, self._box, room.state)
        answer: Related = evaluate(
            self._columns, room.state, wanted, len(self._box[0]), room.value, room.found
        )
        return answer


def _walks(table: Predicates) -> Iterator[Inserted]:
    """As the policy `Diagrams` does it."""
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
    parameters={"shape": str, "count": int, "scale": int, "marks": int, "way": str},
    results={
        "arrived": int,
        "size": int,
        "one_us": float,
        "two_us": float,
        "one_nodes": float,
        "two_nodes": float,
    },
)
