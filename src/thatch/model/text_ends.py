"""Conditions on the reversed text that say how the text itself ends."""

from __future__ import annotations

from thatch.model.lines import TEXTS, Constraint, difference, intersect, intervals, prefix_interval, union
from thatch.model.trees import Tree, ValueTest
from thatch.model.wildcards import escape_wildcard, wildcard

__all__ = ["ends_of", "is_reversed"]


def ends_of(key: str, constraint: Constraint) -> ValueTest | None:
    """How a text ends, or does not end, if a constraint on the reversed text says just that."""
    if not key.startswith("reverse("):
        return None
    own, others = intersect(constraint, TEXTS), difference(constraint, TEXTS)
    for negated, part in ((False, own), (True, difference(TEXTS, own))):
        starts = [
            low for low, high in intervals(part) if len(low) == 3 and (low, high) == prefix_interval(low[1])
        ]
        if part and 2 * len(starts) == len(part):
            ends = frozenset(wildcard("%" + escape_wildcard(low[1][::-1])) for low in starts)
            return ValueTest(
                key[len("reverse(") : -1], union((others, TEXTS)) if negated else others, ends, negated
            )
    return None


def is_reversed(tree: Tree) -> bool:
    """Whether a test of a reversed text says just how the text ends."""
    return type(tree) is ValueTest and not tree.patterns and ends_of(tree.key, tree.constraint) is not None
