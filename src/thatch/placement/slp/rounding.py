"""From fractions of boxes to boxes (paper 003, section 4.1.1).

literal      each box for itself, kept with probability 1 − (1 − ŷ)^ln|Sa|: more boxes than α, which filter adjustment
             has to repair later
dependent    exactly as many boxes as their fractions add up to, at most α, drawn together: nothing is to be repaired
             but what they miss. Beyond the paper (spec 2, D1).
"""

from __future__ import annotations

import numpy as np

from thatch.placement.rows import Floats
from thatch.placement.slp.branches import Branches
from thatch.placement.slp.relaxation import Relaxed

__all__ = ["dependent", "expanded", "literal"]

_EXPANSION = 0.1  # ε; the paper gives none


def literal(found: Relaxed, sampled: int, branches: Branches, rng: np.random.Generator) -> list[Floats]:
    """A draw of each box for itself, for so many sampled subscribers."""
    chance = 1 - (1 - found.amount) ** max(1.0, np.log(sampled))
    is_kept = rng.random(len(chance)) < chance
    ends = np.searchsorted(found.branch[is_kept], np.arange(1, len(branches)))
    return np.split(found.boxes[is_kept], ends)


def dependent(found: Relaxed, branches: Branches, rng: np.random.Generator) -> list[Floats]:
    """A draw of at most α boxes for each branch: points at distance 1 on the sum of fractions, boxes in random order."""
    filters = []
    for branch in range(len(branches)):
        begin, end = np.searchsorted(found.branch, [branch, branch + 1])
        order = begin + rng.permutation(end - begin)
        sums = np.cumsum(found.amount[order])
        total = float(sums[-1]) if len(sums) else 0.0
        points = np.arange(rng.random(), total, 1.0)[: int(branches.complexities[branch])]
        drawn = np.unique(order[np.searchsorted(sums, points, "right").clip(max=len(order) - 1)])
        filters.append(found.boxes[drawn])
    return filters


def expanded(filters: list[Floats]) -> list[Floats]:
    """Boxes with each side longer by ε: what the sample stands for lies a little outside."""
    answer = []
    for boxes in filters:
        d = boxes.shape[1] // 2
        margin = (boxes[:, d:] - boxes[:, :d]) * (_EXPANSION / 2)
        answer.append(np.hstack([boxes[:, :d] - margin, boxes[:, d:] + margin]))
    return answer
