"""Declared types of attributes: where on the line their values lie, and which cuts have nothing between them.

A type names all cuts that no value of it separates by one name, so that `x < 6` and `x <= 5` are the same constraint on
whole numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from fractions import Fraction
from math import ceil, floor, inf, isinf, isnan
from typing import Any

from thatch.errors import SchemaError, ThatchError, shown
from thatch.model.lines import TOP, Cut, Literal, above, around, below, first_point, value_at
from thatch.model.values import MAX_INTEGER, MIN_INTEGER, canonical_number, read_scalar

__all__ = ["Addresses", "Decimal", "DeclaredType", "Enum", "Integer", "Line", "Moments", "Number", "Text"]


class Line(ABC):
    """What a declared type knows about its line."""

    __slots__ = ()

    @abstractmethod
    def tighten(self, cut: Cut) -> Cut:
        """The one name of all cuts that have no value of the line between them and `cut`."""

    def before(self, cut: Cut) -> Cut:
        """Another name of a tightened cut: just above the greatest value below it, where that is known."""
        return cut

    @abstractmethod
    def holds(self, value: Literal) -> bool:
        """Whether a present, non-null value belongs to the type."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Plain data that `Schema.from_description` turns back into this type."""


class DeclaredType(Line):
    """Equality, hashing and printing from the plain description."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        # By text, since Python holds that 1 == True.
        return type(other) is type(self) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        names = [name for name in self.describe() if name != "type"]
        fields = ((name, getattr(self, name)) for name in names)
        given = ", ".join(f"{name}={value!r}" for name, value in fields if value is not None)
        return f"{type(self).__name__}({given})"


def _plain(value: Literal) -> Any:
    """A value as JSON can hold it, which has no infinite numbers; `Schema.from_description` reads it."""
    is_infinite = isinstance(value, float) and isinf(value)
    return {"number": "infinity" if value == inf else "-infinity"} if is_infinite else value


def _bound(value: Any, what: str) -> int | float | None:
    """A declared bound: a number, or None for none."""
    if value is None:
        return None
    try:
        number = read_scalar(value, what)
    except ThatchError as error:
        raise SchemaError("a number as bound", shown(value), what) from error
    if isinstance(number, (bool, str)) or number is None or isnan(number):
        raise SchemaError("a number as bound", shown(value), what)
    return canonical_number(number)


class _Numeric(DeclaredType):
    """A part of the number segment between two declared bounds."""

    __slots__ = ("_first", "_last", "maximum", "minimum")

    def __init__(self, minimum: Any, maximum: Any) -> None:
        self.minimum = _bound(minimum, f"{type(self).__name__}(minimum)")
        self.maximum = _bound(maximum, f"{type(self).__name__}(maximum)")
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            raise SchemaError("minimum <= maximum", f"{self.minimum} > {self.maximum}", type(self).__name__)
        self._first = below(-inf if self.minimum is None else self.minimum)
        self._last = above(inf if self.maximum is None else self.maximum)

    def tighten(self, cut: Cut) -> Cut:
        if cut <= (1,):  # missing and null stay what they are
            return cut
        if cut >= self._last:
            return TOP
        if cut <= self._first:
            cut = self._first
        inside = self._next(cut)
        return TOP if inside >= self._last else inside

    def _next(self, cut: Cut) -> Cut:
        """The cut below the least value of the line above `cut`, where that can be named."""
        return cut

    def holds(self, value: Literal) -> bool:
        if isinstance(value, (str, bool)) or value is None or isnan(value):
            return False
        return self._first <= (5, value, 0) < self._last

    def describe(self) -> dict[str, Any]:
        return {
            "type": type(self).__name__,
            "minimum": _plain(self.minimum),
            "maximum": _plain(self.maximum),
        }


class Number(_Numeric):
    """Any number between two bounds, both included."""

    __slots__ = ()

    def __init__(self, minimum: float | None = None, maximum: float | None = None) -> None:
        super().__init__(minimum, maximum)


class Integer(_Numeric):
    """Whole numbers of 64 bits between two bounds, both included; `5.0` is one."""

    __slots__ = ()

    def __init__(self, minimum: int | None = None, maximum: int | None = None) -> None:
        super().__init__(
            MIN_INTEGER if minimum is None else minimum, MAX_INTEGER if maximum is None else maximum
        )
        for bound in (self.minimum, self.maximum):
            if (
                bound is None
                or isinf(bound)
                or bound != int(bound)
                or not MIN_INTEGER <= bound <= MAX_INTEGER
            ):
                raise SchemaError("whole numbers of 64 bits as bounds", shown(bound), "Integer")

    def _next(self, cut: Cut) -> Cut:
        _, value, side = cut
        return (5, floor(value) + 1 if side else ceil(value), 0)

    def before(self, cut: Cut) -> Cut:
        return (5, cut[1] - 1, 1) if len(cut) == 3 and cut > self._first else cut

    def holds(self, value: Literal) -> bool:
        return super().holds(value) and value == int(value)  # type: ignore[arg-type]  # it is a number


class Decimal(_Numeric):
    """Numbers with at most `places` decimal places: the doubles nearest to them, and whole numbers."""

    __slots__ = ("_crowded", "_scale", "places")

    def __init__(self, places: int, minimum: float | None = None, maximum: float | None = None) -> None:
        if not isinstance(places, int) or isinstance(places, bool) or not 0 <= places <= 15:
            raise SchemaError("places from 0 to 15", shown(places), "Decimal")
        super().__init__(minimum, maximum)
        # No decimal is infinite.
        self._first, self._last = max(self._first, above(-inf)), min(self._last, below(inf))
        self.places = places
        self._scale = 10**places
        # A decimal from which on neighbours may be one double; beyond, no gap is claimed empty.
        self._crowded = 2**51 / self._scale

    def _next(self, cut: Cut) -> Cut:
        _, value, side = cut
        if abs(value) >= self._crowded:
            return cut
        step = floor(Fraction(value) * self._scale)
        for candidate in range(step - 1, step + 3):  # rounding moves a decimal by less than one step
            number = candidate / self._scale
            if number > value or (number == value and not side):
                return (5, int(number) if number == int(number) else number, 0)
        raise AssertionError("a decimal lies within two steps of any number")

    def holds(self, value: Literal) -> bool:
        if not super().holds(value) or value in (inf, -inf):
            return False
        number = Fraction(value)  # type: ignore[arg-type]  # it is a finite number
        return number.denominator == 1 or bool(round(number * self._scale) / self._scale == value)

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "places": self.places}


class Text(DeclaredType):
    """Any text."""

    __slots__ = ()

    def tighten(self, cut: Cut) -> Cut:
        return cut if cut <= (1,) else max(cut, (6,))

    def holds(self, value: Literal) -> bool:
        return isinstance(value, str)

    def describe(self) -> dict[str, Any]:
        return {"type": "Text"}


class Enum(DeclaredType):
    """One of the listed values: text, numbers or booleans."""

    __slots__ = ("_points", "values")

    def __init__(self, *values: Any) -> None:
        if not values:
            raise SchemaError("at least one value", "none", "Enum")
        points = set()
        for value in values:
            try:
                scalar = read_scalar(value, "Enum")
            except ThatchError as error:
                raise SchemaError("text, numbers or booleans", shown(value), "Enum") from error
            if scalar is None or scalar != scalar:
                raise SchemaError("text, numbers or booleans", shown(value), "Enum")
            points.add(below(canonical_number(scalar) if isinstance(scalar, float) else scalar))
        self._points: list[Cut] = sorted(points)
        self.values = tuple(value_at(first_point(place)) for place in self._points)

    def tighten(self, cut: Cut) -> Cut:
        if cut <= (1,):
            return cut
        index = bisect_left(self._points, cut)
        return self._points[index] if index < len(self._points) else TOP

    def before(self, cut: Cut) -> Cut:
        index = bisect_left(self._points, cut)
        return around(first_point(self._points[index - 1]))[1] if index else cut

    def holds(self, value: Literal) -> bool:
        if value is None or value != value:
            return False
        place = below(value)
        index = bisect_left(self._points, place)
        return index < len(self._points) and self._points[index] == place

    def describe(self) -> dict[str, Any]:
        return {"type": "Enum", "values": [_plain(value) for value in self.values]}

    def __repr__(self) -> str:
        return f"Enum({', '.join(map(repr, self.values))})"


class Addresses(Line):
    """The line of `ip(x)`: missing, then every IPv4 address, then every IPv6 address."""

    def tighten(self, cut: Cut) -> Cut:
        if cut <= (0,):
            return cut
        if cut <= (6,):
            return (6, "4" + "0" * 8, 0)
        if cut >= TOP:
            return TOP
        _, text, side = cut
        family, width = text[0], 8 if text[0] == "4" else 32
        number = int(text[1:], 16) + side
        if number < 16**width:
            return (6, f"{family}{number:0{width}x}", 0)
        return (6, "6" + "0" * 32, 0) if family == "4" else TOP

    def before(self, cut: Cut) -> Cut:
        if len(cut) == 1:
            return cut
        family, number = cut[1][0], int(cut[1][1:], 16)
        if number:
            return (6, f"{family}{number - 1:0{8 if family == '4' else 32}x}", 1)
        return (6, "4" + "f" * 8, 1) if family == "6" else cut

    def holds(self, value: Literal) -> bool:
        return isinstance(value, str)

    def describe(self) -> dict[str, Any]:
        return {"type": "ip"}


class Moments(Integer):
    """The line of `time(x)`: missing, then microseconds of the years 1 to 9999."""

    __slots__ = ()

    def tighten(self, cut: Cut) -> Cut:
        return cut if cut <= (0,) else super().tighten(max(cut, (2,)))
