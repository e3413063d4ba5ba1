"""A factored tree multiplied out to conjunctions, within limits; children, which are sets, in a fixed order."""

from __future__ import annotations

from typing import Any

from thatch.model.conditions import Draft, Normalisation, checked_parts, like_parts
from thatch.model.conjunctions import Conjunction
from thatch.model.lines import COMPARABLE, MISSING, NUMBERS, PRESENT, TEXTS, covers, intersect
from thatch.model.normalise import all_parts, any_parts, conjunctions_of
from thatch.model.regexes import in_order
from thatch.model.residuals import FormulaCheck, PairCheck
from thatch.model.schema import Schema
from thatch.model.trees import AllOf, AnyOf, Tree, ValueTest

__all__ = ["multiplied_out"]


def multiplied_out(tree: Tree, schema: Schema | None) -> tuple[Conjunction, ...]:
    """The conjunctions of a tree: equal trees give the same.

    Raises
    ------
    NeverMatchesError
        If no event can ever match.
    FilterTooLargeError
        If there are too many.
    """
    work = Normalisation(schema, looks_for_covered=False)
    return tuple(conjunctions_of(_parts_of(tree, work), work))


def _parts_of(tree: Tree, work: Normalisation) -> list[Draft]:
    if type(tree) is ValueTest:
        return _exclusion_parts(tree, work) if tree.negated else _test_parts(tree, work)
    if isinstance(tree, (AllOf, AnyOf)):
        children = sorted(tree.children, key=_order)
        combine = all_parts if type(tree) is AllOf else any_parts
        return combine((_parts_of(child, work) for child in children), work)
    if isinstance(tree, PairCheck):
        return checked_parts(tree, COMPARABLE, work)
    if isinstance(tree, FormulaCheck):
        return checked_parts(tree, NUMBERS, work)
    return [Draft({}, frozenset({tree}))]  # type: ignore[arg-type]  # all other kinds are checks


def _order(tree: Tree) -> tuple[Any, ...]:
    """Where a tree stands among the children of another: equal for equal trees alone."""
    if type(tree) is ValueTest:
        patterns = [(type(each).__name__, each.text) for each in in_order(tree.patterns)]
        return 0, tree.key, tree.constraint, patterns, tree.negated
    if isinstance(tree, (AllOf, AnyOf)):
        return 2, type(tree) is AllOf, sorted(map(_order, tree.children))
    return 1, repr(tree)


def _test_parts(test: ValueTest, work: Normalisation) -> list[Draft]:
    """Values, and text of some forms."""
    plain = [Draft({test.key: test.constraint})] if test.constraint else []
    forms = (like_parts(test.key, each, work, TEXTS) for each in in_order(test.patterns))
    return any_parts((plain, *forms), work)


def _exclusion_parts(test: ValueTest, work: Normalisation) -> list[Draft]:
    """What is missing, and present values that are not text of some forms."""
    own = intersect(test.constraint, PRESENT)
    within = TEXTS if covers(TEXTS, own) else PRESENT
    forms = (like_parts(test.key, each, work, within, negated=True) for each in in_order(test.patterns))
    parts = all_parts(([Draft({test.key: own})], *forms), work) if own else []
    return [Draft({test.key: MISSING}), *parts] if intersect(test.constraint, MISSING) else parts
