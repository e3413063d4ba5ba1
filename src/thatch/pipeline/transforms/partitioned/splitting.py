"""Decide which shard a subscription belongs to, by a small tree grown on a sample, and summarise each shard.

A branch asks of one attribute whether a conjunction lies wholly below a cut, wholly above it, or neither; neither also if
it does not constrain the attribute. No event satisfies both a conjunction below and one above. A leaf is a cluster of
similar conjunctions; a few neighbouring leaves are a shard, and a leaf that nothing divides is several shards.

Any assignment is correct, since every shard summarises what it really holds; the tree only decides how often shards are
visited. A summary is a filter of a few boxes that holds on every event that a subscription of the shard wants, so that
finding the shards of an event is matching again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias
from zlib import crc32

from thatch.matching.segments.parts import MOST_SIDES
from thatch.model.conjunctions import Conjunction
from thatch.model.filters import Filter
from thatch.model.hulls import Hull, coarsen
from thatch.model.language import parse
from thatch.model.lines import Constraint, Cut
from thatch.model.schema import Schema

__all__ = ["Branch", "Leaf", "Splitting", "Summary", "filter_of", "grow_splitting"]

_DEEPEST = 48
_FEWEST = 8  # conjunctions of the sample that are worth dividing
_ATTRIBUTES = 12  # tried for a branch: those that most conjunctions constrain
_CUTS = 32  # tried of each attribute
_GAIN = 0.95  # a branch pays if an event visits at most this share of it
_FULL = 1.15  # a shard holds at most this much of its share, where leaves allow it

Sides: TypeAlias = Mapping[str, Constraint]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A cluster of conjunctions: its number, its first shard, and how many shards it has."""

    number: int
    shard: int
    shards: int = 1


@dataclass(frozen=True, slots=True)
class Branch:
    """Conjunctions that lie below a cut of an attribute, above it, or neither."""

    key: str
    cut: Cut
    below: Branch | Leaf
    above: Branch | Leaf
    across: Branch | Leaf


@dataclass(frozen=True, slots=True)
class Splitting:
    """The tree, and its number of shards."""

    tree: Branch | Leaf
    shards: int

    def leaf(self, conjunction: Conjunction) -> Leaf:
        """The leaf of a conjunction."""
        sides = dict(conjunction.constraints)
        tree = self.tree
        while isinstance(tree, Branch):
            constraint = sides.get(tree.key)
            if constraint is None:
                tree = tree.across
            elif constraint[-1] <= tree.cut:
                tree = tree.below
            else:
                tree = tree.above if constraint[0] >= tree.cut else tree.across
        return tree

    def shard(self, conjunction: Conjunction, subscription: str) -> int:
        """The shard of a subscription whose first conjunction is given."""
        leaf = self.leaf(conjunction)
        if leaf.shards == 1:
            return leaf.shard
        return leaf.shard + crc32(subscription.encode("utf-8", "surrogatepass")) % leaf.shards


def grow_splitting(sample: Sequence[Conjunction], shards: int, leaves: int) -> Splitting:
    """Grow a tree for subscriptions like those of a sample.

    Parameters
    ----------
    sample : the first conjunction of each
    shards : how many there should be, about
    leaves : of a shard, about
    """
    grown = _grow([dict(each.constraints) for each in sample], shards * leaves, 0)
    packing = _Packing(share=max(1, len(sample)) / shards)
    tree = packing.pack(grown)
    return Splitting(tree, packing.shard + 1)


# --- growing -----------------------------------------------------------------------------------------------------------

_Grown: TypeAlias = "tuple[str, Cut, _Grown, _Grown, _Grown] | int"  # a leaf is the number of its members


def _grow(members: list[Sides], leaves: int, depth: int) -> _Grown:
    if leaves < 2 or len(members) < _FEWEST or depth == _DEEPEST:
        return len(members)
    found = _best(members)
    if found is None:
        return len(members)
    key, cut = found
    parts: tuple[list[Sides], ...] = ([], [], [])
    below, above, across = parts
    for each in members:
        constraint = each.get(key)
        if constraint is None:
            across.append(each)
        elif constraint[-1] <= cut:
            below.append(each)
        else:
            (above if constraint[0] >= cut else across).append(each)
    first, second, third = (
        _grow(each, round(leaves * len(each) / len(members)), depth + 1) for each in parts
    )
    return (key, cut, first, second, third)


def _best(members: list[Sides]) -> tuple[str, Cut] | None:
    """Find the attribute and the cut by which an event visits least; None if that is nearly all."""
    often = Counter(key for each in members for key in each)
    best, found = _GAIN, None
    for key, _ in often.most_common(_ATTRIBUTES):
        lows = sorted(each[key][0] for each in members if key in each)
        highs = sorted(each[key][-1] for each in members if key in each)
        ends = sorted(cut for cut in (*lows, *highs) if len(cut) == 3)  # where values are named
        for cut in _candidates(ends):
            below, above = bisect_right(highs, cut), len(lows) - bisect_left(lows, cut)
            # Assume that events lie where subscriptions name values.
            lie_below = bisect_left(ends, cut) / len(ends)
            across = len(members) - below - above
            visited = (across + below * lie_below + above * (1 - lie_below)) / len(members)
            if visited < best:
                best, found = visited, (key, cut)
    return found


def _candidates(cuts: list[Cut]) -> set[Cut]:
    return {cuts[index * len(cuts) // _CUTS] for index in range(_CUTS)} if cuts else set()


# --- packing -----------------------------------------------------------------------------------------------------------


class _Packing:
    """Packs leaves, in order, into shards of about the same number of members."""

    def __init__(self, share: float) -> None:
        self._share, self._held, self._number = share, 0.0, count()
        self.shard = 0

    def pack(self, grown: _Grown) -> Branch | Leaf:
        if isinstance(grown, tuple):
            key, cut, *parts = grown
            below, above, across = (self.pack(each) for each in parts)
            return Branch(key, cut, below, above, across)
        shares = grown / self._share
        if self._held and self._held + shares > _FULL:
            self.shard, self._held = self.shard + 1, 0.0
        number, shard = next(self._number), self.shard
        if shares >= 2 * _FULL:
            shards = round(shares)
            self.shard, self._held = shard + shards - 1, 1.0
            return Leaf(number, shard, shards)
        self._held += shares
        return Leaf(number, shard)


# --- summaries -------------------------------------------------------------------------------------------------------

_OWN = 8  # the most boxes for conjunctions in the leaves of the shard
_STRAY = 4  # the most boxes for other conjunctions of its subscriptions


class Summary:
    """The summary of a shard: a hull around each leaf, or around a few similar ones, of `most` intervals a side."""

    def __init__(self, shard: int, splitting: Splitting, schema: Schema | None, most: int) -> None:
        self._shard, self._splitting, self._schema, self._most = shard, splitting, schema, most
        self._of_leaf: dict[int, Hull] = {}
        self._own: list[Hull] = []
        self._stray: list[Hull] = []

    def add(self, filter: Filter) -> None:
        """Widen the summary so that it covers a filter."""
        for conjunction in filter.outer_conjunctions:
            leaf = self._splitting.leaf(conjunction)
            hull = self._of_leaf.get(leaf.number)
            if hull is None:
                is_own = leaf.shard <= self._shard < leaf.shard + leaf.shards
                hulls, most = (self._own, _OWN) if is_own else (self._stray, _STRAY)
                hull = self._of_leaf[leaf.number] = self._choose_hull(conjunction, hulls, most)
            hull.add(conjunction)

    def _choose_hull(self, conjunction: Conjunction, hulls: list[Hull], most: int) -> Hull:
        """A new hull while there are fewer than `most`, else the one that grows least."""
        if len(hulls) < most:
            hulls.append(Hull(conjunction, self._most))
            return hulls[-1]
        return min(hulls, key=lambda hull: (hull.count_lost(conjunction), len(hull)))

    def boxes(self) -> list[str]:
        """The summary as texts, one a box; `filter_of` turns them into a filter again."""
        hulls = (hull.conjunction(self._schema) for hull in (*self._own, *self._stray))
        return [str(Filter((_limit_sides(each),), self._schema, ())) for each in hulls]


def filter_of(boxes: Iterable[str], schema: Schema | None) -> Filter:
    """The filter of a summary. Its boxes are not merged: one long union costs more than several short ones."""
    return Filter(tuple(each for box in boxes for each in parse(box, schema).conjunctions), schema, ())


def _limit_sides(hull: Conjunction) -> Conjunction:
    """Coarsen a hull until an index decides it alone: it then has no more intervals than a box may have."""
    constraints = dict(hull.constraints)
    while sum(len(each) // 2 for each in constraints.values()) > MOST_SIDES:
        longest = max(constraints, key=lambda key: len(constraints[key]))
        if len(constraints[longest]) == 2:
            break
        constraints[longest] = coarsen(constraints[longest], len(constraints[longest]) // 4)
    return Conjunction(tuple(constraints.items()))
