"""What a filter means, written as plainly as it can be: the slow definition that tests use as oracle.

Nothing here knows cuts, intervals or normal forms. An event is written out as all its flat events; on each, the
expression as it was written is true, false or unknown (`None`), by the table at the top of `expressions.py`; the
event matches when the expression is true on one of them. Time and memory grow with the product of the lengths of
an event's lists. Only the readers of single texts (case folding, addresses, moments), of single Python values and
of shapes are shared with the model; each has tests of its own.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from math import isinf, isnan, trunc
from typing import Any, assert_never

from thatch.errors import EventError, shown
from thatch.model import expressions as ex
from thatch.model import formulas as fm
from thatch.model.derived import fold, ip_text, microseconds_of
from thatch.model.names import ANYWHERE, base_of, name_of, split
from thatch.model.regexes import Pattern, Regex
from thatch.model.schema import Schema
from thatch.model.types import Decimal, Enum, Integer, Number, Text
from thatch.model.values import check_text, read_scalar

__all__ = ["Flat", "Value", "conforms", "flat_events", "has_form", "matches", "truth"]

Value = None | bool | int | float | str
Flat = dict[str, Value]

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


_Condition = ex.Compare | ex.In | ex.Matches | ex.IsNull | ex.Distinct | ex.Unlike | ex.Exists  # on one value


class _Missing:
    """The type of the one object that stands for «no value»."""


_MISSING = _Missing()


def matches(expression: ex.Expression, event: Mapping[str, Any], schema: Schema | None = None) -> bool:
    """Whether an expression is true on one of an event's flat events."""
    flats = list(flat_events(event, schema))
    texts = frozenset(value for flat in flats for value in flat.values() if isinstance(value, str))
    return any(truth(expression, flat, texts) is True for flat in flats)


def flat_events(event: Mapping[str, Any], schema: Schema | None = None) -> Iterator[Flat]:
    """All flat events of an event: attribute names to values, one element chosen of every list.

    Parameters
    ----------
    event : a JSON-like object
    schema : declared types; a value outside its type is left out, as if it were missing

    Raises
    ------
    EventError
        If the event is not a JSON-like object, or gives one path twice.

    Examples
    --------
    >>> list(flat_events({"a": {"b": 1}, "c": [2, [3]]}))
    [{'a.b': 1, 'c': 2}, {'a.b': 1, 'c': 3}]
    """
    for flat in _of_object(event, ""):
        yield {name: value for name, value in flat.items() if conforms(value, name, schema)}


def _of_object(fields: Mapping[str, Any], prefix: str) -> list[Flat]:
    """The flat events of an object whose names begin with `prefix`: every choice for every field."""
    results: list[Flat] = [{}]
    for name, content in fields.items():
        if not isinstance(name, str):
            raise EventError("names that are text", shown(name), prefix)
        choices = _of_field(content, prefix + check_text(name, prefix))
        results = [_joined(left, right) for left in results for right in choices]
    return results


def _of_field(content: Any, name: str) -> list[Flat]:
    """The flat events of one named value, list or object."""
    if isinstance(content, Mapping):
        return _of_object(content, name + ".")
    if not isinstance(content, (list, tuple)):
        return [{name: read_scalar(content, name)}]
    choices = [choice for element in _flattened(content) for choice in _of_field(element, name)]
    return choices or [{}]


def _flattened(elements: list[Any] | tuple[Any, ...]) -> Iterator[Any]:
    for element in elements:
        if isinstance(element, (list, tuple)):
            yield from _flattened(element)
        else:
            yield element


def _joined(left: Flat, right: Flat) -> Flat:
    for name in right:
        if name in left:
            raise EventError("each path once", "a path given twice", shown(name))
    return left | right


def conforms(value: Value, name: str, schema: Schema | None) -> bool:
    """Whether a value belongs to the declared type of the attribute called `name`."""
    if schema is None or name not in schema or value is None:
        return True
    line = schema[name]
    if isinstance(line, Text):
        return isinstance(value, str)
    if isinstance(line, Enum):
        return any(_equal(value, listed) for listed in line.values)
    assert isinstance(line, (Integer, Decimal, Number))
    if isinstance(value, str) or _type(value) != "number":
        return False
    least, most = line.minimum, line.maximum
    if (least is not None and value < least) or (most is not None and value > most):
        return False
    if isinstance(line, Number) or isinstance(value, int):
        return True
    if isinstance(line, Integer) or isinf(value):
        return value.is_integer()
    # Written with so many places and read again, a double comes back only if it is the nearest to what was written.
    return value.is_integer() or float(f"{value:.{line.places}f}") == value


def truth(expression: ex.Expression, flat: Flat, texts: frozenset[str] | None = None) -> bool | None:
    """Whether an expression is true, false or unknown on one flat event of an event with these texts, or just its own."""
    if isinstance(expression, ex.Constant):
        return expression.value
    if isinstance(expression, ex.Not):
        child = truth(expression.child, flat, texts)
        return None if child is None else not child
    if isinstance(expression, ex.And):
        return _least([truth(child, flat, texts) for child in expression.children])
    if isinstance(expression, ex.Or):
        opposite = _least([truth(ex.Not(child), flat, texts) for child in expression.children])
        return None if opposite is None else not opposite
    if isinstance(expression, ex.Within):
        return _truth_within(expression, flat)
    if isinstance(expression, ex.Matches) and base_of(expression.key) == ANYWHERE:
        own = texts if texts is not None else {each for each in flat.values() if isinstance(each, str)}
        seen = own if expression.key == ANYWHERE else map(fold, own)
        return any(_has_pattern(text, expression.pattern) for text in seen)
    if isinstance(expression, ex.ComparePair):
        return _truth_of_pair(expression, flat)
    if isinstance(expression, ex.CompareFormulas):
        sides = [_calculated(each, flat) for each in (expression.left, expression.right)]
        return None if None in sides else _COMPARE[expression.operator](*sides)
    assert isinstance(expression, _Condition), expression
    return _truth_of_value(expression, _value(expression.key, flat))


def _has_pattern(value: str, pattern: Pattern) -> bool:
    """Whether a text has the form of a pattern; what a regular expression means is RE2's to say."""
    return pattern.matches(value) if isinstance(pattern, Regex) else has_form(value, pattern.text)


def _least(truths: list[bool | None]) -> bool | None:
    """False if one is, else unknown if one is, else true."""
    if False in truths:
        return False
    return None if None in truths else True


def _truth_of_value(condition: _Condition, value: Value | _Missing) -> bool | None:
    """A condition on one attribute whose value is known."""
    if isinstance(condition, ex.Exists):
        return not isinstance(value, _Missing)
    if isinstance(value, _Missing):
        return None
    if isinstance(condition, ex.IsNull):
        return value is None
    if isinstance(condition, ex.Distinct):
        return not _equal(value, condition.value)
    if isinstance(condition, ex.Unlike):
        return not (isinstance(value, str) and _has_pattern(value, condition.pattern))
    if isinstance(condition, ex.Matches):
        return _has_pattern(value, condition.pattern) if isinstance(value, str) else None
    if isinstance(condition, ex.In):
        if not any(_type(value) == _type(listed) for listed in condition.values):
            return None
        return any(_equal(value, listed) for listed in condition.values)
    if isinstance(condition, ex.Compare):
        if _type(value) != _type(condition.value):
            return None
        return _COMPARE[condition.operator](value, condition.value)
    assert_never(condition)


def _truth_within(condition: ex.Within, flat: Flat) -> bool | None:
    latitude, longitude = _value(condition.latitude, flat), _value(condition.longitude, flat)
    for degrees, most in ((latitude, 90), (longitude, 180)):
        if isinstance(degrees, _Missing) or _type(degrees) != "number":
            return None
        assert isinstance(degrees, (int, float))
        if abs(degrees) > most:
            return None
    return condition.shape.contains(latitude, longitude)  # type: ignore[arg-type]  # both are numbers here


def _truth_of_pair(condition: ex.ComparePair, flat: Flat) -> bool | None:
    left, right = _value(condition.left, flat), _value(condition.right, flat)
    if isinstance(left, _Missing) or isinstance(right, _Missing):
        return None
    if _type(left) != _type(right) or _type(left) in ("null", "NaN"):
        return None
    return _COMPARE[condition.operator](left, right)


def _calculated(formula: fm.Formula, flat: Flat) -> Fraction | None:
    """The value of a formula in exact arithmetic on decimals."""
    if isinstance(formula, fm.Numeral):
        return formula.value
    if isinstance(formula, fm.Variable):
        value = _value(formula.key, flat)
        if isinstance(value, (_Missing, str)) or _type(value) != "number" or isinf(value):  # type: ignore[arg-type]
            return None
        return Fraction(str(value))
    left, right = _calculated(formula.left, flat), _calculated(formula.right, flat)
    if left is None or right is None:
        return None
    if formula.sign in "+-*":
        return {"+": left + right, "-": left - right, "*": left * right}[formula.sign]
    if right == 0 or (formula.sign == "%" and not left.denominator == right.denominator == 1):
        return None
    return left / right if formula.sign == "/" else left - right * trunc(left / right)


def _type(value: Value) -> str:
    """Null, boolean, NaN, number or text: values of different types compare with nothing."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "text"
    return "NaN" if isnan(value) else "number"


def _equal(left: Value, right: Value) -> bool:
    return _type(left) == _type(right) and left == right


def _value(key: str, flat: Flat) -> Value | _Missing:
    """The value of an attribute, derived or not."""
    functions, base = split(key)
    value: Value | _Missing = flat.get(name_of(base), _MISSING)
    for function in reversed(functions):
        value = _derived(function, value)
    return value


def _derived(function: str, value: Value | _Missing) -> Value | _Missing:
    if function in {"lower", "reverse"}:
        if not isinstance(value, str):
            return value
        return fold(value) if function == "lower" else value[::-1]
    if not isinstance(value, str):
        return _MISSING
    read = ip_text(value) if function == "ip" else microseconds_of(value)
    return _MISSING if read is None else read


def has_form(text: str, pattern: str) -> bool:
    """Whether text has the form of a pattern: `%` any text, `_` one character, a backslash takes the next as it is."""
    places = {0}  # how much of the text the pattern read so far can stand for
    characters = iter(pattern)
    for character in characters:
        if character == "%":
            places = set(range(min(places, default=len(text) + 1), len(text) + 1))
        elif character == "_":
            places = {place + 1 for place in places if place < len(text)}
        else:
            wanted = next(characters) if character == "\\" else character
            places = {place + 1 for place in places if text[place : place + 1] == wanted}
    return len(text) in places
