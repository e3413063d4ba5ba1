"""The nearest leaf with room, compiled."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel

__all__ = ["assign"]


@kernel
def assign(order, points, leaves, capacities, out_served_by):
    """Send each subscriber to the nearest leaf with room, or, when all are full, to the nearest."""
    n, axes = leaves.shape
    loads = np.zeros(n, np.int64)
    for j in order:
        best = np.inf
        chosen = -1
        best_anyway = np.inf
        anyway = 0
        for leaf in range(n):
            square = 0.0
            for axis in range(axes):
                square += (points[j, axis] - leaves[leaf, axis]) ** 2
            if square < best_anyway:
                best_anyway = square
                anyway = leaf
            if square < best and loads[leaf] < capacities[leaf]:
                best = square
                chosen = leaf
        if chosen < 0:
            chosen = anyway
        out_served_by[j] = chosen
        loads[chosen] += 1
