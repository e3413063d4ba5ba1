"""Whether a factored tree holds on an event, lists included, without multiplying alternatives or lists out.

Whatever does not depend on a list is decided first. Of what is left, parts that share no list are decided each on their
own; only parts that share one are looked at together, alternative by alternative, up to a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from thatch.errors import EventError
from thatch.model.events import Record
from thatch.model.matching import holds_on_lists
from thatch.model.names import base_of
from thatch.model.trees import ALWAYS, NEVER, AllOf, AnyOf, Leaf, Tree, bases_of

__all__ = ["Plan", "holds_on_plan", "holds_on_tree", "plan_of"]

_MAX_STEPS = 100_000


def holds_on_tree(tree: Tree, record: Record) -> bool:
    """Whether some flat event of the record satisfies the tree."""
    if not record.choices:
        return _holds_flat(tree, record)
    listed = frozenset().union(*(choice.keys for choice in record.choices))
    return _OnLists(record).holds(_reduced(tree, record, listed))


def _holds_flat(tree: Tree, record: Record) -> bool:
    if type(tree) is AllOf:
        return all(_holds_flat(child, record) for child in tree.children)
    if type(tree) is AnyOf:
        return any(_holds_flat(child, record) for child in tree.children)
    return tree.holds([record.point(key) for key in tree.keys])  # type: ignore[union-attr]  # a leaf


Plan = Leaf | tuple[bool, tuple["Plan", ...]]  # a test, or whether all children must hold, and they in order


def plan_of(tree: Tree, turn: Callable[[Leaf], int]) -> Plan:
    """A tree whose children are asked in the order of their tests' least turns."""

    def made(tree: Tree) -> tuple[int, Plan]:
        if not isinstance(tree, (AllOf, AnyOf)):
            return turn(tree), tree
        parts = sorted(map(made, tree.children), key=lambda each: each[0])
        return parts[0][0] if parts else 0, (type(tree) is AllOf, tuple(part for _, part in parts))

    return made(tree)[1]


def holds_on_plan(plan: Plan, record: Record) -> bool:
    """Whether a flat event satisfies the tree of a plan."""
    if type(plan) is tuple:
        is_all, parts = plan
        for part in parts:
            if holds_on_plan(part, record) != is_all:
                return not is_all
        return is_all
    return plan.holds([record.point(key) for key in plan.keys])  # type: ignore[union-attr]  # a leaf


def _reduced(tree: Tree, record: Record, listed: frozenset[str]) -> Tree:
    """What is left of a tree where everything is decided that no list has a say in."""
    if type(tree) is AllOf:
        return _join_all(_reduced(child, record, listed) for child in tree.children)
    if type(tree) is AnyOf:
        return _join_any(_reduced(child, record, listed) for child in tree.children)
    if any(base_of(key) in listed for key in tree.keys):  # type: ignore[union-attr]  # a leaf
        return tree
    return ALWAYS if _holds_flat(tree, record) else NEVER


def _join_all(children: Iterable[Tree]) -> Tree:
    found: set[Tree] = set()
    for child in children:
        if child == NEVER:
            return NEVER
        found.update(child.children if type(child) is AllOf else (child,))
    return found.pop() if len(found) == 1 else AllOf(frozenset(found))


def _join_any(children: Iterable[Tree]) -> Tree:
    found: set[Tree] = set()
    for child in children:
        if child == ALWAYS:
            return ALWAYS
        found.update(child.children if type(child) is AnyOf else (child,))
    return found.pop() if len(found) == 1 else AnyOf(frozenset(found))


class _OnLists:
    """One event with lists; counts the steps of deciding about it."""

    __slots__ = ("record", "steps")

    def __init__(self, record: Record) -> None:
        self.record = record
        self.steps = 0

    def holds(self, tree: Tree) -> bool:
        """Whether some way to choose from the lists satisfies a tree all of whose leaves depend on lists."""
        self.steps += 1
        if self.steps > _MAX_STEPS:
            lists = " and ".join(each.where for each in self.record.choices[:5])
            raise EventError(
                f"lists on which a filter is decided in at most {_MAX_STEPS:,} steps", "more", lists
            )
        if type(tree) is AnyOf:
            return any(self.holds(child) for child in tree.children)
        if type(tree) is not AllOf:
            return holds_on_lists((), (tree,), self.record)  # type: ignore[arg-type]  # a leaf is a check
        return all(self._hold_together(part) for part in self._parts(tree.children))

    def _hold_together(self, part: Sequence[Tree]) -> bool:
        """Whether one choice satisfies several conditions that share a list."""
        groups = [each for each in part if type(each) is AnyOf]
        if not groups:
            return holds_on_lists((), part, self.record)  # type: ignore[arg-type]  # leaves are checks
        group = min(groups, key=lambda each: len(each.children))
        rest = [each for each in part if each is not group]
        return any(self.holds(_join_all([child, *rest])) for child in group.children)

    def _parts(self, children: Iterable[Tree]) -> list[list[Tree]]:
        """Conditions in parts, no two of which share a list."""
        parts: list[tuple[set[int], list[Tree]]] = []
        for child in children:
            bases = bases_of(child)
            lists = {at for at, choice in enumerate(self.record.choices) if not choice.keys.isdisjoint(bases)}
            own = [child]
            for part in [each for each in parts if not each[0].isdisjoint(lists)]:
                parts.remove(part)
                lists |= part[0]
                own += part[1]
            parts.append((lists, own))
        return [own for _, own in parts]
