"""Which branches contain which interests, and the loads of leaves that this allows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from thatch.placement.flow import Routing, route
from thatch.placement.rows import Bools, Floats, Ints, distinct_rows
from thatch.placement.slp.part import Part

__all__ = ["Coverage"]


class Coverage:
    """Filters of branches, and what they contain; changes when a filter does.

    Parameters
    ----------
    filters : the boxes of each branch, at first none by default
    interests : the distinct interests of the types, and `interest` which of them each type has
    contains : a row an interest, a column a branch
    """

    def __init__(self, part: Part, filters: Iterable[Floats] | None = None) -> None:
        self.problem, self.types, self.branches = part.problem, part.types, part.branches
        self.part = part
        self.interests, self.interest = np.unique(part.types.interest, return_inverse=True)
        none = part.problem.interests.boxes[:0]
        self.filters = [none] * len(part.branches) if filters is None else list(filters)
        self.contains = np.zeros((len(self.interests), len(part.branches)), np.bool_)
        for branch in range(len(part.branches)):
            self._look(branch)

    def replace(self, branch: int, boxes: Floats) -> None:
        """Let a branch have another filter."""
        self.filters[branch] = boxes
        self._look(branch)

    def _look(self, branch: int) -> None:
        from thatch.placement.slp import kernels

        out = np.empty(len(self.interests), np.bool_)
        boxes = np.ascontiguousarray(self.filters[branch])
        own = self.problem.interests
        kernels.contained(boxes, len(boxes), own.boxes, own.start, self.interests, out)
        self.contains[:, branch] = out

    def missed(self, chosen: Ints | None = None) -> Bools:
        """Whether no candidate of a type, or of those chosen, contains its interest."""
        types = self.types
        chosen = np.arange(len(types)) if chosen is None else chosen
        near = self.branches.any_leaf(types.sets.matrix)
        is_held = self.contains[self.interest[chosen]] & near[types.candidates[chosen]]
        return ~np.asarray(is_held.any(axis=1))

    def groups(self) -> tuple[Bools, Ints, Ints]:
        """Types that may go to the same leaves: these leaves, the group of each type, subscribers in each group."""
        of_leaf = self.branches.of_leaf
        is_held = self.contains[:, of_leaf] & (of_leaf >= 0)
        held = np.packbits(is_held, axis=1)[self.interest]
        held &= np.packbits(self.types.sets.matrix, axis=1)[self.types.candidates]
        first, group = distinct_rows(held)
        matrix = np.unpackbits(held[first], axis=1, count=len(of_leaf)).astype(np.bool_)
        return matrix, group, np.bincount(group, self.types.count, minlength=len(first)).astype(np.int64)

    def routed(self) -> tuple[Routing, Bools, Ints, Ints]:
        """The flow that filters allow, with the groups that it is between."""
        matrix, group, supplies = self.groups()
        return route(supplies, matrix, self.part.capacities), matrix, group, supplies
