"""The predicates of a filter: the conditions that each of its conjunctions demands, one attribute's at a time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from thatch.model.conjunctions import Conjunction
from thatch.model.filters import Filter
from thatch.model.printing import printed_conditions
from thatch.model.schema import Schema

__all__ = ["Predicates", "predicates_of"]

_MOST_PAIRED = 16  # predicates of one conjunction whose pairs are taken: pairs grow with the square

Predicates = list[tuple[str, tuple[str, ...]]]


def predicates_of(filter: Filter) -> Iterator[tuple[Predicates, list[tuple[str, str]]]]:
    """The predicates of each conjunction with their attributes, and pairs of those that stand together.

    A predicate is canonical text. It holds one attribute's constraint, or a check that is no interval, such as a general
    wildcard or a geofence; a pair is ordered by text.
    """
    for conjunction in filter.conjunctions:
        found = _of_conjunction(conjunction, filter.schema)
        texts = sorted(text for text, _ in found)
        yield found, list(combinations(texts[:_MOST_PAIRED], 2))


def _of_conjunction(conjunction: Conjunction, schema: Schema | None) -> Predicates:
    found: dict[str, tuple[str, ...]] = {}
    for condition in printed_conditions(conjunction, schema):
        keys = [key for key, _ in condition.constraints]
        keys += condition.residual.keys if condition.residual is not None else ()
        found[condition.text] = tuple(sorted(set(keys)))
    return list(found.items())
