"""Whether factored trees contain each other or meet, decided without multiplying alternatives out.

What is seen child by child is answered at once. Else an event is looked for that shows the contrary (`event_search`).
Within a budget; out of it, covering is not proved and meeting not refuted.
"""

from __future__ import annotations

from thatch.model.event_search import EventSearch
from thatch.model.lines import TEXTS, covers, intersect
from thatch.model.residuals import AnywhereCheck, PairCheck, implies
from thatch.model.schema import Schema
from thatch.model.trees import AllOf, AnyOf, Tree, ValueTest

__all__ = ["tree_covers", "trees_meet"]

_MAX_STEPS = 20_000


def tree_covers(outer: Tree, inner: Tree, schema: Schema | None) -> bool:
    """Whether every flat event that satisfies `inner` is proved to satisfy `outer`."""
    if _ChildByChild().holds(outer, inner):
        return True
    search = EventSearch([inner], schema)
    search.exclude(outer)
    return search.find().is_empty is True


def trees_meet(one: Tree, other: Tree, schema: Schema | None) -> bool:
    """Whether some flat event may satisfy both; False is proved."""
    return EventSearch([one, other], schema).find().is_empty is not True


class _ChildByChild:
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
