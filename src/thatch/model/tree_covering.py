"""Whether one factored tree contains another, child by child.

Never wrongly, and in bounded time; but what only all alternatives together contain is missed.
"""

from __future__ import annotations

from thatch.model.lines import TEXTS, covers, intersect
from thatch.model.residuals import AnywhereCheck, PairCheck, implies
from thatch.model.trees import AllOf, AnyOf, Tree, ValueTest

__all__ = ["tree_covers"]

_MAX_STEPS = 100_000


def tree_covers(outer: Tree, inner: Tree) -> bool:
    """Whether every flat event that satisfies `inner` is seen to satisfy `outer`."""
    return _TreeCovering().holds(outer, inner)


class _TreeCovering:
    """One question; counts the pairs of subtrees that it looks at."""

    __slots__ = ("steps",)

    def __init__(self) -> None:
        self.steps = 0

    def holds(self, outer: Tree, inner: Tree) -> bool:
        self.steps += 1
        if self.steps > _MAX_STEPS:
            return False
        if outer == inner:
            return True
        if isinstance(inner, AnyOf):
            return all(self.holds(outer, each) for each in inner.children)
        if isinstance(outer, AllOf):
            return all(self.holds(each, inner) for each in outer.children)
        if isinstance(outer, AnyOf) and any(self.holds(each, inner) for each in outer.children):
            return True
        if isinstance(inner, AllOf):
            return any(self.holds(outer, each) for each in inner.children)
        if isinstance(inner, ValueTest) and isinstance(outer, ValueTest) and inner.key == outer.key:
            return _test_covers(outer, inner)
        if isinstance(inner, (PairCheck, AnywhereCheck)) and isinstance(outer, (PairCheck, AnywhereCheck)):
            return implies(inner, outer)
        return False


def _test_covers(outer: ValueTest, inner: ValueTest) -> bool:
    """The same for tests of one attribute."""
    if outer.negated:
        excludes = inner.negated and outer.patterns <= inner.patterns
        return covers(outer.constraint, inner.hull()) and (excludes or not intersect(inner.hull(), TEXTS))
    return covers(outer.constraint, inner.hull()) or (
        not inner.negated and covers(outer.constraint, inner.constraint) and inner.patterns <= outer.patterns
    )
