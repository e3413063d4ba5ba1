"""Which filters are kept as rules, and which as boxes."""

from __future__ import annotations

from thatch.model.filters import Filter
from thatch.model.lines import intervals, is_single
from thatch.model.trees import AllOf, AnyOf, Tree, ValueTest

__all__ = ["is_rule"]

_MOST_BOXES = 16  # alternatives that are searched as boxes if each has a value that tells it from others


def is_rule(filter: Filter) -> bool:
    """Whether a filter is found quicker by the literals of its tree than as boxes.

    It is if it has many alternatives, or if what makes it rare is text of some form.
    """
    if filter.is_plain:
        return False
    tree = filter.tree
    if filter.alternatives > _MOST_BOXES:
        return True
    return _has_patterns(tree) and not _has_value(tree)


def _has_patterns(tree: Tree) -> bool:
    if isinstance(tree, (AllOf, AnyOf)):
        return any(map(_has_patterns, tree.children))
    return isinstance(tree, ValueTest) and bool(tree.patterns)


def _has_value(tree: Tree) -> bool:
    """Whether some attribute must have one of a few values, or lie in one range, in every alternative."""
    if isinstance(tree, AllOf):
        return any(map(_has_value, tree.children))
    if isinstance(tree, AnyOf):
        return all(map(_has_value, tree.children))
    if not isinstance(tree, ValueTest) or tree.patterns or tree.negated:
        return False
    return all(is_single(low, high) for low, high in intervals(tree.constraint))
