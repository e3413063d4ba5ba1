"""JSON patterns in the style of AWS EventBridge to an expression.

A pattern is an object; its leaves are arrays, one entry of which must match; everything in an object must hold;
`$or` is an array of patterns one of which must hold. What EventBridge's engine refuses is refused, with a reason.

Deviations, each pinned by a test: case is ignored by Unicode case folding; text that looks like an address is
compared as text; a path given twice is refused where the engine silently keeps the last one, and inside `$or` two
conditions on one path must both hold. `exactly`, which is the same as the text alone, comes from the engine's library.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isinf
from typing import Any, NoReturn

from thatch.errors import FilterError, PatternError, ThatchError, shown
from thatch.model.derived import canonical_literal, fold
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
    network,
)
from thatch.model.language.json_places import constant_in, told_places, twin_in
from thatch.model.language.text import MAX_LENGTH, MAX_NESTING
from thatch.model.lines import Literal
from thatch.model.names import derived_key, key_of
from thatch.model.values import is_text, read_scalar, reason_of, unique_names
from thatch.model.wildcards import Wildcard, escape_wildcard, wildcard

__all__ = ["OPERATORS", "expression_of_pattern", "joins_patterns", "pattern_of_json"]

_EXACT = 2**53
_MANY = 1_000  # entries of one array that are looked at together
_SHOWN_NAME = 80  # characters of each name that an error shows
_BOTTOM_OPERATORS = (">", ">=")
_TOP_OPERATORS = ("<", "<=")


def pattern_of_json(text: str) -> Any:
    """The pattern in a JSON text; refuses a name given twice in one object."""
    if len(text) > MAX_LENGTH:
        raise PatternError(f"at most {MAX_LENGTH:,} characters of JSON", f"{len(text):,}")
    try:
        return json.loads(text, object_pairs_hook=unique_names, parse_constant=_no_constant)
    except KeyError:
        raise twin_in(text) from None
    except _ConstantError:
        raise constant_in(text) from None
    except RecursionError:
        raise PatternError(f"The pattern has more than {MAX_NESTING} levels of nesting") from None
    except json.JSONDecodeError as error:
        raise PatternError("JSON", f"{shown(text)} ({error.msg})", "", error.lineno, error.colno) from None
    except ValueError as error:
        raise PatternError("JSON", f"{shown(text)} ({reason_of(error)})") from None


class _ConstantError(Exception):
    """A word that Python reads as a number, and JSON does not have."""


def _no_constant(_: str) -> NoReturn:
    raise _ConstantError


def expression_of_source(source: str | Mapping[str, Any]) -> Expression:
    """The expression of a pattern, given as an object or as JSON text."""
    if not isinstance(source, str):
        return expression_of_pattern(source)
    with told_places(source):
        return expression_of_pattern(pattern_of_json(source))


def expression_of_pattern(pattern: Mapping[str, Any], *, or_is_reserved: bool = True) -> Expression:
    """The expression that a pattern stands for; without `or_is_reserved`, a `$or` that joins nothing is a field's name.

    Raises `PatternError` if it is not a pattern; `where` is the path into it.
    """
    if not isinstance(pattern, Mapping):
        raise PatternError("a pattern as an object", f"{shown(pattern)} of type {type(pattern).__name__}")
    return _object(pattern, "", "", 0, _Scope(inside_or=False, whole=_Whole(or_is_reserved)))


@dataclass(slots=True)
class _Whole:
    """How much of a pattern was read. Shared objects, and a long name above many fields, can make a small one huge."""

    or_is_reserved: bool
    characters: int = 0

    def add(self, path: str, entries: int, where: str) -> None:
        self.characters += len(path) + entries
        if self.characters > MAX_LENGTH:
            raise PatternError(
                f"The pattern has more than {MAX_LENGTH:,} characters in all paths together", where=where
            )


@dataclass(slots=True)
class _Scope:
    """The part of a pattern in which a path may be given once: the whole, or one member of `$or`."""

    inside_or: bool
    whole: _Whole
    paths: set[str] = field(default_factory=set)


def _object(pattern: Mapping[str, Any], path: str, where: str, depth: int, scope: _Scope) -> Expression:
    """The conditions in one object; `path` and `where` end in a dot, unless they are empty."""
    if depth > MAX_NESTING:
        raise PatternError(f"The pattern has more than {MAX_NESTING} levels of nesting", where=where[:80])
    if not pattern:
        raise PatternError("at least one field in an object", "an empty object", where[:-1])
    conditions: list[Expression] = []
    for name, value in pattern.items():
        if not isinstance(name, str) or not is_text(name):
            raise PatternError("names as text", shown(name), where[:-1])
        place = where + name[:_SHOWN_NAME]
        if name == "$or" and (scope.whole.or_is_reserved or joins_patterns(value)):
            conditions.append(_either(value, path, place, depth, scope.whole))
            continue
        if scope.inside_or and name in _RESERVED:
            raise PatternError("a field name inside $or", f"the reserved word {shown(name)}", place)
        inner = path + name
        is_leaf = isinstance(value, (list, tuple))
        scope.whole.add(inner, len(value) if is_leaf else 1, place)
        if is_leaf:
            if inner in scope.paths:
                raise PatternError("each path once", f"{shown(inner)} twice", place)
            scope.paths.add(inner)
            conditions.append(_leaf(key_of(inner), value, place))
        elif isinstance(value, Mapping):
            conditions.append(_object(value, inner + ".", place + ".", depth + 1, scope))
        else:
            raise PatternError("an object or an array", shown(value), place)
    return conditions[0] if len(conditions) == 1 else And(tuple(conditions))


def joins_patterns(members: Any) -> bool:
    """Whether what stands after `$or` can only be alternatives: two objects or more, of fields."""
    return (
        isinstance(members, (list, tuple))
        and len(members) > 1
        and all(isinstance(each, Mapping) and _RESERVED.isdisjoint(each) for each in members)
    )


def _either(members: Any, path: str, where: str, depth: int, whole: _Whole) -> Expression:
    if not isinstance(members, (list, tuple)):
        raise PatternError("an array after $or", shown(members), where)
    if len(members) < 2:
        raise PatternError("at least 2 objects in $or", str(len(members)), where)
    parts = []
    for index, member in enumerate(members):
        place = f"{where}[{index}]"
        if not isinstance(member, Mapping):
            raise PatternError("an object inside $or", shown(member), place)
        parts.append(_object(member, path, place + ".", depth + 1, _Scope(inside_or=True, whole=whole)))
    return Or(tuple(parts))


def _leaf(key: str, entries: Sequence[Any], where: str) -> Expression:
    if not entries:
        raise PatternError("at least one value in an array", "an empty array", where)
    if len(entries) == 1:
        return _entry(key, entries[0], where)
    if len(entries) > _MANY and (
        all(type(each) is str and each.isascii() for each in entries)
        or all(type(each) is int and abs(each) < _EXACT for each in entries)
    ):
        return In(key, tuple(entries))
    return Or(tuple(_entry(key, entry, f"{where}[{index}]") for index, entry in enumerate(entries)))


def _entry(key: str, entry: Any, where: str) -> Expression:
    if type(entry) is str and entry.isascii():  # the most common entry
        return Compare(key, "=", entry)
    if isinstance(entry, Mapping):
        name, operand = _single(entry, where)
        matcher = _MATCHERS.get(name)
        if matcher is None:
            raise PatternError(f"one of {', '.join(_MATCHERS)}", f"the match type {shown(name)}", where)
        return matcher(key, operand, f"{where}.{name}")
    if isinstance(entry, (list, tuple)):
        raise PatternError(
            "text, a number, true, false, null or a match object", "an array in an array", where
        )
    value = _literal(key, entry, where)
    return IsNull(key) if value is None else Compare(key, "=", value)


def _single(entry: Mapping[str, Any], where: str) -> tuple[str, Any]:
    if len(entry) != 1:
        got = "an empty object" if not entry else f"{len(entry)} keys"
        raise PatternError("a match object with one key", got, where)
    ((name, operand),) = entry.items()
    return name, operand


def _literal(key: str, value: Any, where: str) -> Literal:
    try:
        literal = canonical_literal(key, read_scalar(value, where))
    except ThatchError as error:
        raise PatternError("text, a number, true, false or null", shown(value), where) from error
    if isinstance(literal, float) and isinf(literal):  # JSON has none: it was 1e999, or made in Python
        raise PatternError("a number in the range of a double", shown(value), where)
    return literal


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not is_text(value):
        raise PatternError("text", shown(value), where)
    return value


def _number(value: Any, where: str) -> int | float:
    if type(value) is int and -_EXACT < value < _EXACT:
        return value
    number = _literal("number", value, where)
    if isinstance(number, (bool, str)) or number is None:
        raise PatternError("a number", shown(value), where)
    return number


# --- matchers ----------------------------------------------------------------------------------------------------


def _starts_with(text: str) -> Wildcard:
    return wildcard(escape_wildcard(text) + "%")


def _ends_with(text: str) -> Wildcard:
    return wildcard("%" + escape_wildcard(text))


def _exactly(key: str, operand: Any, where: str) -> Expression:
    return Compare(key, "=", _text(operand, where))


def _prefix(key: str, operand: Any, where: str) -> Expression:
    key, text = _maybe_ignoring_case(key, operand, where)
    return Matches(key, _starts_with(text))


def _suffix(key: str, operand: Any, where: str) -> Expression:
    key, text = _maybe_ignoring_case(key, operand, where)
    return Matches(key, _ends_with(text))


def _maybe_ignoring_case(key: str, operand: Any, where: str) -> tuple[str, str]:
    if not isinstance(operand, Mapping):
        return key, _text(operand, where)
    name, text = _single(operand, where)
    if name != "equals-ignore-case":
        raise PatternError("text or equals-ignore-case", shown(name), where)
    return derived_key(("lower",), key), fold(_text(text, f"{where}.{name}"))


def _equals_ignore_case(key: str, operand: Any, where: str) -> Expression:
    return Compare(derived_key(("lower",), key), "=", fold(_text(operand, where)))


def _exists(key: str, operand: Any, where: str) -> Expression:
    if not isinstance(operand, bool):
        raise PatternError("true or false", shown(operand), where)
    return Exists(key) if operand else Not(Exists(key))


def _cidr(key: str, operand: Any, where: str) -> Expression:
    text = _text(operand, where)
    address, _, mask = text.partition("/")
    widest = 128 if ":" in address else 32
    if not re.fullmatch(r"[0-9]{1,3}", mask) or int(mask) >= widest or (":" in address and "." in address):
        raise PatternError(f"a network such as 10.0.0.0/8, with a mask below {widest}", shown(text), where)
    try:
        return network(key, text)
    except FilterError as error:
        raise PatternError(error.expected, error.got, where) from None


def _wildcard(key: str, operand: Any, where: str) -> Expression:
    return Matches(key, wildcard(_like_pattern(_text(operand, where), where)))


def _like_pattern(text: str, where: str) -> str:
    """A pattern with `*` as one with `%`; a backslash may stand before a star or a backslash only."""
    parts = []
    characters = iter(enumerate(text, 1))
    last = ""
    for position, character in characters:
        if character == "\\":
            _, following = next(characters, (0, ""))
            if following not in ("*", "\\"):
                raise PatternError(r"\* or \\", f"an invalid escape at position {position}", where)
            parts.append(escape_wildcard(following))
            last = ""
            continue
        if character == "*" and last == "*":
            raise PatternError("single wildcards", f"two in a row at position {position}", where)
        parts.append("%" if character == "*" else escape_wildcard(character))
        last = character
    return "".join(parts)


def _numeric(key: str, operand: Any, where: str) -> Expression:
    if not isinstance(operand, (list, tuple)) or len(operand) not in (2, 4):
        raise PatternError(
            "[operator, number] or [lower operator, number, upper operator, number]", shown(operand), where
        )
    operator, value = operand[0], _number(operand[1], where)
    if not isinstance(operator, str) or operator not in ("=", *_BOTTOM_OPERATORS, *_TOP_OPERATORS):
        raise PatternError("one of = < <= > >=", shown(operator), where)
    first = Compare(key, operator, value)
    if len(operand) == 2:
        return first
    top_operator, top = operand[2], _number(operand[3], where)
    if operator not in _BOTTOM_OPERATORS or top_operator not in _TOP_OPERATORS:
        raise PatternError(
            "> or >= first, then < or <=", f"{shown(operator)} and {shown(top_operator)}", where
        )
    if not value < top:
        raise PatternError("a lower end below the upper end", f"{value} and {top}", where)
    return And((first, Compare(key, top_operator, top)))


def _anything_but(key: str, operand: Any, where: str) -> Expression:
    if isinstance(operand, Mapping):
        name, inner = _single(operand, where)
        make = _ANYTHING_BUT.get(name)
        if make is None:
            raise PatternError(f"one of {', '.join(_ANYTHING_BUT)}", f"anything-but {shown(name)}", where)
        place = f"{where}.{name}"
        texts = inner if isinstance(inner, (list, tuple)) else [inner]
        if not texts:
            raise PatternError("at least one text", "an empty array", place)
        parts = [make(key, _text(text, place), place) for text in texts]
        return parts[0] if len(parts) == 1 else And(tuple(parts))
    values = operand if isinstance(operand, (list, tuple)) else [operand]
    expected = "text, a number, or an array of only texts or only numbers"
    if not values:
        raise PatternError(expected, "an empty array", where)
    literals = [_literal(key, value, where) for value in values]
    are_texts = {isinstance(literal, str) for literal in literals}
    if len(are_texts) > 1 or any(literal is None or isinstance(literal, bool) for literal in literals):
        raise PatternError(expected, shown(operand), where)
    distinct = tuple(Distinct(key, literal) for literal in literals)
    return distinct[0] if len(distinct) == 1 else And(distinct)


def _not_empty(text: str, where: str) -> str:
    if not text:
        raise PatternError("a text that is not empty", "''", where)
    return text


_Matcher = Callable[[str, Any, str], Expression]

_MATCHERS: dict[str, _Matcher] = {
    "exactly": _exactly,
    "prefix": _prefix,
    "suffix": _suffix,
    "equals-ignore-case": _equals_ignore_case,
    "anything-but": _anything_but,
    "numeric": _numeric,
    "exists": _exists,
    "cidr": _cidr,
    "wildcard": _wildcard,
}
_ANYTHING_BUT: dict[str, _Matcher] = {
    "prefix": lambda key, text, where: Unlike(key, _starts_with(_not_empty(text, where))),
    "suffix": lambda key, text, where: Unlike(key, _ends_with(_not_empty(text, where))),
    "equals-ignore-case": lambda key, text, _: Distinct(derived_key(("lower",), key), fold(text)),
    "wildcard": lambda key, text, where: Unlike(key, wildcard(_like_pattern(text, where))),
}
OPERATORS = tuple(_MATCHERS)
# Names that the engine keeps for itself inside `$or`.
_RESERVED = frozenset(_MATCHERS).union(
    ("regex", "not-wildcard", "not-equals-ignore-case", "=", "<", "<=", ">", ">="),
    ("date-after", "date-on-or-after", "date-before", "date-on-or-before", "in-date-range"),
    ("ip-address-in-range", "ip-address-not-in-range"),
)
