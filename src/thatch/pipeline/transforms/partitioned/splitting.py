"""Which shard a subscription belongs to: a small tree, grown on a sample.

A branch asks for one attribute whether a conjunction lies wholly below a cut, wholly above it, or neither, as it does
where it does not constrain the attribute. So what lies below and what lies above have no event in common there. A leaf
is a cluster of similar conjunctions; a few neighbouring leaves are a shard, and a leaf that nothing divides is several.

Any assignment is correct, since every shard tells what it really holds: the tree only decides how much is visited.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias
from zlib import crc32

from thatch.model.conjunctions import Conjunction
from thatch.model.lines import Constraint, Cut

__all__ = ["Branch", "Leaf", "Splitting", "split"]

_DEEPEST = 48
_FEWEST = 8  # conjunctions of the sample that are worth dividing
_ATTRIBUTES = 12  # that are looked at for a branch: those that most conjunctions constrain
_CUTS = 32  # of each that are tried
_GAIN = 0.95  # what is visited of a branch, at most, for it to be worth while
_FULL = 1.15  # of its share, that a shard holds at most, where leaves allow it

Sides: TypeAlias = Mapping[str, Constraint]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A cluster of conjunctions: its number, its first shard and how many share it."""

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
    """The tree and how many shards it tells apart."""

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


def split(sample: Sequence[Conjunction], shards: int, leaves: int) -> Splitting:
    """A tree for subscriptions like those of a sample.

    Parameters
    ----------
    sample : the first conjunction of each
    shards : how many there should be, about
    leaves : how many a shard should have, about
    """
    grown = _grown([dict(each.constraints) for each in sample], shards * leaves, 0)
    packing = _Packing(share=max(1, len(sample)) / shards)
    tree = packing.packed(grown)
    return Splitting(tree, packing.shard + 1)


# --- growing -----------------------------------------------------------------------------------------------------------

_Grown: TypeAlias = (
    "tuple[str, Cut, _Grown, _Grown, _Grown] | int"  # at its end the number of members of a leaf
)


def _grown(members: list[Sides], leaves: int, depth: int) -> _Grown:
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
        _grown(each, round(leaves * len(each) / len(members)), depth + 1) for each in parts
    )
    return (key, cut, first, second, third)


def _best(members: list[Sides]) -> tuple[str, Cut] | None:
    """The attribute and the cut by which least is visited, None if that is nearly all."""
    often = Counter(key for each in members for key in each)
    best, found = _GAIN, None
    for key, _ in often.most_common(_ATTRIBUTES):
        lows = sorted(each[key][0] for each in members if key in each)
        highs = sorted(each[key][-1] for each in members if key in each)
        ends = sorted(cut for cut in (*lows, *highs) if len(cut) == 3)  # where values are named
        for cut in _candidates(ends):
            below, above = bisect_right(highs, cut), len(lows) - bisect_left(lows, cut)
            # Events are taken to lie where subscriptions name values.
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
    """Leaves, in order, become shards of about the same share of the members."""

    def __init__(self, share: float) -> None:
        self._share, self._held, self._number = share, 0.0, count()
        self.shard = 0

    def packed(self, grown: _Grown) -> Branch | Leaf:
        if isinstance(grown, tuple):
            key, cut, *parts = grown
            below, above, across = (self.packed(each) for each in parts)
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
