"""Filter adjustment (paper 003, section 4.3): at most α boxes around all that a broker must let through.

The paper clusters by k-means, or shrinks boxes that are given; whichever union is smaller is taken. Beyond the paper
(`"best"`): several starts of k-means, merging of the pair that wastes least, and insertion of large boxes first; the best
of them improved two boxes at a time. Up to two boxes are the best that there are, where that is affordable (`halving.py`).
Inner brokers are fitted bottom-up, around the boxes of their children.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from thatch.placement.filters.halving import in_two, settled
from thatch.placement.problem import Problem
from thatch.placement.rows import Floats, Ints
from thatch.placement.volumes import box_volumes, union_volume

__all__ = ["Fit", "filters_of", "fitted"]

Fit = Literal["paper", "best"]

_ROUNDS = 50  # of k-means
_STARTS = 5
_MOST_COMPARED = 3_000  # rows whose pairs are compared to leave out those inside others
_MOST_PAIRED = 400  # rows that are merged pair by pair
_MOST_HALVED = 1_000_000  # trials for the two best boxes
_MOST_SETTLED = 6_000  # the same where they are but two of more
_GOLDEN = (
    0.6180339887498949  # its multiples are spread evenly over 0..1, so that k-means needs no random numbers
)


def filters_of(
    problem: Problem,
    served_by: Ints,
    prior: Sequence[Floats] | None = None,
    fit: Fit = "best",
) -> tuple[Floats, ...]:
    """Filters for all nodes when `served_by` names the leaf of each subscriber, numbered as in `tree.leaves`.

    Parameters
    ----------
    prior : boxes for each node that may serve as they are, or shrunk; used where they contain all that they must
    """
    tree, interests = problem.tree, problem.interests
    none = np.zeros((0, interests.boxes.shape[1]))
    filters: list[Floats] = [none] * len(tree.parents)
    pairs, counts = np.unique(served_by * len(interests) + problem.interest_of, return_counts=True)
    ends = np.searchsorted(pairs, np.arange(len(tree.leaves) + 1) * len(interests))
    for number, leaf in enumerate(tree.leaves.tolist()):
        mine = slice(ends[number], ends[number + 1])
        rows, owner = interests.rows_of(pairs[mine] - number * len(interests))
        filters[leaf] = fitted(
            interests.boxes[rows],
            counts[mine][owner].astype(np.float64),
            int(problem.complexities[leaf]),
            None if prior is None else prior[leaf],
            fit,
        )
    for node in tree.order[::-1].tolist():
        children = tree.children(node)
        if node == tree.root or not len(children):
            continue
        below = np.concatenate([filters[child] for child in children.tolist()])
        given = None if prior is None else prior[node]
        filters[node] = fitted(below, np.ones(len(below)), int(problem.complexities[node]), given, fit)
    return tuple(filters)


def fitted(
    boxes: Floats, weights: Floats, most: int, prior: Floats | None = None, fit: Fit = "best"
) -> Floats:
    """At most `most` boxes such that each of `boxes` lies inside one, their union small."""
    from thatch.placement.filters import kernels

    if len(boxes) == 0:
        return boxes
    boxes, weights = _without_inner(boxes, weights)
    if len(boxes) <= most:
        return boxes
    if most == 1:
        return _around(boxes)[None]
    exact = in_two(boxes, _MOST_HALVED) if most == 2 and fit == "best" else None
    if exact is not None:
        return exact
    found = [_clustered(boxes, weights, most, start) for start in range(1 if fit == "paper" else _STARTS)]
    if prior is not None and 0 < len(prior) <= most:
        shrunk = _shrunk(boxes, prior)
        if shrunk is not None:
            found.append(shrunk)
    if fit == "best":
        found.append(_inserted(boxes, most))
        if len(boxes) <= _MOST_PAIRED:
            rows = boxes.copy()
            found.append(rows[kernels.paired(rows, most)])
    least = min(found, key=union_volume)
    return settled(boxes, least, _MOST_SETTLED) if fit == "best" else least


def _without_inner(boxes: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Leave out boxes that lie inside others: whatever contains those contains them."""
    from thatch.placement.filters import kernels

    if len(boxes) > _MOST_COMPARED:
        return boxes, weights
    keep = np.empty(len(boxes), np.bool_)
    kernels.is_maximal(np.ascontiguousarray(boxes), keep)
    return np.ascontiguousarray(boxes[keep]), weights[keep]


def _clustered(boxes: Floats, weights: Floats, most: int, start: int) -> Floats:
    from thatch.placement.filters import kernels

    labels = np.empty(len(boxes), np.int64)
    draws = (np.arange(1, most + 1) * _GOLDEN + start * _GOLDEN / _STARTS) % 1.0
    groups = kernels.clustered(boxes, weights, draws, _ROUNDS, labels)
    return np.array([_around(boxes[labels == group]) for group in range(groups) if (labels == group).any()])


def _inserted(boxes: Floats, most: int) -> Floats:
    from thatch.placement.filters import kernels
    from thatch.placement.volumes.kernels import room_for

    out = np.zeros((most, boxes.shape[1]))
    order = np.argsort(-box_volumes(boxes), kind="stable")
    k = kernels.inserted(boxes, order, 0.0, room_for(most + 1, boxes.shape[1] // 2), out)
    return out[:k]


def _shrunk(boxes: Floats, prior: Floats) -> Floats | None:
    """Each given box shrunk to the boxes put in it, each in the smallest that contains it; None if one is in none."""
    d = boxes.shape[1] // 2
    volumes = box_volumes(prior)
    chosen = np.full(len(boxes), -1)
    for number in np.argsort(-volumes, kind="stable").tolist():
        outer = prior[number]
        chosen[(boxes[:, :d] >= outer[:d]).all(axis=1) & (boxes[:, d:] <= outer[d:]).all(axis=1)] = number
    if (chosen < 0).any():
        return None
    return np.array([_around(boxes[chosen == number]) for number in np.unique(chosen)])


def _around(boxes: Floats) -> Floats:
    """The smallest box around boxes."""
    d = boxes.shape[1] // 2
    return np.concatenate([boxes[:, :d].min(axis=0), boxes[:, d:].max(axis=0)])
