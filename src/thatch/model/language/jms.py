r"""Selectors of JMS and SQL filters of AMQP to an expression: `price > 5 AND NOT cancelled`.

    condition  = term {"OR" term}
    term       = factor {"AND" factor}
    factor     = "NOT" factor | comparison
    comparison = sum [("=" | "<>" | "!=" | "<" | "<=" | ">" | ">=") sum
               | ["NOT"] "BETWEEN" sum "AND" sum | ["NOT"] "IN" "(" sum {"," sum} ")"
               | ["NOT"] "LIKE" text ["ESCAPE" character] | "IS" ["NOT"] "NULL"]
    sum        = product {("+" | "-") product}
    product    = sign {("*" | "/" | "%") sign}
    sign       = ("+" | "-") sign | "(" condition ")" | "EXISTS" "(" name ")" | name | number | text | "TRUE" | "FALSE"

Null is missing. A comparison with a missing attribute is unknown, one with a value of another type is false, and `NOT`
of unknown is unknown. A name in double quotes or square brackets may have any characters; beside an attribute, double
quotes hold text. A hyphen before a letter belongs to a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from math import isfinite
from typing import NoReturn, TypeVar

from thatch.errors import FilterError, FilterSyntaxError, FilterTooLargeError, shown
from thatch.model.expressions import Constant, Expression, Matches, Not
from thatch.model.formulas import Operation
from thatch.model.grouping import MAX_LEAVES
from thatch.model.language.arithmetic import Operand, Term, combined, signed
from thatch.model.language.jms_operands import compared, condition_of, is_one_of
from thatch.model.language.text import check_text
from thatch.model.language.truths import NEVER, Truth, only_present
from thatch.model.names import key_of
from thatch.model.values import MAX_INTEGER
from thatch.model.wildcards import escape_wildcard, wildcard

__all__ = ["expression_of_selector"]

_TOKEN = re.compile(
    r"""\s*(
      (?:\.\d+|\d+\.?\d*)(?:[eE][+-]?\d+)?[fFdDlL]?(?![\w.])
    | 0[xX][0-9a-fA-F]+(?!\w)
    | [^\W\d][\w$]*(?:[.](?=[\w$])[\w$]+|-(?=[^\W\d])[\w$]+)*
    | \$[\w$]*
    | '[^']*+(?:''[^']*+)*+'
    | "[^"]*+(?:""[^"]*+)*+"
    | \[[^][]+\]
    | <>|[<>!]=
    | \S
    )""",
    re.VERBOSE,
)
_COMPARISONS = {"=": "=", "<>": "!=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_WORDS = frozenset(("AND", "OR", "NOT", "BETWEEN", "IN", "LIKE", "ESCAPE", "IS", "NULL", "TRUE", "FALSE"))
_SUM = ("+", "-")
_PRODUCT = ("*", "/", "%")
_MAX_NESTING = 64
_LONGEST_NUMBER = 400
_EXACT = 2**53
_NUMBER = "0123456789."

Found = TypeVar("Found")


def expression_of_selector(text: str) -> Expression:
    """The expression that a selector stands for; an empty one selects everything."""
    check_text(text, "a selector")
    return Constant(value=True) if not text.strip() else _MessageSelector(text).read()


class _MessageSelector:
    """The tokens of one selector; `at` is the one that comes next."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[str] = [*_TOKEN.findall(text), ""]
        self._words = [each.upper() for each in self._tokens]
        self._at = 0

    def read(self) -> Expression:
        found = self._truth(self._joined("OR", 0), 0)
        if self._tokens[self._at]:
            self._refuse("`AND`, `OR` or the end")
        return found.yes

    # --- conditions --------------------------------------------------------------------------------------------

    def _joined(self, word: str, depth: int) -> Truth | Operand:
        """What `OR` or `AND` joins; a single operand stays one."""
        start = self._at
        first = self._joined("AND", depth) if word == "OR" else self._factor(depth)
        if self._words[self._at] != word:
            return first
        parts = [self._truth(first, start)]
        while self._words[self._at] == word:
            self._at += 1
            start = self._at
            each = self._joined("AND", depth) if word == "OR" else self._factor(depth)
            parts.append(self._truth(each, start))
            if len(parts) > MAX_LEAVES:
                raise FilterTooLargeError(f"conditions joined by `{word}`", len(parts), MAX_LEAVES)
        return Truth.all_of(parts) if word == "AND" else Truth.any_of(parts)

    def _factor(self, depth: int) -> Truth | Operand:
        is_negated = False
        start = self._at
        while self._words[self._at] == "NOT":
            is_negated = not is_negated
            self._at += 1
        if self._at == start:
            return self._comparison(depth)
        inner = self._at
        found = self._truth(self._comparison(depth), inner)
        return found.negated() if is_negated else found

    def _truth(self, found: Truth | Operand, at: int) -> Truth:
        """What stands where a condition must."""
        if isinstance(found, Truth):
            return found
        if isinstance(found, bool):
            return Truth.of(value=found)
        if isinstance(found, Operation):
            return Truth(NEVER, NEVER)
        if not isinstance(found, Term):
            self._at = at
            self._refuse("a condition such as `price > 5`, or a boolean attribute")
        return condition_of(found)

    def _comparison(self, depth: int) -> Truth | Operand:
        start = self._at
        left = self._chain(_SUM, depth)
        word = self._words[self._at]
        is_negated = word == "NOT"
        if word not in _COMPARISONS and word not in ("NOT", "BETWEEN", "IN", "LIKE", "IS"):
            return left
        subject = self._operand(left, start)
        self._at += 1
        if word in _COMPARISONS:
            return self._compared(subject, _COMPARISONS[word], depth)
        if word == "IS":
            return self._is(subject, start)
        if is_negated:
            word = self._words[self._at]
            self._at += 1
        if word == "BETWEEN":
            found = self._between(subject, depth)
        elif word == "IN":
            found = self._in(subject, depth)
        elif word == "LIKE":
            found = self._like(subject, start)
        else:
            self._at -= 1
            self._refuse("`BETWEEN`, `IN` or `LIKE`")
        return found.negated() if is_negated else found

    def _compared(self, left: Operand, operator: str, depth: int) -> Truth:
        start = self._at
        right = self._operand(self._chain(_SUM, depth), start)
        return self._told(lambda: compared(left, operator, right), start)

    def _between(self, subject: Operand, depth: int) -> Truth:
        low = self._compared(subject, ">=", depth)
        self._take("AND")
        return Truth.all_of((low, self._compared(subject, "<=", depth)))

    def _in(self, subject: Operand, depth: int) -> Truth:
        first = self._at + 1
        members: list[Operand] = []
        while self._tokens[self._at] == ("," if members else "("):
            self._at += 1
            start = self._at
            members.append(self._operand(self._chain(_SUM, depth), start))
        self._take(")" if members else "(")
        return self._told(lambda: is_one_of(subject, members), first)

    def _is(self, subject: Operand, start: int) -> Truth:
        is_negated = self._words[self._at] == "NOT"
        self._at += is_negated
        self._take("NULL")
        key = self._plain(subject, start)
        found = only_present(key)
        return found if is_negated else found.negated()

    def _like(self, subject: Operand, start: int) -> Truth:
        key = self._plain(subject, start)
        place = self._at
        pattern, escape = self._quoted("a pattern in single quotes"), ""
        if self._words[self._at] == "ESCAPE":
            self._at += 1
            escape = self._quoted("one character in single quotes")
            if len(escape) != 1:
                self._at -= 1
                self._refuse("one character in single quotes")
        form = _pattern_of(pattern, escape)
        if form is None:
            self._at = place
            self._refuse(f"a character after the last {escape}")
        found = Matches(key, wildcard(form))
        return Truth(found, Not(found))

    def _plain(self, subject: Operand, start: int) -> str:
        if not isinstance(subject, Term) or not subject.is_plain:
            self._at = start
            self._refuse("an attribute before `LIKE` or `IS NULL`")
        return subject.key

    # --- operands ----------------------------------------------------------------------------------------------

    def _operand(self, found: Truth | Operand, at: int) -> Operand:
        if isinstance(found, Truth):
            self._at = at
            self._refuse("an attribute or a constant, which can be compared")
        return found

    def _chain(self, signs: tuple[str, ...], depth: int) -> Truth | Operand:
        """Operands joined by signs, from left to right."""
        start = self._at
        left = self._chain(_PRODUCT, depth) if signs is _SUM else self._signed(depth)
        while self._tokens[self._at] in signs and self._tokens[self._at]:
            sign, place = self._tokens[self._at], self._at
            first = self._operand(left, start)
            self._at += 1
            after = self._at
            found = self._chain(_PRODUCT, depth) if signs is _SUM else self._signed(depth)
            second = self._operand(found, after)
            left = self._told(lambda a=first, b=second, s=sign: combined(a, s, b), place)  # type: ignore[misc]  # mypy infers no types for defaults of a lambda
        return left

    def _signed(self, depth: int) -> Truth | Operand:
        if depth > _MAX_NESTING:
            raise FilterTooLargeError("levels of nesting", depth, _MAX_NESTING)
        token = self._tokens[self._at]
        if token in ("+", "-"):
            self._at += 1
            start = self._at
            return signed(self._operand(self._signed(depth + 1), start), token)
        if token == "(":
            self._at += 1
            found = self._joined("OR", depth + 1)
            self._take(")")
            return found
        return self._leaf()

    def _leaf(self) -> Truth | Operand:
        token, word = self._tokens[self._at], self._words[self._at]
        if token[:1] in _NUMBER and token[:1] and token != ".":
            return self._number(token)
        if token[:1] == "'" and len(token) > 1:
            return self._quoted("text in single quotes")
        if word in ("TRUE", "FALSE"):
            self._at += 1
            return word == "TRUE"
        if word == "EXISTS" and self._tokens[self._at + 1] == "(":
            self._at += 2
            key = self._name().key
            self._take(")")
            return only_present(key)
        return self._name()

    def _name(self) -> Term:
        token = self._tokens[self._at]
        is_quoted = len(token) > 2 and token[0] in '"['
        if not is_quoted and (self._words[self._at] in _WORDS or not re.match(r"[^\W\d]|\$", token)):
            self._refuse("an attribute, a number, text in single quotes, `TRUE` or `FALSE`")
        if self._tokens[self._at + 1] == "(":
            self._refuse("an attribute: there is no function")
        self._at += 1
        if not is_quoted:
            return Term(key_of(token))
        text = token[1:-1].replace('""', '"') if token[0] == '"' else token[1:-1]
        return Term(key_of(text), quoted=text if token[0] == '"' else None)

    def _number(self, token: str) -> Fraction:
        if token[:2] in ("0x", "0X"):
            value = Fraction(int(token, 16)) if len(token) < 20 else Fraction(MAX_INTEGER + 1)
        else:
            plain = token.rstrip("fFdDlL")
            is_whole = plain.isdigit()
            number = float(plain) if len(plain) <= _LONGEST_NUMBER and plain.isascii() else float("inf")
            if not isfinite(number):
                self._refuse("a number in the range of a double")
            value = Fraction(plain) if is_whole or 0 < number < _EXACT else Fraction(number)
            if not is_whole:
                self._at += 1
                return value
        if value > MAX_INTEGER:
            self._refuse("an integer of 64 bits")
        self._at += 1
        return value

    def _quoted(self, expected: str) -> str:
        token = self._tokens[self._at]
        if len(token) < 2 or token[0] not in "'\"":
            self._refuse(expected)
        self._at += 1
        return token[1:-1].replace(token[0] * 2, token[0])

    # --- errors ------------------------------------------------------------------------------------------------

    def _told(self, read: Callable[[], Found], place: int) -> Found:
        """What `read` returns; what it refuses is refused at a token."""
        try:
            return read()
        except FilterError:
            raise
        except OverflowError:
            self._at = place
            self._refuse("a number in the range of a double")
        except ValueError as error:
            self._at = place
            self._refuse(str(error))

    def _take(self, word: str) -> None:
        if self._words[self._at] != word:
            self._refuse(f"`{word}`")
        self._at += 1

    def _refuse(self, expected: str) -> NoReturn:
        token = self._tokens[self._at]
        got = f"`{shown(token)[1:-1]}`" if token else "the end of the selector"
        if token in ("'", '"', "["):
            got = "text that is not closed" if token == "'" else "a name that is not closed"
        places = [each.start(1) for each in _TOKEN.finditer(self._text)] + [len(self._text)]
        raise FilterSyntaxError(expected, got, self._text, places[self._at])


def _pattern_of(text: str, escape: str) -> str | None:
    """A pattern of `LIKE` as one of Thatch, where a backslash takes the next character; None if nothing follows the escape."""
    parts: list[str] = []
    characters = iter(text)
    for each in characters:
        if each == escape:
            following = next(characters, None)
            if following is None:
                return None
            parts.append(escape_wildcard(following))
        else:
            parts.append(each if each in "%_" else escape_wildcard(each))
    return "".join(parts)
