"""An independent check of a placement: are its figures true, and does it keep its limits?

Written against the definitions at the top of `problem.py` alone. It shares no code with the algorithms, nor with `measure`:
paths are walked edge by edge, volumes are counted cell by cell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from thatch.placement.arrays import Floats, Ints
from thatch.placement.broken import BrokenLimit, Relaxation, Shortage
from thatch.placement.candidates import LATENCY_SLACK
from thatch.placement.placement import Placement, Status
from thatch.placement.problem import PlacementProblem

__all__ = ["Certificate", "Clock", "certify", "count_volume", "verify"]

Clock = Callable[[], float]  # in seconds

_TOLD = 5  # broken limits in sentences
_CLOSE = 1e-9  # relative: sums in another order


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was found: `faults` has a sentence for each disagreement, `status` is the true one.

    A broken limit is not a fault if the status of the placement admits it: best effort is marked, not hidden.

    Parameters
    ----------
    broken : the limits that an infeasible placement breaks, by broker, the loads first
    is_possible : whether some placement keeps all limits; None if nobody looked (`place` looks if this one does not)
    shortage : why none does
    relaxations : the least that must give, if nothing else does
    """

    faults: tuple[str, ...]
    status: Status
    bandwidth: float
    load_factor: float
    broken: tuple[BrokenLimit, ...] = ()
    is_possible: bool | None = None
    shortage: Shortage | None = None
    relaxations: tuple[Relaxation, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether the placement is what it claims to be."""
        return not self.faults

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the placement is infeasible and what would help, in sentences; none if it keeps its limits."""
        broken = [str(each) for each in self.broken[:_TOLD]]
        if len(self.broken) > _TOLD:
            broken.append(f"limits are broken at {len(self.broken) - _TOLD:,} more brokers")
        if self.is_possible:
            broken.append("a placement within all limits exists: the algorithms balance and best find one")
        if self.shortage is not None:
            broken += [str(self.shortage), *map(str, self.relaxations)]
        return tuple(broken)


def verify(placement: Placement, name: Callable[[int], str] = str) -> Certificate:
    """Check nesting, complexity, latency, load, volume and status of a placement against the definitions.

    Parameters
    ----------
    name : what a subscriber is called, given its number

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
    too_long = _too_long(placement, name)
    late = sum(each.subscribers for each in too_long)
    if late != placement.delays.broken:
        faults.append(f"{late} paths are too long, not {placement.delays.broken}")
    status = _status(problem, list(loads.values()), late)
    if status is not placement.status:
        faults.append(f"the status is {status.value}, not {placement.status.value}")
    broken = (*_too_full(problem, loads), *too_long)
    return Certificate(tuple(faults), status, float(bandwidth), factor, broken)


def certify(
    placement: Placement, now: Clock | None = None, name: Callable[[int], str] = str
) -> tuple[Placement, Certificate]:
    """A placement that an algorithm returned, with the time its check took if there is a clock, and its certificate.

    Raises
    ------
    AssertionError
        If it is not valid, which is a bug of the algorithm.
    """
    begin = now() if now else 0.0
    certificate = verify(placement, name)
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


def _too_full(problem: PlacementProblem, loads: dict[int, int]) -> list[BrokenLimit]:
    """The leaves that serve more than they may."""
    broken = []
    for (leaf, load), share in zip(loads.items(), problem.shares.tolist(), strict=True):
        allowed = int(problem.beta_max * share * problem.subscribers + 1e-9)
        if load > allowed:
            broken.append(
                BrokenLimit(
                    limit="load",
                    broker=problem.tree.names[leaf],
                    subscribers=load,
                    value=load,
                    allowed=allowed,
                )
            )
    return broken


def _too_long(placement: Placement, name: Callable[[int], str]) -> list[BrokenLimit]:
    """The leaves through which some paths are too long, walked edge by edge."""
    problem = placement.problem
    tree = problem.tree
    broken = []
    for leaf in np.unique(placement.assignment).tolist():
        mine = np.flatnonzero(placement.assignment == leaf)
        lengths = np.linalg.norm(problem.locations[mine] - tree.locations[leaf], axis=1)
        node = leaf
        while problem.latency == "path" and node != tree.root:
            parent = int(tree.parents[node])
            lengths = lengths + np.linalg.norm(tree.locations[node] - tree.locations[parent])
            node = parent
        late = lengths > problem.limits[mine] * (1 + LATENCY_SLACK)
        if late.any():
            worst = int(np.where(late, lengths - problem.limits[mine], -np.inf).argmax())
            broken.append(
                BrokenLimit(
                    limit="latency",
                    broker=tree.names[leaf],
                    subscribers=int(late.sum()),
                    value=float(lengths[worst]),
                    allowed=float(problem.limits[mine[worst]]),
                    worst=name(int(mine[worst])),
                )
            )
    return broken


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
