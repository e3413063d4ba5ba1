"""Which filters are kept as rules, and which as boxes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from thatch.matching.segments.rules.lists import has_long_list
from thatch.matching.segments.rules.literals import READ_FORMS
from thatch.model.conjunctions import Conjunction
from thatch.model.filters import Filter
from thatch.model.lines import Constraint, complement, intervals, is_single
from thatch.model.names import split
from thatch.model.residuals import AnywhereCheck, Residual, WildcardCheck
from thatch.model.trees import AllOf, AnyOf, Leaf, Tree, ValueTest, leaves_of

__all__ = ["is_rule", "rules_among"]

_LONG = 2_000  # cuts of a constraint
_FEW = 8  # times as many other filters, and those that boxes find too are no rules
_MOST_BOXES = 16  # alternatives that are searched as boxes if each has a value that tells it from others


def rules_among(filters: Mapping[int, Filter]) -> set[int]:
    """The keys of filters that are found quicker as rules.

    Where few would be rules and boxes could find all of these, none is: then no event is searched for both.
    """
    rules = {key for key, each in filters.items() if is_rule(each)}
    is_worth_it = _FEW * len(rules) >= len(filters) or any(_is_no_box(filters[key]) for key in rules)
    return rules if is_worth_it else set()


def is_rule(filter: Filter) -> bool:
    """Whether a filter is found quicker by the literals of its tree than as boxes.

    It is if it has many alternatives, if what makes it rare is text of some form, if it compares folded text, which
    rules fold in their kernels, if it is about all texts of an event, which only rules read, or if it lists many values.
    """
    if filter.is_plain and not _wants_rules(filter.conjunctions[0]):
        return False  # the most common answer, without a tree
    tree = filter.tree
    return _is_no_box(filter) or (
        any(map(_has_patterns, leaves_of(tree))) and not _is_sure(tree, _has_values)
    )


def _is_no_box(filter: Filter) -> bool:
    """Whether boxes would take much longer to find a filter, or cannot."""
    return filter.alternatives > _MOST_BOXES or any(
        isinstance(each, AnywhereCheck) or _is_long(each) or _is_folded(each)
        for each in leaves_of(filter.tree)
    )


def _wants_rules(conjunction: Conjunction) -> bool:
    """Whether something in a conjunction may be found better as a rule."""
    for key, constraint in conjunction.constraints:
        if len(constraint) > _LONG or (key[-1] == ")" and _is_open(key, constraint)):
            return True
    return any(map(_says_contains, conjunction.residuals))


def _is_open(key: str, constraint: Constraint) -> bool:
    """Whether folded text may have many forms: then boxes need it as an attribute of its own for each event."""
    return "lower" in split(key)[0] and not all(is_single(*each) for each in intervals(constraint))


def _is_long(leaf: Leaf) -> bool:
    """Whether a test lists so many values that boxes would leave them to be verified."""
    return (
        isinstance(leaf, ValueTest)
        and len(leaf.constraint) > _LONG
        and (has_long_list(leaf.constraint) or has_long_list(complement(leaf.constraint)))
        and split(leaf.key)[0] in READ_FORMS
    )


def _is_sure(tree: Tree, says: Callable[[Leaf], bool]) -> bool:
    """Whether a condition that says so must hold in every alternative."""
    if isinstance(tree, AllOf):
        return any(_is_sure(each, says) for each in tree.children)
    if isinstance(tree, AnyOf):
        return all(_is_sure(each, says) for each in tree.children)
    return says(tree)


def _says_contains(residual: Residual) -> bool:
    return type(residual) is WildcardCheck and not residual.negated


def _has_patterns(leaf: Leaf) -> bool:
    return isinstance(leaf, ValueTest) and bool(leaf.patterns)


def _is_folded(leaf: Leaf) -> bool:
    """Whether a test reads folded text, which is made in Python for boxes and in kernels for rules."""
    return not isinstance(leaf, AnywhereCheck) and any("lower" in split(key)[0] for key in leaf.keys)


def _has_values(leaf: Leaf) -> bool:
    """Whether the attribute must have one of a few values."""
    if not isinstance(leaf, ValueTest) or leaf.patterns or leaf.negated:
        return False
    return all(is_single(low, high) for low, high in intervals(leaf.constraint))
