"""Factored filters: a tree of tests, each on one attribute, joined by `AllOf` and `AnyOf`.

What a filter says of one attribute is one test, however many values and patterns it lists; alternatives that are about
several attributes are an `AnyOf`. Negation has been pushed to the leaves. A tree holds on a flat event; an event with
lists matches if one of its flat events satisfies the tree.

The conjunctions of a filter are its tree multiplied out. Children are sets: two trees that list them in another order
are equal. `ALWAYS` and `NEVER` are `AllOf` and `AnyOf` without children; neither stands inside another tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from thatch.model.frozen import quick_value
from thatch.model.lines import BOTTOM, COMPARABLE, NUMBERS, TEXTS, Constraint, Cut, contains, intersect, union
from thatch.model.names import base_of
from thatch.model.regexes import Pattern, Regex
from thatch.model.residuals import AnywhereCheck, FormulaCheck, PairCheck, WithinCheck

__all__ = [
    "ALWAYS", "NEVER", "AllOf", "AnyOf", "Leaf", "Tree", "ValueTest", "are_apart", "bases_of", "count_alternatives", "excludes", "has_derived",
    "has_one_pair_each", "hull_of", "is_entangled", "leaves_of",
]  # fmt: skip


@quick_value
class ValueTest:
    """What one attribute must be.

    The value lies in `constraint` or is text of the form of one of the `patterns`; with `negated`, it lies in
    `constraint` and is not text of the form of any of them. `key` is an attribute or a function of one. A pattern that
    says only how a text begins is an interval; one that says how it ends is a pattern, not an interval of `reverse(x)`.
    """

    key: str
    constraint: Constraint
    patterns: frozenset[Pattern] = frozenset()
    negated: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.key,)

    def holds(self, places: Sequence[Cut]) -> bool:
        """Whether a value at this point of the line passes."""
        place = places[0]
        if contains(self.constraint, place) != self.negated:
            return not self.negated
        return (place[0] == 6 and any(pattern.matches(place[1]) for pattern in self.patterns)) != self.negated

    def hull(self) -> Constraint:
        """The values that may pass."""
        return self.constraint if self.negated or not self.patterns else union((self.constraint, TEXTS))


@quick_value
class AllOf:
    """Every child holds."""

    children: frozenset[Tree]


@quick_value
class AnyOf:
    """At least one child holds."""

    children: frozenset[Tree]


Leaf = ValueTest | WithinCheck | PairCheck | FormulaCheck | AnywhereCheck
Tree = Leaf | AllOf | AnyOf

ALWAYS = AllOf(frozenset())
NEVER = AnyOf(frozenset())


def leaves_of(tree: Tree) -> list[Leaf]:
    """All tests of a tree."""
    if not isinstance(tree, (AllOf, AnyOf)):
        return [tree]
    found: list[Leaf] = []
    pending: list[AllOf | AnyOf] = [tree]
    while pending:
        for child in pending.pop().children:
            if isinstance(child, (AllOf, AnyOf)):
                pending.append(child)
            else:
                found.append(child)
    return found


def bases_of(tree: Tree) -> set[str]:
    """The keys of the attributes that a tree is about, without functions of them."""
    return {base_of(key) for leaf in leaves_of(tree) for key in leaf.keys}


def has_derived(tree: Tree) -> bool:
    """Whether a test is about a function of an attribute."""
    return any(key[-1] == ")" for leaf in leaves_of(tree) for key in leaf.keys)


def has_one_pair_each(tree: Tree) -> bool:
    """Whether an attribute takes part in one coordinate pair only."""
    partner: dict[str, tuple[str, ...]] = {}
    pairs = {leaf.keys for leaf in leaves_of(tree) if type(leaf) is WithinCheck}
    return all(partner.setdefault(key, pair) == pair for pair in pairs for key in pair)


def hull_of(tree: Tree) -> dict[str, Constraint]:
    """Where attributes must lie, each on its own, for a tree to hold."""
    if isinstance(tree, ValueTest):
        return {tree.key: tree.hull()}
    if isinstance(tree, PairCheck):
        return dict.fromkeys(tree.keys, COMPARABLE)
    if isinstance(tree, FormulaCheck):
        return dict.fromkeys(tree.keys, NUMBERS)
    if isinstance(tree, AllOf):
        found: dict[str, Constraint] = {}
        for child in tree.children:
            for key, constraint in hull_of(child).items():
                found[key] = intersect(found[key], constraint) if key in found else constraint
        return found
    if not isinstance(tree, AnyOf) or not tree.children:
        return {}
    hulls = [hull_of(child) for child in tree.children]
    keys = set(hulls[0]).intersection(*hulls[1:])
    return {key: union(each[key] for each in hulls) for key in keys}


def count_alternatives(tree: Tree) -> int:
    """At most how many conjunctions a tree is, multiplied out."""
    if isinstance(tree, AllOf):
        return prod(map(count_alternatives, tree.children))
    if isinstance(tree, AnyOf):
        return sum(map(count_alternatives, tree.children))
    if not isinstance(tree, ValueTest) or not tree.patterns:
        return 1
    if tree.negated:
        return 2 if tree.constraint[0] == BOTTOM else 1  # what is missing has no form and is said apart
    # Ends of text are intervals of the reversed text, so that they are one conjunction together.
    ends = sum(not isinstance(each, Regex) and each.is_suffix for each in tree.patterns)
    return len(tree.patterns) - ends + (ends > 0) + (len(tree.constraint) > 0)


def is_entangled(tree: Tree) -> bool:
    """Whether conditions that must hold together are about the same attribute, so that they may exclude each other."""
    return _separate_bases(tree) is None


def _separate_bases(tree: Tree) -> set[str] | None:
    """The keys of the attributes that a tree is about; None if it is entangled."""
    if not isinstance(tree, (AllOf, AnyOf)):
        return set(map(base_of, tree.keys))
    seen: set[str] = set()
    is_all = type(tree) is AllOf
    for child in tree.children:
        if type(child) is ValueTest:
            base = base_of(child.key)
            if is_all and base in seen:
                return None
            seen.add(base)
            continue
        bases = _separate_bases(child)
        if bases is None or (is_all and not seen.isdisjoint(bases)):
            return None
        seen |= bases
    return seen


def are_apart(children: Sequence[Tree]) -> bool:
    """Whether trees are tests of different attributes, and not of functions of them."""
    keys = {each.key for each in children if type(each) is ValueTest and each.key[-1] != ")"}
    return 0 < len(keys) == len(children)


def excludes(tree: Tree, known: dict[str, Constraint]) -> bool:
    """Whether a tree has a condition that cannot hold beside tests with these hulls."""
    for each in tree.children if type(tree) is AllOf else (tree,):
        if type(each) is ValueTest and each.key in known and not intersect(each.hull(), known[each.key]):
            return True
    return False
