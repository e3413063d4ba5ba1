"""Print a filter as a JSON pattern, where the pattern language can express it.

It cannot express text ranges other than prefixes, several conditions on one path that do not reduce to one, `_` in a
wildcard, geofences, timestamps, or `not like` (`anything-but` also holds on what is not text).
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address, summarize_address_range
from math import inf
from typing import Any, NoReturn

from thatch.errors import PatternError
from thatch.model.conjunctions import Conjunction
from thatch.model.derived import address_of, fold
from thatch.model.lines import (
    NUMBERS,
    PRESENT,
    TEXTS,
    Constraint,
    Cut,
    contains,
    covers,
    difference,
    first_point,
    intersect,
    intervals,
    is_single,
    prefix_interval,
    value_at,
)
from thatch.model.names import base_of, name_of, split
from thatch.model.printing import constraint_text, printed_conditions
from thatch.model.residuals import WildcardCheck
from thatch.model.schema import Schema, line_of, tighten
from thatch.model.types import Line
from thatch.model.wildcards import Wildcard

__all__ = ["pattern_of"]

_NAN_POINT: Cut = (4,)
_SINGLE_POINTS = ((1,), None), ((2,), False), ((3,), True)


def pattern_of(conjunctions: Sequence[Conjunction], schema: Schema | None) -> dict[str, Any]:
    """The JSON pattern that parses to these conjunctions; `PatternError` if there is none."""
    members = [_object(each, schema) for each in conjunctions]
    return members[0] if len(members) == 1 else {"$or": members}


def _refuse(condition: str) -> NoReturn:
    raise PatternError("conditions that a JSON pattern can express", f"`{condition}`")


def _object(conjunction: Conjunction, schema: Schema | None) -> dict[str, Any]:
    result: dict[str, Any] = {}
    unsaid = {each.residual: each for each in printed_conditions(conjunction, schema)}
    said_by_residuals = {key for each in unsaid.values() if each.residual for key, _ in each.constraints}
    for key, constraint in conjunction.constraints:
        if key not in said_by_residuals:
            _add(result, key, _entries(key, constraint, schema), constraint_text(key, constraint, schema))
    for residual, condition in unsaid.items():
        if residual is None:
            continue
        if not isinstance(residual, WildcardCheck) or not isinstance(residual.pattern, Wildcard):
            _refuse(condition.text)
        if any(None in piece for piece in residual.pattern.pieces):
            _refuse(condition.text)
        if split(residual.key)[0] or (residual.negated and "is unlike" not in condition.text):
            _refuse(condition.text)
        text = "*".join("".join(_star_escaped(part) for part in piece) for piece in residual.pattern.pieces)
        name = name_of(residual.key)
        entry: Any = {"wildcard": text}
        if residual.negated:
            if result.pop(name, None) != [{"exists": True}]:
                _refuse(condition.text)
            entry = {"anything-but": entry}
        _add(result, residual.key, [entry], condition.text)
    return result or _refuse("true")


def _star_escaped(part: str | None) -> str:
    assert part is not None
    return "\\" + part if part in "*\\" else part


def _add(result: dict[str, Any], key: str, entries: list[Any], condition: str) -> None:
    name = name_of(base_of(key))
    if name in result or name == "$or":
        _refuse(condition)
    result[name] = entries


def _entries(key: str, constraint: Constraint, schema: Schema | None) -> list[Any]:
    """The entries of one leaf: what holds on NaN by exclusion, everything else piece by piece."""
    functions = split(key)[0]
    text = constraint_text(key, constraint, schema)
    if functions == ("ip",):
        return _networks(constraint, text)
    if functions == ("time",):
        _refuse(text)
    line = line_of(key, schema)
    if functions and (contains(constraint, (0,)) or not _is_about_text(constraint, line)):
        _refuse(text)  # a pattern would say it of the attribute itself
    result: list[Any] = []
    if contains(constraint, (0,)):
        result.append({"exists": False})
    if constraint == tighten(PRESENT, line):
        return [{"exists": True}]
    if line is None and contains(constraint, _NAN_POINT):
        return [*result, _exclusion(functions, difference(PRESENT, constraint), text)]
    for place, value in _SINGLE_POINTS:
        there = tighten((place, (place[0] + 1,)), line)
        if there and covers(constraint, there):
            result.append(value)
    numbers = intersect(constraint, tighten(NUMBERS, line))
    for low, high in intervals(numbers):
        result.append(
            _numeric(low, high if line is None else line.before(high), tighten(NUMBERS, line), text)
        )
    for low, high in intervals(intersect(constraint, tighten(TEXTS, line))):
        result.append(_text_entry(functions, low, high if line is None else line.before(high), text))
    return result


def _is_about_text(constraint: Constraint, line: Line | None) -> bool:
    """Whether nothing but texts satisfies a constraint, or all that is present but for some texts."""
    others = difference(constraint, TEXTS)
    return not others or (line is None and others == difference(PRESENT, TEXTS) and constraint != PRESENT)


def _numeric(low: Cut, high: Cut, segment: Constraint, text: str) -> Any:
    if is_single(low, high) and abs(value_at(first_point(low))) != inf:  # type: ignore[arg-type]  # it is a number
        return value_at(first_point(low))
    parts: list[Any] = []
    if low != segment[0]:
        parts += [">" if low[2] else ">=", low[1]]
    if high != segment[-1] and len(high) == 3:
        parts += ["<=" if high[2] else "<", high[1]]
    if not parts or inf in parts or -inf in parts:
        _refuse(text)
    return {"numeric": parts}


def _text_entry(functions: tuple[str, ...], low: Cut, high: Cut, text: str) -> Any:
    start = value_at(first_point(low))
    assert isinstance(start, str)
    is_suffix = functions[:1] == ("reverse",)
    operand: Any = start[::-1] if is_suffix else start
    ignores_case = "lower" in functions
    if ignores_case and fold(operand) != operand:
        _refuse(text)  # read again, it would be folded
    if is_single(low, high) and not is_suffix:
        return {"equals-ignore-case": operand} if ignores_case else operand
    if (low, high) != prefix_interval(start):
        _refuse(text)
    if ignores_case:
        operand = {"equals-ignore-case": operand}
    return {"suffix" if is_suffix else "prefix": operand}


def _exclusion(functions: tuple[str, ...], left_out: Constraint, text: str) -> Any:
    """`anything-but`: what is left out must be numbers, texts, prefixes or suffixes, all of one kind."""
    if not left_out:
        return {"exists": True}
    texts = list(intervals(intersect(left_out, TEXTS)))
    others = list(intervals(difference(left_out, TEXTS)))
    if texts and others:
        _refuse(text)
    if others:
        if functions or not all(is_single(low, high) and low[0] == 5 for low, high in others):
            _refuse(text)
        numbers = [value_at(first_point(low)) for low, _ in others]
        if inf in numbers or -inf in numbers:
            _refuse(text)
        return {"anything-but": numbers[0] if len(numbers) == 1 else numbers}
    starts = [str(value_at(first_point(low))) for low, _ in texts]
    if functions == ("lower",) and any(fold(start) != start for start in starts):
        _refuse(text)
    if functions in ((), ("lower",)) and all(is_single(low, high) for low, high in texts):
        values: Any = starts[0] if len(starts) == 1 else starts
        return {"anything-but": {"equals-ignore-case": values} if functions else values}
    if "lower" in functions or any(
        pair != prefix_interval(start) for pair, start in zip(texts, starts, strict=True)
    ):
        _refuse(text)
    is_suffix = functions == ("reverse",)
    parts = [start[::-1] if is_suffix else start for start in starts]
    if "" in parts:
        _refuse(text)
    return {"anything-but": {"suffix" if is_suffix else "prefix": parts[0] if len(parts) == 1 else parts}}


def _networks(constraint: Constraint, text: str) -> list[Any]:
    line = line_of("ip(x)", None)
    assert line is not None
    result = []
    for low, high in intervals(constraint):
        high = line.before(high)
        if len(low) == 1 or len(high) == 1 or low[1][0] != high[1][0]:
            _refuse(text)
        first, last = ip_address(address_of(low[1])), ip_address(address_of(high[1]))
        for network in summarize_address_range(first, last):
            if network.prefixlen == network.max_prefixlen:
                _refuse(text)
            result.append({"cidr": str(network)})
    return result
