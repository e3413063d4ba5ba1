"""An independent check of a placement: are its figures true, and does it keep its limits?

Written against the definitions at the top of `problem.py` alone. It shares no code with the algorithms, nor with `measure`:
paths are walked edge by edge, volumes are counted cell by cell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from thatch.placement.arrays import Floats, Ints
from thatch.placement.candidates import LATENCY_SLACK
from thatch.placement.placement import Placement, Status
from thatch.placement.problem import PlacementProblem

__all__ = ["Certificate", "Clock", "certify", "count_volume", "verify"]

Clock = Callable[[], float]  # in seconds

_CLOSE = 1e-9  # relative: sums in another order


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was found: `faults` has a sentence for each disagreement, `status` is the true one.

    A broken limit is not a fault if the status of the placement admits it: best effort is marked, not hidden.
    """

    faults: tuple[str, ...]
    status: Status
    bandwidth: float
    load_factor: float

    @property
    def is_valid(self) -> bool:
        """Whether the placement is what it claims to be."""
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
    bandwidth = sum(count_volume(each) for each in placement.filters)
    if not np.isclose(bandwidth, placement.bandwidth, rtol=_CLOSE, atol=1e-300):
        faults.append(f"bandwidth is {bandwidth}, not {placement.bandwidth}")
    loads = dict.fromkeys(problem.tree.leaves.tolist(), 0)
    for leaf, load in zip(*np.unique(placement.assignment, return_counts=True), strict=True):
        loads[int(leaf)] = int(load)
    if list(loads.values()) != placement.loads.tolist():
        faults.append("loads do not match the assignment")
    factor = _load_factor(problem, list(loads.values()))
    if not np.isclose(factor, placement.load_factor, rtol=_CLOSE):
        faults.append(f"the load factor is {factor}, not {placement.load_factor}")
    late = _late(placement)
    if late != placement.delays.broken:
        faults.append(f"{late} paths are too long, not {placement.delays.broken}")
    status = _status(problem, list(loads.values()), late)
    if status is not placement.status:
        faults.append(f"the status is {status.value}, not {placement.status.value}")
    return Certificate(tuple(faults), status, float(bandwidth), factor)


def certify(placement: Placement, now: Clock | None = None) -> tuple[Placement, Certificate]:
    """A placement that an algorithm returned, with the time its check took if there is a clock, and its certificate.

    Raises
    ------
    AssertionError
        If it is not valid, which is a bug of the algorithm.
    """
    begin = now() if now else 0.0
    certificate = verify(placement)
    if not certificate.is_valid:
        raise AssertionError(
            f"{placement.algorithm} returned an invalid placement: {'; '.join(certificate.faults)}"
        )
    if now:
        placement = replace(placement, seconds={**placement.seconds, "certificate": now() - begin})
    return placement, certificate


def count_volume(boxes: Floats) -> float:
    """The volume of the union of boxes, by definition: cut space at every end, add the cells that some box contains.

    Slow, and written independently of the kernels: O((2 k)^d) for k boxes on d axes.
    """
    if len(boxes) == 0:
        return 0.0
    d = boxes.shape[1] // 2
    ends = [np.unique(boxes[:, [axis, d + axis]]) for axis in range(d)]
    is_inside = np.zeros([len(each) - 1 for each in ends], np.bool_)
    for box in boxes:
        cells = tuple(
            slice(np.searchsorted(each, box[axis]), np.searchsorted(each, box[d + axis]))
            for axis, each in enumerate(ends)
        )
        is_inside[cells] = True
    volume = is_inside.astype(np.float64)
    for each in reversed(ends):
        volume = volume @ np.diff(each)
    return float(volume)


def _shape_faults(placement: Placement) -> list[str]:
    """Faults that would make the other checks meaningless."""
    problem = placement.problem
    if placement.assignment.shape != (problem.subscribers,):
        return [f"there are {problem.subscribers} subscribers, but {len(placement.assignment)} are assigned"]
    if not set(np.unique(placement.assignment).tolist()) <= set(problem.tree.leaves.tolist()):
        return ["a subscriber is assigned to a node that is not a leaf"]
    if len(placement.filters) != len(problem.tree.parents):
        return [f"there are {len(problem.tree.parents)} nodes, but {len(placement.filters)} filters"]
    d = problem.interests.axes
    faults = []
    for node, boxes in enumerate(placement.filters):
        if boxes.ndim != 2 or boxes.shape[1] != 2 * d or not np.isfinite(boxes).all():
            faults.append(f"the filter of {problem.tree.names[node]} is not an array of boxes")
        elif (boxes[:, :d] > boxes[:, d:]).any():
            faults.append(f"the filter of {problem.tree.names[node]} has a low end above a high end")
        elif node == problem.tree.root and len(boxes):
            faults.append("the publisher has a filter")
        elif len(boxes) > problem.complexities[node]:
            faults.append(
                f"the filter of {problem.tree.names[node]} has {len(boxes)} boxes, "
                f"more than {problem.complexities[node]}"
            )
    return faults


def _outside(inner: Floats, outer: Floats) -> int:
    """How many inner boxes lie inside no single outer one. No tolerance: filters are made of the very same numbers."""
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


def _load_factor(problem: PlacementProblem, loads: list[int]) -> float:
    worst = 0.0
    for load, share in zip(loads, problem.shares.tolist(), strict=True):
        if load:
            worst = max(worst, load / (share * problem.subscribers) if share else float("inf"))
    return worst


def _late(placement: Placement) -> int:
    """How many subscribers have too long a path, walked edge by edge."""
    problem = placement.problem
    tree = problem.tree
    late = 0
    for leaf in np.unique(placement.assignment).tolist():
        mine = np.flatnonzero(placement.assignment == leaf)
        lengths = np.linalg.norm(problem.locations[mine] - tree.locations[leaf], axis=1)
        node = leaf
        while problem.latency == "path" and node != tree.root:
            parent = int(tree.parents[node])
            lengths = lengths + np.linalg.norm(tree.locations[node] - tree.locations[parent])
            node = parent
        late += int((lengths > problem.limits[mine] * (1 + LATENCY_SLACK)).sum())
    return late


def _status(problem: PlacementProblem, loads: list[int], late: int) -> Status:
    def fits(factor: float) -> bool:
        shares = problem.shares.tolist()
        return all(
            load <= factor * share * problem.subscribers + 1e-9
            for load, share in zip(loads, shares, strict=True)
        )

    if late or not fits(problem.beta_max):
        return Status.INFEASIBLE
    return Status.FEASIBLE if fits(problem.beta) else Status.OVER_BETA
