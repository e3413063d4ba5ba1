"""An independent certificate: is a placement what it says it is?

Written against the definitions at the top of `problem.py` alone. It shares no code with the algorithms, nor with what
measures their answers: ways are walked edge by edge, volumes counted cell by cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thatch.placement.placement import Placement, Status
from thatch.placement.problem import LATENCY_SLACK, Problem
from thatch.placement.rows import Floats, Ints
from thatch.placement.volumes.reference import union_volume

__all__ = ["Certificate", "verify"]

_CLOSE = 1e-9  # relative: sums in another order


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was found; `faults` tells each disagreement in a sentence, `status` is what the limits say.

    Limits that are broken are no fault as long as the placement says so by its status: best effort is marked, not hidden.
    """

    faults: tuple[str, ...]
    status: Status
    bandwidth: float
    load_factor: float

    @property
    def is_valid(self) -> bool:
        """Whether the placement is what it says it is."""
        return not self.faults


def verify(placement: Placement) -> Certificate:
    """Check nesting, complexity, latency, load, volume and status of a placement against the definitions.

    Notes
    -----
    O(m) for m subscribers, and O((2 α)^d) cells for each filter.
    """
    problem = placement.problem
    faults = _shape_faults(placement)
    if faults:
        return Certificate(tuple(faults), Status.INFEASIBLE, float("nan"), float("nan"))
    faults = [*_interest_faults(placement), *_tree_faults(placement)]
    bandwidth = sum(union_volume(each) for each in placement.filters)
    if not np.isclose(bandwidth, placement.bandwidth, rtol=_CLOSE, atol=1e-300):
        faults.append(f"bandwidth is {bandwidth}, not {placement.bandwidth}")
    loads = dict.fromkeys(problem.tree.leaves.tolist(), 0)
    for leaf, load in zip(*np.unique(placement.assignment, return_counts=True), strict=True):
        loads[int(leaf)] = int(load)
    if list(loads.values()) != placement.loads.tolist():
        faults.append("loads are not those of the assignment")
    factor = _load_factor(problem, list(loads.values()))
    if not np.isclose(factor, placement.load_factor, rtol=_CLOSE):
        faults.append(f"the load factor is {factor}, not {placement.load_factor}")
    late = _late(placement)
    if late != placement.delays.broken:
        faults.append(f"{late} ways are too long, not {placement.delays.broken}")
    status = _status(problem, list(loads.values()), late)
    if status is not placement.status:
        faults.append(f"it is {status.value}, not {placement.status.value}")
    return Certificate(tuple(faults), status, float(bandwidth), factor)


def _shape_faults(placement: Placement) -> list[str]:
    """What would make the other questions meaningless."""
    problem = placement.problem
    if placement.assignment.shape != (problem.subscribers,):
        return [f"{problem.subscribers} subscribers, but {placement.assignment.shape} assigned"]
    if not set(np.unique(placement.assignment).tolist()) <= set(problem.tree.leaves.tolist()):
        return ["somebody is assigned to what is no leaf"]
    if len(placement.filters) != len(problem.tree.parents):
        return [f"{len(problem.tree.parents)} nodes, but {len(placement.filters)} filters"]
    d = problem.interests.axes
    faults = []
    for node, boxes in enumerate(placement.filters):
        if boxes.ndim != 2 or boxes.shape[1] != 2 * d or not np.isfinite(boxes).all():
            faults.append(f"the filter of {problem.tree.names[node]} is no array of boxes")
        elif (boxes[:, :d] > boxes[:, d:]).any():
            faults.append(f"the filter of {problem.tree.names[node]} has a low end above a high one")
        elif node == problem.tree.root and len(boxes):
            faults.append("the publisher has a filter")
        elif len(boxes) > problem.complexities[node]:
            faults.append(
                f"the filter of {problem.tree.names[node]} has {len(boxes)} boxes, "
                f"more than {problem.complexities[node]}"
            )
    return faults


def _outside(inner: Floats, outer: Floats) -> int:
    """How many boxes lie inside no single one of others. No tolerance: filters are made of the very same numbers."""
    d = inner.shape[1] // 2
    is_inside = np.zeros(len(inner), np.bool_)
    for box in outer:
        is_inside |= (inner[:, :d] >= box[:d]).all(axis=1) & (inner[:, d:] <= box[d:]).all(axis=1)
    return int((~is_inside).sum())


def _interest_faults(placement: Placement) -> list[str]:
    problem = placement.problem
    interests = problem.interests
    pairs = np.unique(placement.assignment * len(interests) + problem.interest_of)
    faults = []
    for leaf in problem.tree.leaves.tolist():
        begin, end = np.searchsorted(pairs, [leaf * len(interests), (leaf + 1) * len(interests)])
        wanted = pairs[begin:end] - leaf * len(interests)
        rows = _rows(interests.start, wanted)
        lost = _outside(interests.boxes[rows], placement.filters[leaf])
        if lost:
            faults.append(f"{lost} boxes of interests lie outside the filter of {problem.tree.names[leaf]}")
    return faults


def _rows(start: Ints, wanted: Ints) -> Ints:
    """The rows of the boxes of these interests."""
    sizes = start[wanted + 1] - start[wanted]
    before = np.cumsum(sizes) - sizes
    return np.repeat(start[wanted] - before, sizes) + np.arange(sizes.sum())


def _tree_faults(placement: Placement) -> list[str]:
    tree = placement.problem.tree
    faults = []
    for node, parent in enumerate(tree.parents.tolist()):
        if parent in (-1, tree.root):
            continue
        lost = _outside(placement.filters[node], placement.filters[parent])
        if lost:
            faults.append(
                f"{lost} boxes of {tree.names[node]} lie outside the filter of {tree.names[parent]}"
            )
    return faults


def _load_factor(problem: Problem, loads: list[int]) -> float:
    worst = 0.0
    for load, share in zip(loads, problem.shares.tolist(), strict=True):
        if load:
            worst = max(worst, load / (share * problem.subscribers) if share else float("inf"))
    return worst


def _late(placement: Placement) -> int:
    """How many subscribers have too long a way, walked edge by edge."""
    problem = placement.problem
    tree = problem.tree
    late = 0
    for leaf in np.unique(placement.assignment).tolist():
        mine = np.flatnonzero(placement.assignment == leaf)
        ways = np.linalg.norm(problem.locations[mine] - tree.locations[leaf], axis=1)
        node = leaf
        while problem.latency == "path" and node != tree.root:
            parent = int(tree.parents[node])
            ways = ways + np.linalg.norm(tree.locations[node] - tree.locations[parent])
            node = parent
        late += int((ways > problem.limits[mine] * (1 + LATENCY_SLACK)).sum())
    return late


def _status(problem: Problem, loads: list[int], late: int) -> Status:
    def fits(factor: float) -> bool:
        shares = problem.shares.tolist()
        return all(
            load <= factor * share * problem.subscribers + 1e-9
            for load, share in zip(loads, shares, strict=True)
        )

    if late or not fits(problem.beta_max):
        return Status.INFEASIBLE
    return Status.FEASIBLE if fits(problem.beta) else Status.OVER_BETA
