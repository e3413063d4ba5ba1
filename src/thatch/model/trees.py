"""Filters as factored trees: `and` and `or` as they were written, without multiplying them out.

A leaf is all that is asked of one attribute in one place: intervals and patterns together, or what lies in intervals
and has the form of no pattern. So alternatives on one attribute are one leaf, however many there are, and only those
over several attributes are an `AnyOf`. Negation has been pushed to the leaves. A tree holds on a flat event; an event
with lists matches if one of its flat events satisfies the tree.

The conjunctions of a filter are its tree multiplied out.
"""

from __future__ import annotations

from dataclasses import dataclass

from thatch.model.lines import Constraint
from thatch.model.regexes import Pattern
from thatch.model.residuals import WithinCheck

__all__ = ["AllOf", "AnyOf", "Tree", "ValueTest"]


@dataclass(frozen=True, slots=True)
class ValueTest:
    """What one attribute must be.

    The value lies in `constraint` or is text of the form of one of the `patterns`; with `negated`, it lies in
    `constraint` and is not text of the form of any of them. `key` is an attribute or `lower(x)`, `ip(x)`; the end of a
    text is a pattern here, not an interval of `reverse(x)`.
    """

    key: str
    constraint: Constraint
    patterns: frozenset[Pattern] = frozenset()
    negated: bool = False


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every child holds; without children, always."""

    children: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one child holds."""

    children: tuple[Tree, ...]


Tree = ValueTest | WithinCheck | AllOf | AnyOf
