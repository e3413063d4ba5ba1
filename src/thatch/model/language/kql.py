r"""The query language of Kibana (KQL) to an expression: `status >= 500 and not agent: curl*`.

    query      = term {"or" term}
    term       = factor {"and" factor}
    factor     = "not" factor | "(" query ")" | field ":" "{" query "}" | field ":" values | field order value | value
    order      = "<" | "<=" | ">" | ">="
    values     = value | "(" list ")", where a list joins values by "or", "and" and "not"
    value      = words, with `*` for any text | '"' any characters '"' | "*"
    field      = a word | '"' any characters '"'

A word as `200` means the number and the text `200`, `true` the boolean and the text; what stands in quotes is text. An order
compares numbers, timestamps or text, whichever its value looks like. As in Elasticsearch, `not` also holds where the field
is missing. A value without a field is looked for in all texts of the event. A backslash takes the next character as it is, but `\t`, `\r`, `\n` and `\u00e9` are what they usually are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite
from typing import NoReturn

from thatch.errors import FilterError, FilterSyntaxError, FilterTooLargeError, shown
from thatch.model.derived import canonical_literal
from thatch.model.expressions import Constant, Expression, Matches, Not
from thatch.model.grouping import MAX_LEAVES
from thatch.model.language.text import check_text
from thatch.model.language.truths import Truth, is_form, is_value, only_present, or_missing, order_or_missing
from thatch.model.names import ANYWHERE, derived_key, key_of
from thatch.model.values import MAX_INTEGER, MIN_INTEGER, canonical_number, is_text
from thatch.model.wildcards import escape_wildcard, wildcard

__all__ = ["expression_of_kql"]

_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[<>]=|[():{}<>]|(?:[^\s():{}<>"\\]|\\.)+|\S)', re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES = {"t": "\t", "r": "\r", "n": "\n"}
_MAX_NESTING = 64
_MOST_DIGITS = 300


def expression_of_kql(text: str) -> Expression:
    """The expression that a query stands for; an empty one matches everything."""
    check_text(text, "a query")
    return Constant(value=True) if not text.strip() else _Query(text).read()


class _Query:
    """The tokens of one query; `at` is the one that comes next, `path` what stands before the names in `{ … }`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[str] = [*_TOKEN.findall(text), ""]
        self._words = [each.lower() for each in self._tokens]
        self._at = 0
        self._path = ""

    def read(self) -> Expression:
        found = self._joined("or", self._condition, 0)
        if self._tokens[self._at]:
            self._refuse("`and`, `or` or the end")
        return found.yes

    # --- structure ---------------------------------------------------------------------------------------------

    def _joined(self, word: str, leaf: Callable[[int], Truth], depth: int) -> Truth:
        """What `or` or `and` joins; `leaf` reads what they join in the end."""
        parts: list[Truth] = []
        while not parts or self._words[self._at] == word:
            self._at += bool(parts)
            parts.append(self._joined("and", leaf, depth) if word == "or" else self._factor(leaf, depth))
            if len(parts) > MAX_LEAVES:
                raise FilterTooLargeError(f"conditions joined by `{word}`", len(parts), MAX_LEAVES)
        return Truth.any_of(parts) if word == "or" else Truth.all_of(parts)

    def _factor(self, leaf: Callable[[int], Truth], depth: int) -> Truth:
        is_negated = False
        while self._words[self._at] == "not":
            is_negated = not is_negated
            self._at += 1
        found = self._group(leaf, depth) if self._tokens[self._at] == "(" else leaf(depth)
        return found.negated() if is_negated else found

    def _group(self, leaf: Callable[[int], Truth], depth: int, end: str = ")") -> Truth:
        """What stands in parentheses, or in braces."""
        if depth >= _MAX_NESTING:
            raise FilterTooLargeError("levels of nesting", depth + 1, _MAX_NESTING)
        self._at += 1
        found = self._joined("or", leaf, depth + 1)
        self._take(end)
        return found

    # --- conditions --------------------------------------------------------------------------------------------

    def _condition(self, depth: int) -> Truth:
        if self._tokens[self._at] == "*" and self._tokens[self._at + 1] != ":":
            self._at += 1
            return Truth.of(value=True)
        if self._is_word() and self._words[self._at] not in ("and", "or") and not self._has_field():
            return self._anywhere()
        name = self._field()
        if self._tokens[self._at] in ("<", "<=", ">", ">="):
            self._at += 1
            return self._ordered(key_of(name), self._tokens[self._at - 1])
        self._take(":", "`:`, `<`, `<=`, `>` or `>=`")
        if name == "*":
            self._take("*")
            return Truth.of(value=True)
        if self._tokens[self._at] == "{":
            outer, self._path = self._path, name + "."
            found = self._group(self._condition, depth, "}")
            self._path = outer
            return found
        if self._tokens[self._at] == "(":
            return self._group(lambda _: self._value(key_of(name)), depth)
        return self._value(key_of(name))

    def _has_field(self) -> bool:
        return self._tokens[self._at + 1] in (":", "<", "<=", ">", ">=")

    def _anywhere(self) -> Truth:
        """A value without a field: some text of the event is that value."""
        if self._path:
            self._at += 1
            self._refuse("`:`, `<`, `<=`, `>` or `>=`: in braces every value needs its field")
        token, place = self._tokens[self._at], self._at
        words = self._phrase()
        text = self._text_of(token[1:-1] if token[0] == '"' else words, place)
        form = escape_wildcard(text) if token[0] == '"' else _form_of(words)
        found = Matches(ANYWHERE, wildcard(form))
        return Truth(found, Not(found))

    def _field(self) -> str:
        token = self._tokens[self._at]
        if not self._is_word() or self._words[self._at] in ("and", "or"):
            self._refuse("a field")
        if token[0] != '"' and "*" in _ESCAPED.sub("", token) and token != "*":
            self._refuse("the name of one field, without `*`")
        self._at += 1
        return self._path + self._text_of(token[1:-1] if token[0] == '"' else token, self._at - 1)

    def _value(self, key: str) -> Truth:
        """A field that is a value; words that follow each other are one."""
        token, place = self._tokens[self._at], self._at
        words = self._phrase()
        text = self._text_of(token[1:-1] if token[0] == '"' else words, place)
        if token[0] == '"':
            return or_missing(key, is_value(key, text))
        if words == "*":
            return only_present(key)
        if "*" in _ESCAPED.sub("", words):
            return or_missing(key, is_form(key, wildcard(_form_of(words))))
        literal = text == "true" if text in ("true", "false") else _number_of(words)
        as_text = or_missing(key, is_value(key, text))
        return (
            as_text if literal is None else Truth.any_of((or_missing(key, is_value(key, literal)), as_text))
        )

    def _ordered(self, key: str, operator: str) -> Truth:
        place, token = self._at, self._tokens[self._at]
        words = self._phrase()
        text = self._text_of(token[1:-1] if token[0] == '"' else words, place)
        number = _number_of(words)
        if number is not None:
            return order_or_missing(key, operator, number)
        if "now" in (text, text[:3]) and text[3:4] in ("", "-", "+", "/"):
            self._at = place
            self._refuse("a fixed time: one that moves with the clock is no filter")
        if _MOMENT.match(text):
            time = derived_key(("time",), key)
            try:
                return order_or_missing(time, operator, canonical_literal(time, text))
            except FilterError as error:
                self._at = place
                self._refuse(error.expected)
        return order_or_missing(key, operator, text)

    def _phrase(self) -> str:
        """One text in quotes, or the words up to the next operator; as they are written."""
        if not self._is_word() or self._words[self._at] in ("and", "or", "not"):
            self._refuse("a value")
        found = [self._tokens[self._at]]
        self._at += 1
        while found[0][0] != '"' and self._is_word() and self._words[self._at] not in ("and", "or", "not"):
            if self._tokens[self._at][0] == '"' or self._tokens[self._at + 1] in (":", "<", "<=", ">", ">="):
                break
            found.append(self._tokens[self._at])
            self._at += 1
        return " ".join(found)

    def _is_word(self) -> bool:
        token = self._tokens[self._at]
        return token not in ("", "(", ")", ":", "{", "}", "<", "<=", ">", ">=", '"', "\\")

    def _text_of(self, written: str, at: int) -> str:
        text = _plain(written)
        if not is_text(text):
            self._at = at
            self._refuse("text without lone surrogates")
        return text

    # --- errors ------------------------------------------------------------------------------------------------

    def _take(self, token: str, expected: str = "") -> None:
        if self._tokens[self._at] != token:
            self._refuse(expected or f"`{token}`")
        self._at += 1

    def _refuse(self, expected: str) -> NoReturn:
        token = self._tokens[self._at]
        got = f"`{shown(token)[1:-1]}`" if token else "the end of the query"
        got = "text that is not closed" if token == '"' else got
        places = [each.start(1) for each in _TOKEN.finditer(self._text)] + [len(self._text)]
        raise FilterSyntaxError(expected, got, self._text, places[self._at])


def _plain(text: str) -> str:
    """Text without backslashes. An escaped word of the language is that word, whatever it begins with."""
    if "\\" not in text:
        return text
    if text.lower() == "\\not":
        return text[1:]
    plain = _ESCAPED.sub(_character, text)
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _character(found: re.Match[str]) -> str:
    escape = found[1]
    return chr(int(escape[1:], 16)) if len(escape) > 1 else _ESCAPES.get(escape, escape)


def _form_of(words: str) -> str:
    """Words with `*` as a pattern of Thatch."""
    parts = re.split(r"((?:[^*\\]|\\.)+)", words, flags=re.DOTALL)
    return "".join(
        escape_wildcard(_plain(part)) if index % 2 else "%" * len(part) for index, part in enumerate(parts)
    )


def _number_of(text: str) -> int | float | None:
    """The number that a word looks like, if it has a place on the line."""
    if len(text) > _MOST_DIGITS or not _NUMBER.fullmatch(text):
        return None
    if text.lstrip("+-").isdigit():
        return int(text) if MIN_INTEGER <= int(text) <= MAX_INTEGER else None
    return canonical_number(float(text)) if isfinite(float(text)) else None
