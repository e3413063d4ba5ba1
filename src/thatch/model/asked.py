"""Trees that must hold, or must not: what they ask for, and whether they hold on an event that is being put together."""

from __future__ import annotations

from collections.abc import Iterator

from thatch.model.lines import Cut
from thatch.model.names import base_of
from thatch.model.placed_checks import spot
from thatch.model.trees import AllOf, AnyOf, Tree, ValueTest

__all__ = ["Asked", "fixed_order", "is_met", "parts_of"]

Asked = tuple[Tree, bool]  # a tree that must hold, or with True must not


def parts_of(asked: Asked) -> Iterator[Asked]:
    """What must hold for a tree to hold, as far as it is joined by `and`."""
    tree, is_negated = asked
    if isinstance(tree, (AllOf, AnyOf)):
        if isinstance(tree, AllOf) != is_negated:
            for child in tree.children:
                yield (child, is_negated)
    else:
        yield asked


def is_met(asked: Asked, places: dict[str, Cut], unknown: set[str]) -> bool:
    """Whether something is known to hold on the event with these places."""
    tree, is_negated = asked
    if isinstance(tree, (AllOf, AnyOf)):
        children = ((child, is_negated) for child in tree.children)
        if isinstance(tree, AllOf) != is_negated:
            return all(is_met(child, places, unknown) for child in children)
        return any(is_met(child, places, unknown) for child in children)
    bases = [base_of(key) for key in tree.keys]
    if not unknown.isdisjoint(bases):
        return False
    return tree.holds([spot(key, places) for key in tree.keys]) != is_negated


def fixed_order(tree: Tree) -> tuple[object, ...]:
    """A fixed order of children, the simple ones first, so that every run finds the same."""
    if isinstance(tree, (AllOf, AnyOf)):
        return (1, len(tree.children), min(map(fixed_order, tree.children), default=()))
    if isinstance(tree, ValueTest):
        return (
            0,
            len(tree.patterns),
            tree.key,
            repr(tree.constraint),
            min((str(each.text) for each in tree.patterns), default=""),
        )
    return (0, 0, *tree.keys, repr(tree))
