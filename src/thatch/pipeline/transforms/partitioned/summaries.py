"""What a shard holds, in a few boxes: a filter that holds on every event that one of its subscriptions wants.

So an event is sent to the shards whose summaries it matches, which is matching again.
"""

from __future__ import annotations

from collections.abc import Iterable

from thatch.matching.segments.parts import MOST_SIDES
from thatch.model.conjunctions import Conjunction
from thatch.model.filters import Filter
from thatch.model.hulls import Hull, coarsened
from thatch.model.language import parse
from thatch.model.schema import Schema
from thatch.pipeline.transforms.partitioned.splitting import Splitting

__all__ = ["Summary", "filter_of"]

_OWN = 8  # boxes at most for what is of the shard's own leaves
_STRAY = 4  # and for other conjunctions of its subscriptions


class Summary:
    """The summary of a shard: a hull of each leaf, or of a few that are alike.

    Parameters
    ----------
    most : intervals that a hull keeps of one attribute
    """

    def __init__(self, shard: int, splitting: Splitting, schema: Schema | None, most: int) -> None:
        self._shard, self._splitting, self._schema, self._most = shard, splitting, schema, most
        self._of_leaf: dict[int, Hull] = {}
        self._own: list[Hull] = []
        self._stray: list[Hull] = []

    def add(self, filter: Filter) -> None:
        """Make the summary hold a filter too."""
        for conjunction in filter.conjunctions:
            leaf = self._splitting.leaf(conjunction)
            hull = self._of_leaf.get(leaf.number)
            if hull is None:
                is_own = leaf.shard <= self._shard < leaf.shard + leaf.shards
                hulls, most = (self._own, _OWN) if is_own else (self._stray, _STRAY)
                hull = self._of_leaf[leaf.number] = self._joined(conjunction, hulls, most)
            hull.add(conjunction)

    def _joined(self, conjunction: Conjunction, hulls: list[Hull], most: int) -> Hull:
        """A new hull as long as there is room, else the one that loses least."""
        if len(hulls) < most:
            hulls.append(Hull(conjunction, self._most))
            return hulls[-1]
        return min(hulls, key=lambda hull: (hull.lost(conjunction), len(hull)))

    def boxes(self) -> list[str]:
        """The summary as texts, one for each box; `filter_of` makes a filter of them again."""
        hulls = (hull.conjunction(self._schema) for hull in (*self._own, *self._stray))
        return [str(Filter((_affordable(each),), self._schema, ())) for each in hulls]


def filter_of(boxes: Iterable[str], schema: Schema | None) -> Filter:
    """The filter of a summary. Its boxes are not merged: one long union costs more than several short ones."""
    return Filter(tuple(each for box in boxes for each in parse(box, schema).conjunctions), schema, ())


def _affordable(hull: Conjunction) -> Conjunction:
    """A hull around a hull that an index decides by itself: with no more intervals than a box of it may have."""
    constraints = dict(hull.constraints)
    while sum(len(each) // 2 for each in constraints.values()) > MOST_SIDES:
        longest = max(constraints, key=lambda key: len(constraints[key]))
        if len(constraints[longest]) == 2:
            break
        constraints[longest] = coarsened(constraints[longest], len(constraints[longest]) // 4)
    return Conjunction(tuple(constraints.items()))
