"""Residual checks: what is left of a condition that is not an interval, behind a necessary one that is.

A residual never decides about types: the constraints beside it do (`like` and `not like` demand text, `is unlike`
only that the attribute is present). `holds` takes the points of its attributes in the order of `keys`; a check and
its opposite never hold both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thatch.model.lines import Cut
from thatch.model.regexes import Pattern
from thatch.model.shapes import Shape

__all__ = ["Residual", "WildcardCheck", "WithinCheck"]


@dataclass(frozen=True, slots=True)
class WildcardCheck:
    """The value is text of the pattern's form; with `negated`, it is not."""

    key: str
    pattern: Pattern
    negated: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.key,)

    def opposite(self) -> WildcardCheck:
        return WildcardCheck(self.key, self.pattern, not self.negated)

    def holds(self, places: Sequence[Cut]) -> bool:
        place = places[0]
        return (place[0] == 6 and self.pattern.matches(place[1])) != self.negated


@dataclass(frozen=True, slots=True)
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


Residual = WildcardCheck | WithinCheck
