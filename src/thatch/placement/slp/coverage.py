"""Which branches contain which interests, and the loads of leaves that this allows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from thatch.placement.arrays import Bools, Floats, Ints, distinct_rows
from thatch.placement.flow import LeafFlow, route
from thatch.placement.slp.branches import Subproblem

__all__ = ["Coverage"]


class Coverage:
    """Filters of branches, and what they contain; `replace` changes a filter.

    Parameters
    ----------
    filters : the boxes of each branch; none by default

    Attributes
    ----------
    interests, interest : the distinct interests of the types, and which of them each type has
    contains : a row an interest, a column a branch
    """

    def __init__(self, part: Subproblem, filters: Iterable[Floats] | None = None) -> None:
        self.part = part
        self.problem, self.types, self.branches = part.problem, part.types, part.branches
        self.interests, self.interest = np.unique(part.types.interest, return_inverse=True)
        none = part.problem.interests.boxes[:0]
        self.filters = [none] * len(part.branches) if filters is None else list(filters)
        self.contains = np.zeros((len(self.interests), len(part.branches)), np.bool_)
        for branch in range(len(part.branches)):
            self._update(branch)

    def replace(self, branch: int, boxes: Floats) -> None:
        """Give a branch another filter."""
        self.filters[branch] = boxes
        self._update(branch)

    def _update(self, branch: int) -> None:
        from thatch.placement.kernels.boxes import mark_contained

        out = np.empty(len(self.interests), np.bool_)
        boxes = np.ascontiguousarray(self.filters[branch])
        own = self.problem.interests
        mark_contained(boxes, len(boxes), own.boxes, own.start, self.interests, out)
        self.contains[:, branch] = out

    def is_missed(self, chosen: Ints | None = None) -> Bools:
        """Whether no candidate of a type contains its interest; for all types, or for those chosen."""
        types = self.types
        chosen = np.arange(len(types)) if chosen is None else chosen
        near = self.branches.any_leaf(types.sets.matrix)
        is_held = self.contains[self.interest[chosen]] & near[types.candidates[chosen]]
        return ~np.asarray(is_held.any(axis=1))

    def groups(self) -> tuple[Bools, Ints, Ints]:
        """Group types that may go to the same leaves: the leaves and the size of each group, and the group of each type.

        Returns
        -------
        A row a group and a column a leaf, the group of each type, the number of subscribers in each group.
        """
        of_leaf = self.branches.of_leaf
        is_held = self.contains[:, of_leaf] & (of_leaf >= 0)
        held = np.packbits(is_held, axis=1)[self.interest]
        held &= np.packbits(self.types.sets.matrix, axis=1)[self.types.candidates]
        first, group = distinct_rows(held)
        matrix = np.unpackbits(held[first], axis=1, count=len(of_leaf)).astype(np.bool_)
        return matrix, group, np.bincount(group, self.types.count, minlength=len(first)).astype(np.int64)

    def route(self) -> tuple[LeafFlow, Bools, Ints, Ints]:
        """The flow that filters allow, and the groups that it is between; see `groups`."""
        matrix, group, supplies = self.groups()
        return route(supplies, matrix, self.part.capacities), matrix, group, supplies
