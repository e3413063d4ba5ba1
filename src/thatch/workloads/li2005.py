"""The subscriptions and publications of li2005, section 6.

The paper draws attributes from twenty, in a given order, and values from ranges; set A has about 2,000 distinct
predicates and set B about 5,000. It does not say how many predicates a subscription has, nor which operators. Two
readings:

    template      all predicates but the topmost form a tail, drawn uniformly from a pool
    independent   every predicate is drawn independently

Both can have the paper's covering rates, but only subscriptions with few different tails leave something to merge.
Values are whole numbers, 0 to `values` - 1 for every attribute, and publications have all attributes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from thatch.errors import ParameterError, shown
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.schema import Schema
from thatch.model.types import Integer
from thatch.workloads.columns import Integers, conjunction_texts
from thatch.workloads.sampling import distinct_choices, draws, offsets_of, ragged_choices, zipf_weights
from thatch.workloads.workload import attribute_names

__all__ = [
    "ATTRIBUTES",
    "INDEPENDENT",
    "NAMES",
    "OPERATORS",
    "TEMPLATES",
    "IndependentPredicates",
    "Predicates",
    "Template",
    "draw_publications",
    "draw_subscriptions",
]

ATTRIBUTES = 20
NAMES = attribute_names(ATTRIBUTES)  # from the top of diagrams to their bottom
OPERATORS = ("<", "<=", "=", ">=", ">", "!=")
LESS, AT_MOST, EQUAL, AT_LEAST, GREATER, UNEQUAL = range(len(OPERATORS))

Ints: TypeAlias = npt.NDArray[np.int64]
Shares: TypeAlias = tuple[float, float, float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predicates:
    """Subscriptions as columns.

    Parameters
    ----------
    values : number of values of every attribute
    offsets : subscription s has the predicates from offsets[s] up to offsets[s + 1]
    attribute : of each predicate, ascending inside a subscription
    operator : of each predicate, as an index into `OPERATORS`
    value : with which each predicate compares
    """

    values: int
    offsets: Ints
    attribute: Ints
    operator: Ints
    value: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def schema(self) -> Schema:
        """A schema in which every attribute is an integer."""
        return Schema(dict.fromkeys(NAMES, Integer(0, self.values - 1)))

    @property
    def numbers(self) -> Ints:
        """A number for each predicate; equal predicates have equal numbers."""
        return (self.attribute * len(OPERATORS) + self.operator) * self.values + self.value

    def texts(self) -> list[str]:
        """Every subscription as SQL-style text."""
        columns = (self.attribute.tolist(), self.operator.tolist(), self.value.tolist())
        each = [f"{NAMES[key]} {OPERATORS[by]} {value}" for key, by, value in zip(*columns, strict=True)]
        return conjunction_texts(each, self.offsets)

    def filters(self) -> list[Filter]:
        """Every subscription as a filter with the schema."""
        schema = self.schema
        return [parse(text, schema=schema) for text in self.texts()]

    def take(self, rows: Ints) -> Predicates:
        """Some of the subscriptions, in this order."""
        counts = np.diff(self.offsets)[rows]
        offsets = offsets_of(counts)
        chosen = np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], counts)
        columns = (self.attribute[chosen], self.operator[chosen], self.value[chosen])
        return _predicates(self.values, offsets, *columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """Subscriptions of one predicate on top of a tail.

    Parameters
    ----------
    values : number of values of every attribute
    tails : number of tails in the pool
    tail_size : predicates of a tail, on different attributes of the lower half
    top : share of each of `OPERATORS` on top, on an attribute of the upper half
    tail : share of each of them in tails
    tail_holds : the least share of all values that a comparison in a tail holds
    """

    values: int
    tails: int
    tail_size: int
    top: Shares
    tail: Shares = (0.0, 0.5, 0.0, 0.5, 0.0, 0.0)
    tail_holds: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class IndependentPredicates:
    """Subscriptions with independent predicates.

    Parameters
    ----------
    values : number of values of every attribute
    sizes : fewest and most predicates of a subscription
    operators : share of each of `OPERATORS`
    """

    values: int
    sizes: tuple[int, int]
    operators: Shares


def _mostly(equal: float) -> Shares:
    """Shares with this one for `=`, and the rest split evenly among the comparisons."""
    rest = (1 - equal) / 4
    return (rest, rest, equal, rest, rest, 0.0)


# Fitted to the sizes of figure 12. With tails of `=`, hardly an event reaches the predicate on top, so that no threshold of
# the paper prevents any merger.
TEMPLATES = {
    "A": Template(values=34, tails=3_100, tail_size=3, top=_mostly(0.3)),
    "B": Template(values=84, tails=12_500, tail_size=3, top=_mostly(0.5)),
    "A, tails of =": Template(values=34, tails=2_900, tail_size=2, top=_mostly(0.1), tail=_mostly(1.0)),
    "B, tails of =": Template(values=84, tails=6_500, tail_size=3, top=_mostly(0.45), tail=_mostly(1.0)),
}
INDEPENDENT = {
    "A": IndependentPredicates(values=20, sizes=(3, 5), operators=_mostly(0.3)),
    "B": IndependentPredicates(values=50, sizes=(3, 5), operators=_mostly(0.7)),
}


def draw_subscriptions(
    rng: np.random.Generator, count: int, shape: Template | IndependentPredicates
) -> Predicates:
    """Random subscriptions of a shape.

    Raises
    ------
    ParameterError
        If the count is below 0.
    """
    if count < 0:
        raise ParameterError("a count of at least 0", shown(count), "count")
    return _templates(rng, count, shape) if isinstance(shape, Template) else _independent(rng, count, shape)


def draw_publications(rng: np.random.Generator, count: int, values: int) -> Ints:
    """Random publications: a row for each, a column for each attribute, uniform values."""
    if count < 0 or values < 1:
        raise ParameterError("a count from 0 and values from 1", f"{shown(count)} and {shown(values)}")
    return rng.integers(0, values, (count, ATTRIBUTES))


def _templates(rng: np.random.Generator, count: int, shape: Template) -> Predicates:
    upper, size = ATTRIBUTES // 2, shape.tail_size
    below = distinct_choices(rng, zipf_weights(ATTRIBUTES - upper, 0), shape.tails, size)
    compared = _draw_comparisons(rng, shape.values, shape.tail, (shape.tails, size), shape.tail_holds)
    tails = np.sort(below, axis=1) + upper, *compared
    which = rng.integers(0, shape.tails, count)
    tops = rng.integers(0, upper, (count, 1)), *_draw_comparisons(rng, shape.values, shape.top, (count, 1))
    columns = (np.hstack([top, tail[which]]).ravel() for top, tail in zip(tops, tails, strict=True))
    return _predicates(shape.values, offsets_of(np.full(count, size + 1)), *columns)


def _independent(rng: np.random.Generator, count: int, shape: IndependentPredicates) -> Predicates:
    offsets, attribute = ragged_choices(rng, zipf_weights(ATTRIBUTES, 0), count, shape.sizes)
    order = np.lexsort((attribute, np.repeat(np.arange(count), np.diff(offsets))))
    compared = _draw_comparisons(rng, shape.values, shape.operators, (len(attribute),))
    return _predicates(shape.values, offsets, attribute[order], *compared)


def _draw_comparisons(
    rng: np.random.Generator, values: int, shares: Shares, shape: tuple[int, ...], least: float = 0.0
) -> tuple[Ints, Ints]:
    """Random operators and the values they compare with.

    Parameters
    ----------
    least : the least share of all values that a comparison holds; it holds at least one, and not all
    """
    operator = draws(rng, np.array(shares), int(np.prod(shape))).reshape(shape).astype(np.int64)
    left_out = 1 + rng.integers(0, max(int((values - 1) * (1 - least)), 1), shape)
    compared = [values - left_out, values - left_out - 1, left_out, left_out - 1]
    is_compared = [operator == each for each in (LESS, AT_MOST, AT_LEAST, GREATER)]
    return operator, np.select(is_compared, compared, rng.integers(0, values, shape))


def _predicates(
    values: int, offsets: Integers, attribute: Integers, operator: Ints, value: Ints
) -> Predicates:
    return Predicates(
        values=values,
        offsets=offsets.astype(np.int64),
        attribute=attribute.astype(np.int64),
        operator=operator,
        value=value,
    )
