"""Whether an advertisement overlaps a subscription, and whether it allows an event.

An advertisement is open unless it is declared closed: its events may carry further attributes, so only the attributes
that it names rule anything out. Events of a closed one carry only the attributes that it names: all others are missing.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import product

from thatch.model.conjunctions import Conjunction
from thatch.model.events import Record
from thatch.model.filters import Filter
from thatch.model.lines import BOTTOM, RANK_NUMBER, Constraint, Cut
from thatch.model.names import base_of
from thatch.model.residuals import Residual
from thatch.model.trees import AllOf, AnyOf, Leaf, Tree

__all__ = ["allows", "few_conjunctions", "is_box", "names_of", "needed_names", "overlaps"]

_MOST_ASKED = 16  # alternatives that are asked for one by one
_MAX_TIED = 10_000  # combinations of list values of several attributes that one check may look at


def names_of(filter: Filter) -> frozenset[str]:
    """The attributes that a filter names, also those that its normal form does not need."""
    return filter.also_named | filter.attributes()


def few_conjunctions(filter: Filter) -> tuple[Conjunction, ...]:
    """The conjunctions of a filter or, if there are many, one that holds wherever it does."""
    found = filter.outer_conjunctions
    return found if len(found) <= _MOST_ASKED else (filter.hull(),)


def is_box(filter: Filter, *, intervals: int) -> bool:
    """Whether a filter is one box and nothing else, with at most so many intervals of each attribute."""
    if filter.schema is not None or not filter.has_conjunctions or len(filter.conjunctions) != 1:
        return False
    (only,) = filter.conjunctions
    return not only.residuals and all(
        key[-1] != ")" and len(cuts) <= 2 * intervals and all(map(_is_double, cuts))
        for key, cuts in only.constraints
    )


def _is_double(cut: Cut) -> bool:
    return len(cut) < 3 or cut[0] != RANK_NUMBER or float(cut[1]) == cut[1]


def needed_names(conjunction: Conjunction) -> frozenset[str]:
    """The attributes that a flat event must give to satisfy a conjunction."""
    return frozenset(
        base_of(key) for key, constraint in conjunction.constraints if not _holds(constraint, BOTTOM)
    )


def overlaps(advertised: Filter, wanted: Filter, *, closed: bool = False) -> bool:
    """Whether some advertised flat event may be wanted. False is a proof that none is."""
    if closed:
        names = names_of(advertised)
        possible = tuple(each for each in wanted.outer_conjunctions if needed_names(each) <= names)
        if not possible:
            return False
        if len(possible) < len(wanted.outer_conjunctions):
            wanted = Filter(possible, wanted.schema, ())
    return advertised.intersects(wanted)


def allows(advertised: Filter, record: Record, *, closed: bool = False) -> bool:
    """Whether one alternative contains every flat event of an event; linear in the elements of its lists.

    It must contain all of them: one that was not advertised might match a subscription that was not sent this way.
    """
    if closed and not _given_by(record) <= names_of(advertised):
        return False
    if not advertised.has_conjunctions:
        return _tree_contains(advertised.tree, record)
    return any(_contains(each, record) for each in advertised.conjunctions)


def _given_by(record: Record) -> set[str]:
    """The attributes that some flat event of an event gives, without those that were derived from them."""
    return {key for key in record.keys() if key[-1] != ")"}  # noqa: SIM118 - of a record


def _tree_contains(tree: Tree, record: Record) -> bool:
    """Whether every flat event satisfies the same alternative wherever a tree has some."""
    if isinstance(tree, AllOf):
        return all(_tree_contains(each, record) for each in tree.children)
    if isinstance(tree, AnyOf):
        return any(_tree_contains(each, record) for each in tree.children)
    return _passes(tree, record)


def _contains(conjunction: Conjunction, record: Record) -> bool:
    return all(
        all(_holds(constraint, cut) for cut in _cuts(record, key))
        for key, constraint in conjunction.constraints
    ) and all(_passes(residual, record) for residual in conjunction.residuals)


def _passes(residual: Residual | Leaf, record: Record) -> bool:
    """Whether a check holds for all combinations of values of its attributes."""
    cuts = [_cuts(record, key) for key in residual.keys]
    count = 1
    for each in cuts:
        count *= len(each)
    return count <= _MAX_TIED and all(residual.holds(chosen) for chosen in product(*cuts))


def _cuts(record: Record, key: str) -> list[Cut]:
    """The cuts of the flat events of an event on an attribute's line."""
    base = base_of(key)
    for choice in record.choices:
        if base in choice.keys:
            return [cut for element in choice.elements for cut in _cuts(element, key)]
    return [record.point(key)]


def _holds(constraint: Constraint, cut: Cut) -> bool:
    return bool(bisect_right(constraint, cut) & 1)
