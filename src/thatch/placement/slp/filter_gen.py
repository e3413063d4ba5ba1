"""FilterGen (yu2012, section 4.1.3): candidate boxes for the linear program.

Interests are clustered into super-interests, by location and corners. On each axis intervals of lengths 2^j λ are laid over
the projections of these. The products of intervals, shrunk to what they contain, are the candidates.

Deviations: the two spaces are scaled by their spread and the root of their dimension, because the paper gives no scaling; the
whole extent and the super-interests themselves are candidates too, because the paper's last level misses long intervals;
there are at most 12 levels; and on more than two axes, where products explode, hulls of ever fewer clusters replace them.
"""

from __future__ import annotations

import numpy as np

from thatch.placement.arrays import Floats, Ints, distinct_rows

__all__ = ["candidate_boxes", "cover_axis", "shrink_boxes"]

_LEVELS = 12
_ROUNDS = 20  # of k-means
_MOST_PRODUCTS = 60_000
_GAMMA = 0.5


def candidate_boxes(boxes: Floats, locations: Floats, clusters: int, rng: np.random.Generator) -> Floats:
    """Boxes that filters may be made of, for sampled boxes of subscribers at these locations."""
    d = boxes.shape[1] // 2
    features = np.hstack([_scale(locations), _scale(boxes)])
    supers = _hulls(boxes, _label_clusters(features, clusters, rng))
    found = [supers]
    per_axis = [cover_axis(supers[:, axis], supers[:, d + axis]) for axis in range(d)]
    if d <= 2 and np.prod([len(each) for each in per_axis]) <= _MOST_PRODUCTS:
        grid = np.meshgrid(*[np.arange(len(each)) for each in per_axis], indexing="ij")
        chosen = [each[at.reshape(-1)] for each, at in zip(per_axis, grid, strict=True)]
        found.append(np.column_stack([*(each[:, 0] for each in chosen), *(each[:, 1] for each in chosen)]))
    else:
        while clusters > 1:
            clusters = (clusters + 1) // 2
            found.append(_hulls(boxes, _label_clusters(features, clusters, rng)))
    return shrink_boxes(np.concatenate(found), boxes)


def cover_axis(lows: Floats, highs: Floats) -> Floats:
    """The intervals laid over one axis: rows of a low and a high end."""
    extent = float(highs.max() - lows.min())
    whole = np.array([[lows.min(), highs.max()]])
    lengths = highs - lows
    positive = lengths[lengths > 0]
    if extent <= 0 or not len(positive):
        return whole
    shortest = max(float(positive.min()), extent / 2**_LEVELS)
    found = [whole]
    for level in range(1, int(np.ceil(np.log2(extent / shortest))) + 2):
        length = 2**level * shortest
        short = np.flatnonzero(lengths <= length / 2)
        order = short[np.argsort(lows[short], kind="stable")]
        at = 0
        while at < len(order):
            first = lows[order[at]]
            inside = order[(lows[order] >= first) & (highs[order] <= first + length)]
            found.append(np.array([[first, highs[inside].max()]]))
            at = int(np.searchsorted(lows[order], first + (1 - _GAMMA) * length, "right"))
    return np.unique(np.concatenate(found), axis=0)


def shrink_boxes(candidates: Floats, boxes: Floats) -> Floats:
    """Shrink each candidate to the boxes that it contains; drop those that contain none, or the same as another."""
    from thatch.placement.kernels.boxes import shrink

    out = np.empty_like(candidates)
    is_used = shrink(np.ascontiguousarray(candidates), np.ascontiguousarray(boxes), out)
    kept: Floats = out[is_used]
    distinct: Floats = kept[distinct_rows(kept)[0]]
    return distinct


def _scale(points: Floats) -> Floats:
    spread = float(points.std())
    answer: Floats = points / ((spread or 1.0) * np.sqrt(points.shape[1]))
    return answer


def _label_clusters(features: Floats, clusters: int, rng: np.random.Generator) -> Ints:
    from thatch.placement.kernels.fitting import cluster

    labels = np.empty(len(features), np.int64)
    draws = rng.random(min(clusters, len(features)))
    cluster(np.ascontiguousarray(features), np.ones(len(features)), draws, _ROUNDS, labels)
    return labels


def _hulls(boxes: Floats, labels: Ints) -> Floats:
    """The box around each cluster: the super-interests."""
    d = boxes.shape[1] // 2
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    lows = np.minimum.reduceat(boxes[order, :d], starts)
    highs = np.maximum.reduceat(boxes[order, d:], starts)
    return np.hstack([lows, highs])
