"""Filters: what a subscriber asks for, in normal form, and what can be asked about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from thatch.errors import FilterTooLargeError, SchemaError, shown
from thatch.model.conditions import Remark
from thatch.model.conjunctions import Box, Conjunction, boxes_of
from thatch.model.covering import covers, intersects
from thatch.model.events import Record, read_event
from thatch.model.explanation import Explanation, explain, explain_tree
from thatch.model.expressions import Expression, bases_written
from thatch.model.factoring import factor, tree_of
from thatch.model.matching import holds
from thatch.model.multiplying import multiplied_out
from thatch.model.normalise import MAX_CONJUNCTIONS, NormalForm, normalise, plain_conjunction
from thatch.model.pattern_printing import pattern_of
from thatch.model.printing import filter_text
from thatch.model.satisfiability import may_hold
from thatch.model.schema import Schema
from thatch.model.tree_covering import tree_covers, trees_meet
from thatch.model.tree_matching import holds_on_tree
from thatch.model.tree_printing import tree_text
from thatch.model.trees import (
    NEVER,
    Tree,
    ValueTest,
    bases_of,
    count_alternatives,
    has_derived,
    has_one_pair_each,
    hull_of,
    is_entangled,
    leaves_of,
)

__all__ = ["Filter"]

_MOST_MULTIPLIED = 4 * MAX_CONJUNCTIONS  # alternatives before what lies in others is left out
_MOST_ALTERNATIVES = 64  # multiplied out, of a filter that is printed by its conjunctions


class Filter:
    """A Boolean condition over an event's attributes.

    Made by `thatch.parse`. It has two forms: a `tree` of tests, which grows with what was written, and `conjunctions`,
    which are what was written multiplied out when somebody asks. Two filters are equal when their conjunctions and
    schemas are, or, if their trees have more alternatives than people write one by one, their trees and schemas. `str`
    gives canonical text that parses back to an equal filter.

    `also_named` has for example `y` in `x = 1 or x = 1 and y = 2`; two filters may be equal and differ in it.

    Examples
    --------
    >>> import thatch
    >>> cheap = thatch.parse("price < 150 and symbol = 'IBM'")
    >>> cheap.matches({"symbol": "IBM", "price": 120})
    True
    >>> cheap.covers(thatch.parse("price < 100 and symbol = 'IBM'"))
    True
    """

    __slots__ = ("_count", "_expression", "_form", "_has_checks", "_hash", "_is_factored", "_tree", "schema")

    schema: Schema | None

    def __init__(
        self,
        conjunctions: tuple[Conjunction, ...],
        schema: Schema | None,
        remarks: tuple[Remark, ...] = (),
        also_named: frozenset[str] = frozenset(),
    ) -> None:
        self.schema = schema
        self._form: NormalForm | FilterTooLargeError | None = NormalForm(conjunctions, remarks, also_named)
        self._tree: Tree | None = None
        self._expression: Expression | None = None
        self._hash: int | None = None
        self._count: int | None = None
        self._has_checks: bool | None = None
        self._is_factored: bool | None = None

    @classmethod
    def of(cls, expression: Expression, schema: Schema | None = None) -> Filter:
        """The filter of an expression."""
        plain = plain_conjunction(expression) if schema is None else None
        if plain is not None:
            return cls((plain,), None)
        tree = factor(expression, schema)
        if not has_one_pair_each(tree):
            normalise(expression, schema)  # refuses an attribute in two pairs of one alternative
        is_open = is_entangled(tree) or (schema is not None and has_derived(tree))
        if tree == NEVER or (is_open and not may_hold(expression, schema)):
            normalise(expression, schema)  # says why
        made = cls((), schema)
        made._form, made._tree, made._expression = None, tree, expression
        return made

    # --- its two forms ---------------------------------------------------------------------------------------------

    @property
    def tree(self) -> Tree:
        """The filter as tests of single attributes joined by `AllOf` and `AnyOf`."""
        if self._tree is None:
            self._tree = tree_of(self.conjunctions, self.schema)
        return self._tree

    @property
    def alternatives(self) -> int:
        """How many conjunctions it may have, without making them; its tree may say one where there are a few."""
        if self._expression is None:
            return len(self.conjunctions)
        if self._count is None:
            self._count = count_alternatives(self.tree)
        return self._count

    @property
    def is_plain(self) -> bool:
        """Whether it was given as conjunctions, as most filters are: there is no tree to keep."""
        return self._expression is None

    @property
    def is_factored(self) -> bool:
        """Whether it has so many alternatives, multiplied out, that it is printed and compared as its tree.

        The tree says so, not how it was written, for the printed tree is read as the same tree. Few conjunctions that
        are printed and read again are a tree with few alternatives, so they stay few.
        """
        if self._is_factored is None:
            self._is_factored = self._expression is not None and (
                self.alternatives > 2 * _MOST_ALTERNATIVES
                or not self.has_conjunctions
                or (self.alternatives > _MOST_ALTERNATIVES and _is_large(self.tree, self.schema))
            )
        return self._is_factored

    @property
    def conjunctions(self) -> tuple[Conjunction, ...]:
        """The alternatives, multiplied out.

        Raises
        ------
        FilterTooLargeError
            If there are too many of them.
        """
        return self._normal().conjunctions

    @property
    def outer_conjunctions(self) -> tuple[Conjunction, ...]:
        """The conjunctions or, if there are too many, one that holds wherever the filter does."""
        if self.has_conjunctions:
            return self.conjunctions
        return (self.hull(),)

    def hull(self) -> Conjunction:
        """Where each attribute must lie on its own: a conjunction that holds wherever the filter does."""
        return Conjunction(tuple(sorted(hull_of(self.tree).items())))

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What its writer may want to know; nothing of a filter that is too large to be multiplied out."""
        return self._normal().remarks if self.has_conjunctions else ()

    @property
    def also_named(self) -> frozenset[str]:
        """Attributes that were written and that the normal form does not need."""
        if self.has_conjunctions:
            return self._normal().also_named
        return bases_written(self._expression) - bases_of(self.tree)  # type: ignore[arg-type]  # it came from one

    @property
    def has_conjunctions(self) -> bool:
        """Whether it can be multiplied out."""
        try:
            self._normal()
        except FilterTooLargeError:
            return False
        return True

    def has_more_than(self, alternatives: int) -> bool:
        """Whether it is more conjunctions than that, or cannot be multiplied out at all."""
        return self._expression is not None and (
            self.alternatives > alternatives or not self.has_conjunctions
        )

    @property
    def has_checks(self) -> bool:
        """Whether it has conditions that are not intervals, such as patterns and shapes."""
        if self._expression is None:
            return any(each.residuals for each in self.conjunctions)
        if self._has_checks is None:
            leaves = leaves_of(self.tree)
            self._has_checks = any(not isinstance(leaf, ValueTest) or bool(leaf.patterns) for leaf in leaves)
        return self._has_checks

    def attributes(self) -> set[str]:
        """The keys of the attributes that it is about, without functions of them."""
        if self._expression is None:
            return {key for each in self.conjunctions for key in each.attributes()}
        return bases_of(self.tree)

    def _normal(self) -> NormalForm:
        if self._form is None:
            try:
                self._form = self._multiply_out()
            except FilterTooLargeError as error:
                self._form = error
        if isinstance(self._form, FilterTooLargeError):
            raise self._form.with_traceback(None)
        return self._form

    def _multiply_out(self) -> NormalForm:
        """What was written, multiplied out; of a tree with few alternatives, the tree where what was written has many."""
        assert self._expression is not None, "a filter without a form has one"
        if self.alternatives > _MOST_MULTIPLIED:
            raise FilterTooLargeError("alternatives after normalisation", self.alternatives, MAX_CONJUNCTIONS)
        remarks: tuple[Remark, ...] = ()
        try:
            form = normalise(self._expression, self.schema)
        except FilterTooLargeError:
            if self.alternatives > 2 * _MOST_ALTERNATIVES:
                raise
        else:
            remarks = form.remarks
            if len(form.conjunctions) <= _MOST_ALTERNATIVES or self.alternatives > 2 * _MOST_ALTERNATIVES:
                return form
        found = multiplied_out(self.tree, self.schema)
        needed = {key for each in found for key in each.attributes()}
        return NormalForm(found, remarks, bases_written(self._expression) - needed)

    # --- asking ----------------------------------------------------------------------------------------------------

    def matches(self, event: Mapping[str, Any]) -> bool:
        """Whether an event, or for an event with lists one of its flat events, satisfies the filter."""
        return self.holds(read_event(event, self.schema))

    def holds(self, record: Record) -> bool:
        """The same for an event that was read."""
        if self._expression is not None:
            return holds_on_tree(self.tree, record)
        return any(holds(conjunction, record) for conjunction in self.conjunctions)

    def explain(self, event: Mapping[str, Any]) -> Explanation:
        """Which conditions hold on an event and which do not, with the values seen; print it."""
        record = read_event(event, self.schema)
        if self.is_factored:
            return explain_tree(self.tree, self.schema, record)
        return explain(self.conjunctions, self.schema, record)

    def boxes(self) -> Iterator[Box]:
        """The filter as boxes with one interval per attribute, made one by one as they are asked for."""
        for conjunction in self.conjunctions:
            yield from boxes_of(conjunction)

    def box_count(self) -> int:
        """How many boxes `boxes` gives, without making them; at most that many if there are too many to count."""
        if not self.has_conjunctions:
            return max(self.alternatives, MAX_CONJUNCTIONS)
        return sum(conjunction.box_count() for conjunction in self.conjunctions)

    def covers(self, other: Filter) -> bool:
        """Whether every event that matches `other` is proved to match this filter. False = not proved."""
        self._check_schema(other)
        is_large = self.is_factored or other.is_factored
        if is_large and tree_covers(self.tree, other.tree, self.schema):
            return True
        if self.has_conjunctions and covers(self.conjunctions, other.outer_conjunctions, self.schema):
            return True
        has_checks = self.has_checks or other.has_checks
        return has_checks and not is_large and tree_covers(self.tree, other.tree, self.schema)

    def intersects(self, other: Filter) -> bool:
        """Whether some flat event may match both filters. False = proved that none does."""
        self._check_schema(other)
        if not intersects(self.outer_conjunctions, other.outer_conjunctions, self.schema):
            return False
        is_open = any(each.has_checks or not each.has_conjunctions for each in (self, other))
        return not is_open or trees_meet(self.tree, other.tree, self.schema)

    def to_pattern(self) -> dict[str, Any]:
        """The JSON pattern that parses to an equal filter.

        Raises
        ------
        PatternError
            If the pattern language cannot express it; the message names the condition.

        Examples
        --------
        >>> import thatch
        >>> thatch.parse("price < 150 and symbol = 'IBM'").to_pattern()
        {'price': [{'numeric': ['<', 150]}], 'symbol': ['IBM']}
        """
        return pattern_of(self.conjunctions, self.schema)

    def _check_schema(self, other: object) -> None:
        if not isinstance(other, Filter):
            raise TypeError(f"Expected a thatch.Filter, got {shown(other)}")
        if self.schema != other.schema:
            raise SchemaError(
                "two filters with the same schema", f"{shown(self.schema)} and {shown(other.schema)}"
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Filter):
            return NotImplemented
        return self is other or (self.schema == other.schema and self._identity == other._identity)

    @property
    def _identity(self) -> Tree | tuple[Conjunction, ...]:
        """What equal filters have in common."""
        return self.tree if self.is_factored else self.conjunctions

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self._identity, self.schema))
        return self._hash

    def __str__(self) -> str:
        if self.is_factored:
            return tree_text(self.tree, self.schema)
        return filter_text(self.conjunctions, self.schema)

    def __repr__(self) -> str:
        schema = f", schema={self.schema!r}" if self.schema is not None else ""
        return f"thatch.parse({str(self)!r}{schema})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._expression is not None:
            return (Filter.of, (self._expression, self.schema))
        return (Filter, (self.conjunctions, self.schema, self.remarks, self.also_named))


def _is_large(tree: Tree, schema: Schema | None) -> bool:
    """Whether a tree, multiplied out, has more conjunctions than are printed."""
    try:
        return len(multiplied_out(tree, schema)) > _MOST_ALTERNATIVES
    except FilterTooLargeError:
        return True
