"""Read `formula(price * quantity > 500)` in filter text: a comparison of arithmetic on attributes and decimals.

comparison = sum ("=" | "!=" | "<>" | "<" | "<=" | ">" | ">=") sum
sum        = product {("+" | "-") product}
product    = part {("*" | "/" | "%") part}
part       = ["-"] part | "(" sum ")" | name | '"' any characters '"' | number
"""

from __future__ import annotations

from fractions import Fraction

from thatch.errors import FilterError, FilterTooLargeError
from thatch.model.expressions import Expression, compare_formulas
from thatch.model.formulas import MOST_PARTS, Formula, Numeral, Operation, Variable
from thatch.model.language.reading import COMPARISONS, Reader
from thatch.model.names import split

__all__ = ["read_formulas", "read_sum"]

_MAX_NESTING = 64
_LONGEST = 400  # characters of a number
_DIGITS = "0123456789."


def read_formulas(reader: Reader) -> Expression:
    """The comparison in brackets behind the word that comes next."""
    start = reader.index
    reader.index += 2
    left = read_sum(reader)
    operator = COMPARISONS.get(reader.tokens[reader.index])
    if operator is None:
        reader.refuse("`=`, `!=`, `<`, `<=`, `>`, `>=` or one of `+ - * / %`")
    reader.index += 1
    right = read_sum(reader)
    reader.take(")", "`)` or one of `+ - * / %`")
    try:
        return compare_formulas(left, operator, right)
    except FilterTooLargeError:
        raise
    except FilterError as error:
        reader.index = start
        reader.refuse(error.expected)


def read_sum(reader: Reader, depth: int = 0) -> Formula:
    """Arithmetic, as far as it goes."""
    found = _product(reader, _part(reader, depth), depth)
    count = 0
    while reader.tokens[reader.index][:1] in ("+", "-") and reader.tokens[reader.index]:
        token = reader.tokens[reader.index]
        reader.index += 1
        first = _number(reader, token[1:]) if len(token) > 1 else _part(reader, depth)
        found = Operation(token[0], found, _product(reader, first, depth))
        count = _counted(reader, count)
    return found


def _product(reader: Reader, found: Formula, depth: int) -> Formula:
    count = 0
    while reader.tokens[reader.index] in ("*", "/", "%"):
        sign = reader.tokens[reader.index]
        reader.index += 1
        found = Operation(sign, found, _part(reader, depth))
        count = _counted(reader, count)
    return found


def _counted(reader: Reader, count: int) -> int:
    if count >= MOST_PARTS:
        raise FilterTooLargeError(
            "attributes and numbers in one formula", count + 1, MOST_PARTS, reader.where()
        )
    return count + 1


def _part(reader: Reader, depth: int) -> Formula:
    if depth > _MAX_NESTING:
        raise FilterTooLargeError("levels of nesting in a formula", depth, _MAX_NESTING, reader.where())
    token = reader.tokens[reader.index]
    if (token[:1] in _DIGITS and token.strip(".")) or (token[:1] in ("+", "-") and len(token) > 1):
        reader.index += 1
        return _number(reader, token)
    if token == "-":
        reader.index += 1
        return Operation("*", Numeral(Fraction(-1)), _part(reader, depth + 1))
    if token == "(":
        reader.index += 1
        found = read_sum(reader, depth + 1)
        reader.take(")", "`)`")
        return found
    start = reader.index
    key = reader.attribute()
    if split(key)[0]:
        reader.index = start
        reader.refuse("an attribute or a number: there are no functions in a formula")
    return Variable(key)


def _number(reader: Reader, token: str) -> Numeral:
    if len(token) <= _LONGEST:
        try:
            exponent = token.lower().partition("e")[2] or "0"
            if (
                abs(float(token)) < float("inf") and abs(int(exponent)) <= _LONGEST
            ):  # else it is worked out for long
                return Numeral(Fraction(token))
        except ValueError:
            pass
    reader.index -= 1
    reader.refuse("a number in the range of a double")
    return None
