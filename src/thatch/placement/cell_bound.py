"""A rigorous lower bound on bandwidth: where events are wanted, and at how many brokers at least. Beyond yu2012.

Event space is cut into cells. A cell inside an interest must enter some candidate of each subscriber with that interest, so it
must enter at least as many brokers as there are disjoint candidate sets among those subscribers. The sum of volume times that
number holds for every placement that keeps latency limits, whatever its loads and complexities. On trees of several levels
the same holds on each level, with the brokers of that level in place of the leaves below them.

Disjoint sets are counted greedily, smallest first: a valid bound on the hitting set, not the best one.
"""

from __future__ import annotations

import numpy as np

from thatch.placement.arrays import Bools, Floats, Ints, distinct_rows
from thatch.placement.candidates import SubscriberTypes
from thatch.placement.executor import Executor, run_here, spans
from thatch.placement.problem import PlacementProblem

__all__ = ["cell_bound"]

_MOST_CELLS = 16_384  # where ends make more, an even grid of that many cells, which can only lower the bound
_MOST_SETS = 512  # candidate sets, those of the most subscribers: leaving out others can only lower the bound
_PIECE = 1_024  # distinct demands that are counted together


def cell_bound(problem: PlacementProblem, executor: Executor = run_here) -> float:
    """A bandwidth that no placement within its latency limits can undercut; `executor` counts brokers that cells must enter."""
    types = problem.subscriber_types()
    ends = _ends(problem)
    chosen, wanted = _demands(problem, types, ends)
    volumes = np.ones(())
    for axis in ends:
        volumes = np.multiply.outer(volumes, np.diff(axis))
    if not volumes.size:  # all interests are flat on one axis and have no volume
        return 0.0
    packed = np.packbits(wanted.reshape(volumes.size, -1), axis=1)
    first, number = distinct_rows(packed)
    mass: Floats = np.bincount(number, volumes.reshape(-1), minlength=len(first)).astype(np.float64)
    demands: Bools = np.unpackbits(packed[first], axis=1, count=len(chosen)).astype(np.bool_)
    levels = _levels(problem, types.sets.matrix[chosen])
    return float(sum(executor((levels, mass, demands), _least_cost, spans(len(demands), size=_PIECE))))


def _least_cost(shared: tuple[list[Bools], Floats, Bools], span: tuple[int, int]) -> float:
    """What some distinct demands cost at least, on all levels."""
    levels, mass, demands = shared
    total = 0.0
    for weight, demand in zip(mass[slice(*span)].tolist(), demands[slice(*span)], strict=True):
        total += weight * sum(_count_disjoint(level[demand]) for level in levels) if demand.any() else 0.0
    return total


def _ends(problem: PlacementProblem) -> list[Floats]:
    """Where each axis is cut: at all ends of interests or, where these are too many, into equal parts."""
    d = problem.interests.axes
    boxes = problem.interests.boxes
    most = max(1, int(_MOST_CELLS ** (1 / d)))
    cuts: list[Floats] = []
    for axis in range(d):
        ends = np.unique(boxes[:, [axis, d + axis]])
        cuts.append(ends if len(ends) <= most + 1 else np.linspace(ends[0], ends[-1], most + 1))
    return cuts


def _demands(problem: PlacementProblem, types: SubscriberTypes, ends: list[Floats]) -> tuple[Ints, Bools]:
    """The candidate sets that count, and for each cell those of which some subscriber wants all of it."""
    mass = np.bincount(types.candidates, types.count, minlength=len(types.sets.matrix))
    chosen = np.sort(np.argsort(-mass, kind="stable")[:_MOST_SETS])
    column_of = np.full(len(mass), -1, np.int64)
    column_of[chosen] = np.arange(len(chosen))
    wanted = np.zeros([*(len(each) - 1 for each in ends), len(chosen)], np.bool_)
    counted = np.flatnonzero(column_of[types.candidates] >= 0)
    rows, owner = problem.interests.rows_of(types.interest[counted])
    boxes = problem.interests.boxes[rows]
    d = problem.interests.axes
    begin = [np.searchsorted(each, boxes[:, axis], "left").tolist() for axis, each in enumerate(ends)]
    stop = [np.searchsorted(each, boxes[:, d + axis], "right") - 1 for axis, each in enumerate(ends)]
    last = [each.tolist() for each in stop]
    column = column_of[types.candidates[counted]][owner].tolist()
    for row in range(len(rows)):
        cells = tuple(slice(begin[axis][row], max(begin[axis][row], last[axis][row])) for axis in range(d))
        wanted[(*cells, column[row])] = True
    return chosen, wanted


def _levels(problem: PlacementProblem, sets: Bools) -> list[Bools]:
    """The candidate sets as sets of brokers of each level; empty where the path to a candidate ends above that level."""
    tree = problem.tree
    depth = np.diff(tree.path_start)
    levels = []
    for level in range(int(depth.max())):
        # Paths lead upwards, so the broker `level` below the top is that many before their end.
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


def _count_disjoint(sets: Bools) -> int:
    """How many of the sets, taken greedily, are disjoint; empty ones do not count."""
    sizes = sets.sum(axis=1)
    taken = np.zeros(sets.shape[1], np.bool_)
    found = 0
    for row in np.argsort(sizes, kind="stable").tolist():
        if sizes[row] and not (sets[row] & taken).any():
            taken |= sets[row]
            found += 1
    return found
