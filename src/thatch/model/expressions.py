"""Filters as people write them: a tree of conditions, `and`, `or` and `not`, before normalisation.

The three languages (text, JSON patterns, Python) all build these. Under the rules of three truth values every
condition is true, false or unknown on a flat event; an event matches when the whole tree is true.

===============  =======================================  ============================  =================
condition        true                                     false                         unknown
===============  =======================================  ============================  =================
`Compare`        value of the literal's type that does    same type, does not           missing, any
                 compare so                                                             other type, NaN
`In`             equal to one of the values               present, of a type among      missing, other
                                                          them, equal to none           types, NaN
`Matches`        text of the pattern's form               other text                    all but text
`IsNull`         null                                     present, not null             missing
`Distinct`       present and not equal                    equal                         missing
`Unlike`         present and not text of that form        text of that form             missing
`Exists`         present                                  missing                       never
`Within`         in the shape                             on the globe, outside         otherwise
`ComparePair`    both of one type that can be ordered     of one such type, otherwise   otherwise
                 (booleans, numbers, text), and so
`Compare-        both sides have a value, and so          both do, otherwise            otherwise
Formulas`
===============  =======================================  ============================  =================
"""

from __future__ import annotations

from ipaddress import ip_network

from thatch.errors import FilterError, FilterTooLargeError, shown
from thatch.model.derived import ip_text
from thatch.model.formulas import MOST_PARTS, Formula, keys_of, parts_of
from thatch.model.frozen import quick_value
from thatch.model.lines import Literal
from thatch.model.names import base_of, derived_key, split
from thatch.model.regexes import Pattern
from thatch.model.shapes import Shape

__all__ = [
    "And",
    "Compare",
    "CompareFormulas",
    "ComparePair",
    "Condition",
    "Constant",
    "Distinct",
    "Exists",
    "Expression",
    "In",
    "IsNull",
    "Matches",
    "Not",
    "Or",
    "Unlike",
    "Within",
    "bases_written",
    "compare_formulas",
    "compare_pair",
    "geofence",
    "membership",
    "network",
]


class Expression:
    """Anything that is true, false or unknown on an event. Combine with `&`, `|` and `~`."""

    __slots__ = ()

    def __and__(self, other: Expression) -> Expression:
        return And((self, other)) if isinstance(other, Expression) else NotImplemented

    def __or__(self, other: Expression) -> Expression:
        return Or((self, other)) if isinstance(other, Expression) else NotImplemented

    def __invert__(self) -> Expression:
        return Not(self)

    def __bool__(self) -> bool:
        raise TypeError("Expected `&`, `|` and `~` between conditions, got `and`, `or`, `not` or `if`")


@quick_value
class Constant(Expression):
    """Always true, or always false."""

    value: bool


@quick_value
class Compare(Expression):
    """`key operator value`, with one of `= != < <= > >=`; the value is not null."""

    key: str
    operator: str
    value: Literal


@quick_value
class In(Expression):
    """`key in (values)`; the values are not null."""

    key: str
    values: tuple[Literal, ...]


@quick_value
class Distinct(Expression):
    """`key is distinct from value`: present, and not that value, whatever its type."""

    key: str
    value: Literal


@quick_value
class _OnPattern(Expression):
    key: str
    pattern: Pattern


class Matches(_OnPattern):
    """`key like pattern`, or `key ~ pattern` for a regular expression."""

    __slots__ = ()


class Unlike(_OnPattern):
    """`key is unlike pattern`: present, and not text of that form, whatever its type."""

    __slots__ = ()


@quick_value
class _OnKey(Expression):
    key: str


class IsNull(_OnKey):
    """`key is null`."""

    __slots__ = ()


class Exists(_OnKey):
    """`exists(key)`."""

    __slots__ = ()


@quick_value
class Within(Expression):
    """`within(latitude, longitude, shape)`."""

    latitude: str
    longitude: str
    shape: Shape


@quick_value
class ComparePair(Expression):
    """`left operator right`, two attributes."""

    left: str
    operator: str
    right: str


@quick_value
class CompareFormulas(Expression):
    """`left operator right`, arithmetic on attributes and numbers."""

    left: Formula
    operator: str
    right: Formula

    @property
    def keys(self) -> tuple[str, ...]:
        return keys_of(self.left, self.right)


@quick_value
class Not(Expression):
    """The opposite; unknown stays unknown."""

    child: Expression


@quick_value
class _Joined(Expression):
    children: tuple[Expression, ...]


class And(_Joined):
    """True when all children are."""

    __slots__ = ()


class Or(_Joined):
    """True when one child is."""

    __slots__ = ()


Condition = (
    Compare | In | Matches | IsNull | Distinct | Unlike | Exists | Within | ComparePair | CompareFormulas
)


def bases_written(expression: Expression) -> frozenset[str]:
    """The keys of all attributes that are written in an expression, without functions of them."""
    found: set[str] = set()
    pending = [expression]
    while pending:
        each = pending.pop()
        if isinstance(each, _Joined):
            pending.extend(each.children)
        elif isinstance(each, Not):
            pending.append(each.child)
        elif isinstance(each, Within):
            found.update((each.latitude, each.longitude))
        elif isinstance(each, ComparePair):
            found.update(map(base_of, (each.left, each.right)))
        elif isinstance(each, CompareFormulas):
            found.update(each.keys)
        elif not isinstance(each, Constant):
            found.add(base_of(each.key))  # type: ignore[attr-defined]  # all other kinds have one
    return frozenset(found)


def membership(key: str, values: list[Literal]) -> Expression:
    """`key in (values)`, null among them allowed."""
    plain = tuple(value for value in values if value is not None)
    if len(plain) == len(values):
        return In(key, plain)
    return Or((In(key, plain), IsNull(key))) if plain else IsNull(key)


def network(key: str, text: str) -> Expression:
    """`cidr(key, text)`: an address inside a network."""
    try:
        parsed = ip_network(text, strict=False) if "/" in text and "%" not in text else None
    except ValueError:
        parsed = None
    if parsed is None:
        raise FilterError("a network such as '10.0.0.0/8' or '2001:db8::/32'", shown(text))
    address = derived_key(("ip",), key)
    first, last = ip_text(str(parsed[0])), ip_text(str(parsed[-1]))
    return And((Compare(address, ">=", first), Compare(address, "<=", last)))


def compare_pair(left: str, operator: str, right: str) -> Expression:
    """`left operator right`: two attributes, or functions of them."""
    if left == right:
        raise FilterError("two different attributes", f"{left} twice")
    kinds = [split(key)[0] for key in (left, right)]
    if kinds[0] != kinds[1] and {("ip",), ("time",)}.intersection(kinds):
        raise FilterError("the same function, ip(x) or time(x), on both sides", f"{left} and {right}")
    return ComparePair(left, operator, right)


def compare_formulas(left: Formula, operator: str, right: Formula) -> Expression:
    """`left operator right`: arithmetic on attributes and numbers."""
    count = sum(1 for each in (left, right) for _ in parts_of(each))
    if count > MOST_PARTS:
        raise FilterTooLargeError("attributes and numbers in one formula", count, MOST_PARTS)
    found = CompareFormulas(left, operator, right)
    if not found.keys:
        raise FilterError("an attribute in a formula", "none")
    return found


def geofence(latitude: str, longitude: str, shape: Shape) -> Expression:
    """`within(latitude, longitude, shape)`."""
    if latitude == longitude or latitude[-1] == ")" or longitude[-1] == ")":
        raise FilterError("two different attributes, latitude and longitude", f"{latitude} and {longitude}")
    return Within(latitude, longitude, shape)
