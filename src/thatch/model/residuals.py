"""Residual checks: what is left of a condition that is not an interval, behind a necessary one that is.

A residual of one attribute never decides about types: the constraints beside it do (`like` and `not like` demand text,
`is unlike` only that the attribute is present). `holds` takes the points of its attributes in the order of `keys`; a check and
its opposite never hold both, and one of them always does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import eq, le, lt, ne
from typing import Any

from thatch.model.formulas import Formula, keys_of, number_at, value_of
from thatch.model.frozen import quick_value
from thatch.model.lines import RANK_TEXTS, Cut
from thatch.model.regexes import Pattern, in_order
from thatch.model.shapes import Shape

__all__ = [
    "AnywhereCheck",
    "FormulaCheck",
    "PairCheck",
    "Residual",
    "WildcardCheck",
    "WithinCheck",
    "implies",
]


@quick_value
class WildcardCheck:
    """The value is text of the pattern's form; with `negated`, it is not."""

    key: str
    pattern: Pattern
    negated: bool = False

    def __repr__(self) -> str:  # checks are sorted by it
        return f"WildcardCheck(key={self.key!r}, pattern={self.pattern!r}, negated={self.negated!r})"

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.key,)

    def opposite(self) -> WildcardCheck:
        return WildcardCheck(self.key, self.pattern, not self.negated)

    def holds(self, places: Sequence[Cut]) -> bool:
        place = places[0]
        return (place[0] == 6 and self.pattern.matches(place[1])) != self.negated


@quick_value
class WithinCheck:
    """Two attributes, latitude and longitude, that lie inside, or with `negated` outside, a shape."""

    latitude: str
    longitude: str
    shape: Shape
    negated: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.latitude, self.longitude)

    def opposite(self) -> WithinCheck:
        return WithinCheck(self.latitude, self.longitude, self.shape, not self.negated)

    def holds(self, places: Sequence[Cut]) -> bool:
        latitude, longitude = places
        on_globe = latitude[0] == longitude[0] == 5 and abs(latitude[1]) <= 90 and abs(longitude[1]) <= 180
        return (on_globe and self.shape.contains(latitude[1], longitude[1])) != self.negated


_HOLDS: dict[str, Callable[[Any, Any], bool]] = {"=": eq, "!=": ne, "<": lt, "<=": le}
_COMPARABLE = {(2, 2), (2, 3), (3, 2), (3, 3), (5, 5), (6, 6)}  # ranks of points


@quick_value
class PairCheck:
    """Two attributes that compare so: both are booleans, numbers or texts; with `negated`, they do not.

    `of` gives the one form of a comparison.
    """

    left: str
    operator: str  # one of = != < <=
    right: str
    negated: bool = False

    @classmethod
    def of(cls, left: str, operator: str, right: str) -> PairCheck:
        """The check of a comparison, by any of the six operators; of `=` and `!=` the keys are in order."""
        if operator in (">", ">="):
            return cls(right, operator.replace(">", "<"), left)
        return (
            cls(right, operator, left)
            if operator in ("=", "!=") and right < left
            else cls(left, operator, right)
        )

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.left, self.right)

    def opposite(self) -> PairCheck:
        return PairCheck(self.left, self.operator, self.right, not self.negated)

    def holds(self, places: Sequence[Cut]) -> bool:
        left, right = places
        ranks = left[0], right[0]
        is_comparable = ranks in _COMPARABLE
        return (is_comparable and _HOLDS[self.operator](left, right)) != self.negated

    def consequences(self) -> tuple[PairCheck, ...]:
        """Other checks that hold wherever this one does."""
        if self.negated or self.operator not in ("<", "="):
            return ()
        ways = ("<=", "!=") if self.operator == "<" else ("<=", ">=")
        return tuple(PairCheck.of(self.left, way, self.right) for way in ways)


@quick_value
class FormulaCheck:
    """Two formulas that have values which compare so; with `negated`, they do not. `of` gives the one form of a comparison."""

    left: Formula
    operator: str  # one of = != < <=
    right: Formula
    negated: bool = False

    @classmethod
    def of(cls, left: Formula, operator: str, right: Formula) -> FormulaCheck:
        """The check of a comparison, by any of the six operators."""
        if operator in (">", ">="):
            return cls(right, operator.replace(">", "<"), left)
        return cls(left, operator, right)

    @property
    def keys(self) -> tuple[str, ...]:
        return keys_of(self.left, self.right)

    def opposite(self) -> FormulaCheck:
        return FormulaCheck(self.left, self.operator, self.right, not self.negated)

    def holds(self, places: Sequence[Cut]) -> bool:
        numbers = dict(zip(self.keys, map(number_at, places), strict=True))
        left, right = value_of(self.left, numbers), value_of(self.right, numbers)
        has_values = left is not None and right is not None
        return (has_values and _HOLDS[self.operator](left, right)) != self.negated


@quick_value
class AnywhereCheck:
    """Some text of the whole event, lists included, has one of some forms; with `negated`, none has."""

    key: str  # whether texts are folded
    patterns: tuple[Pattern, ...]  # in order, each once
    negated: bool = False

    @classmethod
    def of(cls, key: str, patterns: Iterable[Pattern], *, negated: bool = False) -> AnywhereCheck:
        """The check of patterns in any order."""
        return cls(key, tuple(in_order(set(patterns))), negated)

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.key,)

    def opposite(self) -> AnywhereCheck:
        return AnywhereCheck(self.key, self.patterns, not self.negated)

    def holds(self, places: Sequence[Cut]) -> bool:
        rank, texts = places[0]
        assert rank == RANK_TEXTS
        return any(pattern.matches(text) for text in texts for pattern in self.patterns) != self.negated


Residual = WildcardCheck | WithinCheck | PairCheck | FormulaCheck | AnywhereCheck


def implies(first: Residual, second: Residual) -> bool:
    """Whether a check is seen to hold wherever another does."""
    if isinstance(first, AnywhereCheck) and isinstance(second, AnywhereCheck):
        less, more = (second, first) if first.negated else (first, second)
        is_alike = (first.key, first.negated) == (second.key, second.negated)
        return is_alike and set(less.patterns) <= set(more.patterns)
    return first == second or (isinstance(first, PairCheck) and second in first.consequences())
