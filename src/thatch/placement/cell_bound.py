"""A rigorous lower bound on bandwidth (spec 2, D3): where events are wanted, and at how many brokers at least.

Event space is cut into cells. A cell inside an interest must enter some candidate of whoever has that interest, so a cell
wanted by several must enter at least as many brokers as there are candidate sets among theirs with nothing in common. The
sum of volume times that number holds for every placement that keeps latency limits, whatever its loads and complexities.
On trees of several levels the same holds on each level, with the brokers of that level in place of the leaves below them.

The number of disjoint sets is found greedily, smallest sets first: a valid bound on the hitting set, not the best one.
"""

from __future__ import annotations

import numpy as np

from thatch.placement.each import Each, here
from thatch.placement.problem import Problem
from thatch.placement.rows import Bools, Floats, Ints, distinct_rows
from thatch.placement.types import Types, types_of

__all__ = ["cell_bound"]

_MOST_CELLS = 16_384  # more ends than these make: a grid of that many cells, which counts less but counts no cell wrongly
_MOST_SETS = (
    512  # candidate sets, of the most subscribers: to look at fewer subscribers lowers the bound, if anything
)
_PART = 1_024  # demands that are looked at together


def cell_bound(problem: Problem, types: Types | None = None, each: Each = here) -> float:
    """What no placement within its latency limits can undercut; `each` finds how many brokers cells must enter."""
    types = types_of(problem) if types is None else types
    ends = _ends(problem)
    chosen, wanted = _demands(problem, types, ends)
    volumes = np.ones(())
    for axis in ends:
        volumes = np.multiply.outer(volumes, np.diff(axis))
    if not volumes.size:  # all interests are flat on one axis, and take no volume
        return 0.0
    packed = np.packbits(wanted.reshape(volumes.size, -1), axis=1)
    first, number = distinct_rows(packed)
    mass: Floats = np.bincount(number, volumes.reshape(-1), minlength=len(first)).astype(np.float64)
    demands: Bools = np.unpackbits(packed[first], axis=1, count=len(chosen)).astype(np.bool_)
    levels = _levels(problem, types.sets.matrix[chosen])
    parts = [(at, min(at + _PART, len(demands))) for at in range(0, len(demands), _PART)]
    return float(sum(each((levels, mass, demands), _least, parts)))


def _least(shared: tuple[list[Bools], Floats, Bools], part: tuple[int, int]) -> float:
    """What some distinct demands cost at least, on all levels."""
    levels, mass, demands = shared
    total = 0.0
    for weight, demand in zip(mass[slice(*part)].tolist(), demands[slice(*part)], strict=True):
        total += weight * sum(_disjoint(level[demand]) for level in levels) if demand.any() else 0.0
    return total


def _ends(problem: Problem) -> list[Floats]:
    """Where each axis is cut: at all ends of interests, or into equal parts where there are too many."""
    d = problem.interests.axes
    boxes = problem.interests.boxes
    most = max(1, int(_MOST_CELLS ** (1 / d)))
    cuts: list[Floats] = []
    for axis in range(d):
        ends = np.unique(boxes[:, [axis, d + axis]])
        cuts.append(ends if len(ends) <= most + 1 else np.linspace(ends[0], ends[-1], most + 1))
    return cuts


def _demands(problem: Problem, types: Types, ends: list[Floats]) -> tuple[Ints, Bools]:
    """The candidate sets that are looked at, and for each cell those among whom somebody wants all of it."""
    mass = np.bincount(types.candidates, types.count, minlength=len(types.sets.matrix))
    chosen = np.sort(np.argsort(-mass, kind="stable")[:_MOST_SETS])
    place = np.full(len(mass), -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    wanted = np.zeros([*(len(each) - 1 for each in ends), len(chosen)], np.bool_)
    looked_at = np.flatnonzero(place[types.candidates] >= 0)
    rows, owner = problem.interests.rows_of(types.interest[looked_at])
    boxes = problem.interests.boxes[rows]
    d = problem.interests.axes
    begin = [np.searchsorted(each, boxes[:, axis], "left").tolist() for axis, each in enumerate(ends)]
    stop = [np.searchsorted(each, boxes[:, d + axis], "right") - 1 for axis, each in enumerate(ends)]
    last = [each.tolist() for each in stop]
    column = place[types.candidates[looked_at]][owner].tolist()
    for row in range(len(rows)):
        cells = tuple(slice(begin[axis][row], max(begin[axis][row], last[axis][row])) for axis in range(d))
        wanted[(*cells, column[row])] = True
    return chosen, wanted


def _levels(problem: Problem, sets: Bools) -> list[Bools]:
    """The candidate sets in terms of the brokers of each level; empty where a candidate ends above that level."""
    tree = problem.tree
    depth = np.diff(tree.path_start)
    levels = []
    for level in range(int(depth.max())):
        # Paths lead upwards: the broker `level` below the top is that many from their end.
        column = np.array(
            [
                tree.path_nodes[tree.path_start[leaf + 1] - 1 - level] if depth[leaf] > level else -1
                for leaf in range(len(depth))
            ]
        )
        nodes = np.unique(column[column >= 0])
        matrix = np.zeros((len(sets), len(nodes)), np.bool_)
        for leaf in np.flatnonzero(column >= 0).tolist():
            matrix[:, np.searchsorted(nodes, column[leaf])] |= sets[:, leaf]
        matrix[sets[:, column < 0].any(axis=1)] = False
        levels.append(matrix)
    return levels


def _disjoint(sets: Bools) -> int:
    """How many of the sets, taken greedily, have nothing in common; empty ones demand nothing."""
    sizes = sets.sum(axis=1)
    taken = np.zeros(sets.shape[1], np.bool_)
    found = 0
    for row in np.argsort(sizes, kind="stable").tolist():
        if sizes[row] and not (sets[row] & taken).any():
            taken |= sets[row]
            found += 1
    return found
