"""Filters as Python expressions: `thatch.attr("price").between(100, 200) & (thatch.attr("symbol") == "IBM")`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from thatch.errors import EventError, FilterError, shown
from thatch.model.derived import canonical_literal
from thatch.model.expressions import (
    And,
    Compare,
    Distinct,
    Exists,
    Expression,
    In,
    IsNull,
    Matches,
    Not,
    Or,
    Unlike,
    compare_pair,
    geofence,
    membership,
    network,
)
from thatch.model.lines import Literal
from thatch.model.names import ANYWHERE, base_of, derived_key, key_of, split
from thatch.model.regexes import Pattern, regex
from thatch.model.shapes import Circle, Polygon, Shape
from thatch.model.values import MAX_INTEGER, MIN_INTEGER, is_text, read_scalar
from thatch.model.wildcards import escape_wildcard, wildcard

__all__ = ["Attribute", "anywhere", "attr", "circle", "polygon", "within"]


class Attribute:
    """One attribute of an event, to be compared. Made by `thatch.attr`."""

    __slots__ = ("key",)
    __hash__ = None  # type: ignore[assignment]  # `==` makes a condition and tells nothing about equality

    def __init__(self, key: str) -> None:
        self.key = key

    def __repr__(self) -> str:
        return f"thatch.attr({self.key!r})"

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]  # a condition, no bool
        return self._compare("=", other)

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]  # a condition, no bool
        return self._compare("!=", other)

    def __lt__(self, other: object) -> Expression:
        return self._compare("<", other)

    def __le__(self, other: object) -> Expression:
        return self._compare("<=", other)

    def __gt__(self, other: object) -> Expression:
        return self._compare(">", other)

    def __ge__(self, other: object) -> Expression:
        return self._compare(">=", other)

    def between(self, low: object, high: object) -> Expression:
        """At least `low` and at most `high`."""
        return And((self._compare(">=", low), self._compare("<=", high)))

    def is_in(self, values: Iterable[object]) -> Expression:
        """Equal to one of the values."""
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise FilterError("a list of values", shown(values), self.key)
        if base_of(self.key) == ANYWHERE:
            return Or(tuple(self == value for value in values))
        given: list[Any] = list(values)
        if self._are_plain(given):
            return In(self.key, tuple(given))
        pairs = [self._literal(value) for value in given]
        keys = {key for key, _ in pairs}
        if len(keys) != 1:
            raise FilterError("values of one kind, at least one", shown(values), self.key)
        return membership(keys.pop(), [value for _, value in pairs])

    def _are_plain(self, values: list[Any]) -> bool:
        """Whether values stand for themselves: all are text, or all are integers."""
        kinds = set(map(type, values))
        if self.key[-1] == ")" or kinds not in ({str}, {int}):
            return False
        return (
            all(map(is_text, values))
            if kinds == {str}
            else MIN_INTEGER <= min(values) <= max(values) <= MAX_INTEGER
        )

    def not_in(self, values: Iterable[object]) -> Expression:
        """Of the values' type and equal to none of them."""
        return Not(self.is_in(values))

    def like(self, pattern: str) -> Expression:
        """Text of a form: `%` is any text, `_` one character, a backslash takes the next one literally."""
        return self._matches(_text(pattern))

    def startswith(self, prefix: str) -> Expression:
        """Text that begins so."""
        return self._matches(escape_wildcard(_text(prefix)) + "%")

    def endswith(self, suffix: str) -> Expression:
        """Text that ends so."""
        return self._matches("%" + escape_wildcard(_text(suffix)))

    def contains(self, part: str) -> Expression:
        """Text that holds a part."""
        return self._matches("%" + escape_wildcard(_text(part)) + "%")

    def search(self, pattern: str) -> Expression:
        """Text in which a regular expression (RE2) is found; `^` and `$` tie it to the ends."""
        return self._matches(_text(pattern), regex)

    def unlike(self, pattern: str) -> Expression:
        """Present, and not text of a form."""
        condition = self._matches(_text(pattern))
        assert isinstance(condition, Matches)
        return Unlike(condition.key, condition.pattern)

    def is_null(self) -> Expression:
        """Null."""
        return IsNull(self.key)

    def is_not_null(self) -> Expression:
        """Present and not null."""
        return Not(IsNull(self.key))

    def exists(self) -> Expression:
        """Present."""
        return Exists(self.key)

    def is_missing(self) -> Expression:
        """Not present."""
        return Not(Exists(self.key))

    def is_distinct_from(self, value: object) -> Expression:
        """Present, and not that value, whatever its type."""
        key, literal = self._literal(value)
        return Distinct(key, literal)

    def cidr(self, block: str) -> Expression:
        """An address inside a network."""
        return network(self.key, _text(block))

    def lower(self) -> Attribute:
        """The attribute with its case folded."""
        return Attribute(derived_key(("lower",), self.key))

    def reverse(self) -> Attribute:
        """The attribute's text read backwards."""
        return Attribute(derived_key(("reverse",), self.key))

    def time(self) -> Attribute:
        """The attribute as a moment; compare with datetimes or ISO-8601 text."""
        return Attribute(derived_key(("time",), self.key))

    def ip(self) -> Attribute:
        """The attribute as an address; compare with the text of an address."""
        return Attribute(derived_key(("ip",), self.key))

    def _compare(self, operator: str, other: object) -> Expression:
        if operator == "=" and base_of(self.key) == ANYWHERE:
            return self._matches(escape_wildcard(_text(other)))
        if isinstance(other, Attribute):
            return compare_pair(self.key, operator, other.key)
        key, value = self._literal(other)
        if value is None:
            if operator not in ("=", "!="):
                raise FilterError("a value that can be ordered", "None", self.key)
            return IsNull(key) if operator == "=" else Not(IsNull(key))
        return Compare(key, operator, value)

    def _matches(self, pattern: str, read: Callable[[str], Pattern] = wildcard) -> Matches:
        if split(self.key)[0][:1] in (("ip",), ("time",)):
            raise FilterError("an attribute or its lower()", shown(self.key))
        try:
            return Matches(self.key, read(pattern))
        except FilterError:  # a ValueError too, but it already says what is wrong
            raise
        except ValueError as error:
            raise FilterError(str(error), shown(pattern), self.key) from None

    def _literal(self, value: Any) -> tuple[str, Literal]:
        """A Python value as a literal; a datetime turns the attribute into a moment."""
        if isinstance(value, (Attribute, Expression)):
            raise FilterError("a value", type(value).__name__, self.key)
        try:
            literal = read_scalar(value, self.key)
        except EventError as error:
            raise FilterError(error.expected, error.got, self.key) from error
        key = self.key
        if isinstance(value, datetime) and key[-1] != ")":
            key = derived_key(("time",), key)
        return key, canonical_literal(key, literal)


def _text(value: object) -> str:
    if not isinstance(value, str) or not is_text(value):
        raise FilterError("text", shown(value))
    return str(value)


def attr(name: str) -> Attribute:
    """An attribute by its name: a dotted path of any characters.

    Examples
    --------
    >>> import thatch
    >>> f = thatch.parse(thatch.attr("price").between(100, 200) | (thatch.attr("volume") > 1e6))
    >>> print(f)
    price between 100 and 200 or volume > 1000000
    """
    return Attribute(key_of(_text(name)))


def anywhere() -> Attribute:
    """All texts of an event, of which one is to be found: by `like`, `contains`, `search`, `==`, `is_in` and the like.

    Examples
    --------
    >>> import thatch
    >>> print(thatch.parse(thatch.anywhere().lower().contains("mimikatz")))
    lower(anywhere()) like '%mimikatz%'
    """
    return Attribute(ANYWHERE)


def circle(latitude: float, longitude: float, radius: float) -> Circle:
    """All places within `radius` metres of a centre."""
    return Circle(*(_coordinate(value) for value in (latitude, longitude, radius)))


def polygon(*corners: tuple[float, float]) -> Polygon:
    """All places inside or on a closed line of (latitude, longitude) corners."""
    try:
        places = tuple((_coordinate(latitude), _coordinate(longitude)) for latitude, longitude in corners)
    except (TypeError, ValueError) as error:
        raise FilterError("corners as (latitude, longitude) pairs", shown(corners)) from error
    return Polygon(places)


def within(latitude: Attribute | str, longitude: Attribute | str, shape: Shape) -> Expression:
    """Two attributes, latitude and longitude in degrees, that lie in a shape."""
    keys = [each.key if isinstance(each, Attribute) else attr(each).key for each in (latitude, longitude)]
    if not isinstance(shape, Shape):
        raise FilterError("thatch.circle(...) or thatch.polygon(...)", shown(shape))
    return geofence(keys[0], keys[1], shape)


def _coordinate(value: Any) -> int | float:
    number = canonical_literal("coordinate", read_scalar(value, "coordinate"))
    if isinstance(number, (bool, str)) or number is None:
        raise FilterError("a number", shown(value))
    return number
