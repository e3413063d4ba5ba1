"""Filter adjustment (yu2012, section 4.3): at most α boxes around everything that a broker must let through.

The paper clusters interests by k-means, or shrinks boxes that are given, and takes whichever union is smaller (`"paper"`).
Beyond the paper (`"best"`): several starts of k-means, merging of the pair that wastes least, and insertion of large boxes
first; the best of them is then improved two boxes at a time. One or two boxes are exact where that is affordable
(`halving.py`). Inner brokers are fitted bottom-up, around the boxes of their children.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from thatch.placement.arrays import Floats, Ints
from thatch.placement.boxes import box_volumes, hull, is_inside, union_volume
from thatch.placement.executor import Executor, run_here
from thatch.placement.halving import fit_two, improve_pairs
from thatch.placement.interests import Interests
from thatch.placement.placement import Placement, measure
from thatch.placement.problem import PlacementProblem

__all__ = ["Fit", "fit_boxes", "fit_filters", "refit"]

Fit = Literal["paper", "best"]

_ROUNDS = 50  # of k-means
_STARTS = 5
_MOST_COMPARED = 3_000  # rows whose pairs are compared to leave out those inside others
_MOST_PAIRED = 400  # rows that are merged pair by pair
_MOST_HALVED = 1_000_000  # trials for the two best boxes
_MOST_IMPROVED = 6_000  # the same where they are but two of more
_GOLDEN = 0.6180339887498949  # its multiples spread evenly over 0..1, so that k-means needs no random numbers


def fit_filters(
    problem: PlacementProblem, served_by: Ints, prior: Sequence[Floats] | None = None, fit: Fit = "best"
) -> tuple[Floats, ...]:
    """Fit the filters of all nodes to an assignment.

    Parameters
    ----------
    served_by : the leaf of each subscriber, numbered as in `tree.leaves`
    prior : boxes for each node that may be used as they are, or shrunk, where they contain all that they must
    """
    return _fit_inner(problem, _fit_leaves(problem, served_by, prior, fit), prior, fit)


def refit(placement: Placement, executor: Executor = run_here) -> Placement:
    """The same assignment with filters of less bandwidth, or the same placement if none are found."""
    problem, old = placement.problem, placement.filters
    filters = _fit_leaves(problem, placement.served_by, old, "best", executor)
    for leaf in problem.tree.leaves.tolist():
        if union_volume(filters[leaf]) >= union_volume(old[leaf]):
            filters[leaf] = old[leaf]
    new = _fit_inner(problem, filters, old, "best")
    if sum(map(union_volume, new)) >= placement.bandwidth:
        return placement
    better = measure(
        problem,
        (placement.served_by, new),
        algorithm=placement.algorithm,
        seed=placement.seed,
        bounds=placement.bounds,
    )
    return replace(better, seconds=placement.seconds)


def fit_boxes(
    boxes: Floats, weights: Floats, most: int, prior: Floats | None = None, fit: Fit = "best"
) -> Floats:
    """Find at most `most` boxes of small union such that each of `boxes` lies inside one of them."""
    from thatch.placement.kernels.fitting import merge_pairs

    if len(boxes) == 0:
        return boxes
    boxes, weights = _drop_inner(boxes, weights)
    if len(boxes) <= most:
        return boxes
    if most == 1:
        return hull(boxes)[None]
    exact = fit_two(boxes, _MOST_HALVED) if most == 2 and fit == "best" else None
    if exact is not None:
        return exact
    found = [_cluster(boxes, weights, most, start) for start in range(1 if fit == "paper" else _STARTS)]
    if prior is not None and 0 < len(prior) <= most:
        shrunk = _shrink(boxes, prior)
        if shrunk is not None:
            found.append(shrunk)
    if fit == "best":
        found.append(_insert(boxes, most))
        if len(boxes) <= _MOST_PAIRED:
            rows = boxes.copy()
            found.append(rows[merge_pairs(rows, most)])
    least = min(found, key=union_volume)
    return improve_pairs(boxes, least, _MOST_IMPROVED) if fit == "best" else least


@dataclass(frozen=True, slots=True, eq=False)
class _LeafInterests:
    """For each leaf the distinct interests that it serves and how many subscribers have each, α, and the prior filter."""

    all_interests: Interests
    interests: tuple[Ints, ...]
    counts: tuple[Ints, ...]
    most: Ints
    prior: tuple[Floats | None, ...]
    fit: Fit


def _fit_leaves(
    problem: PlacementProblem,
    served_by: Ints,
    prior: Sequence[Floats] | None,
    fit: Fit,
    executor: Executor = run_here,
) -> list[Floats]:
    """Filters of all nodes, of which those of the leaves are fitted and the others are empty."""
    count, leaves = len(problem.interests), problem.tree.leaves
    pairs, counts = np.unique(served_by * count + problem.interest_of, return_counts=True)
    ends = np.searchsorted(pairs, np.arange(len(leaves) + 1) * count)
    parts = [slice(ends[leaf], ends[leaf + 1]) for leaf in range(len(leaves))]
    shared = _LeafInterests(
        problem.interests,
        tuple(pairs[part] % count for part in parts),
        tuple(counts[part] for part in parts),
        problem.complexities[leaves],
        tuple(None if prior is None else prior[leaf] for leaf in leaves.tolist()),
        fit,
    )
    filters = [problem.interests.boxes[:0]] * len(problem.tree.parents)
    found = executor(shared, _fit_leaf, range(len(leaves)))
    for leaf, boxes in zip(leaves.tolist(), found, strict=True):
        filters[leaf] = boxes
    return filters


def _fit_leaf(shared: _LeafInterests, leaf: int) -> Floats:
    rows, owner = shared.all_interests.rows_of(shared.interests[leaf])
    weights = shared.counts[leaf][owner].astype(np.float64)
    boxes = shared.all_interests.boxes[rows]
    return fit_boxes(boxes, weights, int(shared.most[leaf]), shared.prior[leaf], shared.fit)


def _fit_inner(
    problem: PlacementProblem, filters: list[Floats], prior: Sequence[Floats] | None, fit: Fit
) -> tuple[Floats, ...]:
    """Filters of all nodes, given those of the leaves."""
    tree = problem.tree
    for node in tree.order[::-1].tolist():
        children = tree.children(node)
        if node == tree.root or not len(children):
            continue
        below = np.concatenate([filters[child] for child in children.tolist()])
        given = None if prior is None else prior[node]
        filters[node] = fit_boxes(below, np.ones(len(below)), int(problem.complexities[node]), given, fit)
    return tuple(filters)


def _drop_inner(boxes: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Leave out boxes that lie inside others: whatever contains those contains them."""
    from thatch.placement.kernels.boxes import mark_maximal

    if len(boxes) > _MOST_COMPARED:
        return boxes, weights
    keep = np.empty(len(boxes), np.bool_)
    mark_maximal(np.ascontiguousarray(boxes), keep)
    return np.ascontiguousarray(boxes[keep]), weights[keep]


def _cluster(boxes: Floats, weights: Floats, most: int, start: int) -> Floats:
    """The hulls of k-means clusters."""
    from thatch.placement.kernels.fitting import cluster

    labels = np.empty(len(boxes), np.int64)
    draws = (np.arange(1, most + 1) * _GOLDEN + start * _GOLDEN / _STARTS) % 1.0
    clusters = cluster(boxes, weights, draws, _ROUNDS, labels)
    return np.array([hull(boxes[labels == each]) for each in range(clusters) if (labels == each).any()])


def _insert(boxes: Floats, most: int) -> Floats:
    """Boxes grown by insertion, the largest first."""
    from thatch.placement.kernels.fitting import insert_in_order
    from thatch.placement.kernels.volumes import room_for

    out = np.zeros((most, boxes.shape[1]))
    order = np.argsort(-box_volumes(boxes), kind="stable")
    k = insert_in_order(boxes, order, 0.0, room_for(most + 1, boxes.shape[1] // 2), out)
    return out[:k]


def _shrink(boxes: Floats, prior: Floats) -> Floats | None:
    """Each prior box shrunk to the boxes for which it is the smallest around; None if some box is in none."""
    chosen = np.full(len(boxes), -1)
    for number in np.argsort(-box_volumes(prior), kind="stable").tolist():
        chosen[is_inside(boxes, prior[number])] = number
    if (chosen < 0).any():
        return None
    return np.array([hull(boxes[chosen == number]) for number in np.unique(chosen)])
