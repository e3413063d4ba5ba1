"""Filters: what a subscriber asks for, in normal form, and what can be asked about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from thatch.errors import SchemaError, shown
from thatch.model.conditions import Remark
from thatch.model.conjunctions import Box, Conjunction, boxes_of
from thatch.model.covering import covers, intersects
from thatch.model.events import read_event
from thatch.model.explanation import Explanation, explain
from thatch.model.expressions import Expression
from thatch.model.matching import holds
from thatch.model.normalise import normalise
from thatch.model.pattern_printing import pattern_of
from thatch.model.printing import filter_text
from thatch.model.schema import Schema

__all__ = ["Filter"]


class Filter:
    """A Boolean condition over an event's attributes, normalised.

    Made by `thatch.parse`. Two filters are equal when their normal forms and schemas are. `str` gives canonical
    text that parses back to an equal filter.

    `also_named` are attributes that were written and that the normal form does not need, as `y` in
    `x = 1 or x = 1 and y = 2`; two filters may be equal and differ in them.

    Examples
    --------
    >>> import thatch
    >>> cheap = thatch.parse("price < 150 and symbol = 'IBM'")
    >>> cheap.matches({"symbol": "IBM", "price": 120})
    True
    >>> cheap.covers(thatch.parse("price < 100 and symbol = 'IBM'"))
    True
    """

    __slots__ = ("_hash", "also_named", "conjunctions", "remarks", "schema")

    conjunctions: tuple[Conjunction, ...]
    remarks: tuple[Remark, ...]
    schema: Schema | None

    def __init__(
        self,
        conjunctions: tuple[Conjunction, ...],
        schema: Schema | None,
        remarks: tuple[Remark, ...],
        also_named: frozenset[str] = frozenset(),
    ) -> None:
        self.conjunctions = conjunctions
        self.schema = schema
        self.remarks = remarks
        self.also_named = also_named
        self._hash: int | None = None

    @classmethod
    def of(cls, expression: Expression, schema: Schema | None = None) -> Filter:
        """The filter of an expression."""
        form = normalise(expression, schema)
        return cls(form.conjunctions, schema, form.remarks, form.also_named)

    def matches(self, event: Mapping[str, Any]) -> bool:
        """Whether an event, or for an event with lists one of its flat events, satisfies the filter."""
        record = read_event(event, self.schema)
        return any(holds(conjunction, record) for conjunction in self.conjunctions)

    def explain(self, event: Mapping[str, Any]) -> Explanation:
        """Which conditions hold on an event and which do not, with the values seen; print it."""
        return explain(self.conjunctions, self.schema, read_event(event, self.schema))

    def boxes(self) -> Iterator[Box]:
        """The filter as boxes with one interval per attribute, made one by one as they are asked for."""
        for conjunction in self.conjunctions:
            yield from boxes_of(conjunction)

    def box_count(self) -> int:
        """How many boxes `boxes` gives, without making them."""
        return sum(conjunction.box_count() for conjunction in self.conjunctions)

    def covers(self, other: Filter) -> bool:
        """Whether every event that matches `other` is proved to match this filter. False = not proved."""
        self._check_schema(other)
        return covers(self.conjunctions, other.conjunctions, self.schema)

    def intersects(self, other: Filter) -> bool:
        """Whether some flat event may match both filters. False = proved that none does."""
        self._check_schema(other)
        return intersects(self.conjunctions, other.conjunctions, self.schema)

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
        return self.conjunctions == other.conjunctions and self.schema == other.schema

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self.conjunctions, self.schema))
        return self._hash

    def __str__(self) -> str:
        return filter_text(self.conjunctions, self.schema)

    def __repr__(self) -> str:
        schema = f", schema={self.schema!r}" if self.schema is not None else ""
        return f"thatch.parse({str(self)!r}{schema})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Filter, (self.conjunctions, self.schema, self.remarks, self.also_named))
