r"""Matchers of Prometheus Alertmanager to an expression: `{severity=~"warn|crit", job!="test"}`.

    matchers = ["{"] [matcher {"," matcher} [","]] ["}"]
    matcher  = name ("=" | "!=" | "=~" | "!~") value
    name     = word | text in double quotes
    value    = word | text in double quotes

All matchers must hold. A label that is missing is an empty text, and a regular expression is tied to both ends of it. As
in Alertmanager, what the current syntax does not allow is read by the classic one, which also wins where both give a
meaning: there a name is `[a-zA-Z_:][a-zA-Z0-9_:]*`, and a value ends at the next comma outside quotes.
"""

from __future__ import annotations

import re
from typing import NoReturn

from thatch.errors import FilterError, FilterSyntaxError, FilterTooLargeError, shown
from thatch.model.expressions import (
    And,
    Compare,
    Constant,
    Distinct,
    Exists,
    Expression,
    In,
    Matches,
    Not,
    Or,
    Unlike,
)
from thatch.model.grouping import MAX_LEAVES
from thatch.model.language.text import check_text
from thatch.model.names import key_of
from thatch.model.regexes import regex

__all__ = ["expression_of_matchers"]

Matcher = tuple[str, str, str, int]  # name, operator, value, and where the value begins

# Text that is not closed is one token too: to look for its end from every quote in it would take long.
_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"?|=~|!=|!~|[={},]|[^\s{}!=~,\\"\'`]+|\S)', re.DOTALL)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_WORD = re.compile(r'[^\s{}!=~,\\"\'`]+')
_OPERATORS = ("=", "!=", "=~", "!~")
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|[0-3][0-7]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[abfnrtv\\\"])")
_PLAIN_ESCAPES = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    '"': '"',
}
_CLASSIC = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(=~|=|!=|!~)\s*(.*)", re.DOTALL)
_CLASSIC_PIECE = re.compile(r'(?:[^,"\\]|\\["\\]|\\|"(?:[^"\\]|\\["\\]|\\)*(?:"|\Z))*')
_CLASSIC_ESCAPE = re.compile(r'\\([n"\\])')
_CHOICES = re.compile(r"[^\\.+*?()\[\]{}^$]*")  # plain texts with `|` between them


def expression_of_matchers(text: str) -> Expression:
    """The expression that matchers stand for; none of them match every alert."""
    check_text(text, "matchers")
    classic = _classic(text)
    try:
        matchers = _Matchers(text).read()
    except FilterSyntaxError:
        if classic is None:
            raise
        matchers = classic
    if classic is not None and [each[:3] for each in classic] != [each[:3] for each in matchers]:
        matchers = classic
    parts = [_condition(text, *each) for each in matchers]
    return And(tuple(parts)) if len(parts) > 1 else parts[0] if parts else Constant(value=True)


# --- what a matcher means ----------------------------------------------------------------------------------------


def _condition(text: str, name: str, operator: str, value: str, place: int) -> Expression:
    key = key_of(name)
    is_missing = Not(Exists(key))
    if operator == "=":
        return Compare(key, "=", value) if value else Or((is_missing, Compare(key, "=", "")))
    if operator == "!=":
        return Or((is_missing, Distinct(key, value))) if value else Distinct(key, "")
    if _CHOICES.fullmatch(value):
        return _one_of(key, tuple(dict.fromkeys(value.split("|"))), negated=operator == "!~")
    try:
        pattern = regex(f"^(?:{value})$")
    except FilterError as error:
        raise FilterSyntaxError(error.expected, error.got, text, place) from None
    except ValueError as error:
        raise FilterSyntaxError(str(error), shown(value), text, place) from None
    if operator == "=~":
        found: Expression = Matches(key, pattern)
        return Or((is_missing, found)) if pattern.matches("") else found
    return Unlike(key, pattern) if pattern.matches("") else Or((is_missing, Unlike(key, pattern)))


def _one_of(key: str, values: tuple[str, ...], *, negated: bool) -> Expression:
    """A regular expression that is only a choice of texts."""
    is_missing = Not(Exists(key))
    if not negated:
        return Or((is_missing, In(key, values))) if "" in values else In(key, values)
    others = And(tuple(Distinct(key, each) for each in values))
    return others if "" in values else Or((is_missing, others))


# --- the current syntax ------------------------------------------------------------------------------------------


class _Matchers:
    """The tokens of matchers; `at` is the one that comes next."""

    def __init__(self, text: str) -> None:
        self._text = text
        found = [*_TOKEN.finditer(text)]
        self._tokens = [each.group(1) for each in found] + [""]
        self._places = [each.start(1) for each in found] + [len(text)]
        self._at = 0

    def read(self) -> list[Matcher]:
        found: list[Matcher] = []
        end = "}" if self._tokens[0] == "{" else ""
        self._at += bool(end)
        while self._tokens[self._at] != end:
            found.append(self._matcher())
            if len(found) > MAX_LEAVES:
                raise FilterTooLargeError("matchers", len(found), MAX_LEAVES)
            if self._tokens[self._at] != ",":
                break
            self._at += 1
        if self._tokens[self._at] != end:
            self._refuse("`,` or `}`" if end else "`,` or the end")
        if end and self._tokens[self._at + 1]:
            self._at += 1
            self._refuse("the end")
        return found

    def _matcher(self) -> Matcher:
        name = self._word("the name of a label")
        operator = self._tokens[self._at]
        if operator not in _OPERATORS:
            self._refuse("`=`, `!=`, `=~` or `!~`")
        self._at += 1
        place = self._places[self._at]
        return name, operator, self._word("a value"), place

    def _word(self, expected: str) -> str:
        token = self._tokens[self._at]
        if _WORD.fullmatch(token):
            self._at += 1
            return token
        quoted = _QUOTED.fullmatch(token)
        if quoted is None:
            self._refuse(expected)
        found = _unquoted(quoted[1])
        if found is None:
            self._refuse("text with the escapes of Go, as UTF-8")
        self._at += 1
        return found

    def _refuse(self, expected: str) -> NoReturn:
        token = self._tokens[self._at]
        got = f"`{shown(token)[1:-1]}`" if token else "the end of the matchers"
        got = "text that is not closed" if token[:1] == '"' and not _QUOTED.fullmatch(token) else got
        raise FilterSyntaxError(expected, got, self._text, self._places[self._at])


def _unquoted(body: str) -> str | None:
    """What stands in double quotes, without its escapes; None if one is wrong, or the bytes are not UTF-8."""
    if "\n" in body:
        return None
    if "\\" not in body:
        return body
    parts, at = [], 0
    while (next_ := body.find("\\", at)) >= 0:
        escape = _ESCAPE.match(body, next_)
        if escape is None:
            return None
        parts += [body[at:next_].encode(), _bytes_of(escape.group()[1:])]
        at = escape.end()
    parts.append(body[at:].encode())
    try:
        return b"".join(parts).decode()
    except UnicodeDecodeError:
        return None


def _bytes_of(escape: str) -> bytes:
    """What an escape stands for: a byte, or a character; bytes that no text has if there is no such character."""
    if escape in _PLAIN_ESCAPES:
        return _PLAIN_ESCAPES[escape].encode()
    if escape[0] not in "xuU":
        return bytes((int(escape, 8),))
    number = int(escape[1:], 16)
    if escape[0] == "x":
        return bytes((number,))
    is_character = number < 0x110000 and not 0xD800 <= number < 0xE000
    return chr(number).encode() if is_character else b"\xff"


# --- the classic syntax ------------------------------------------------------------------------------------------


def _classic(text: str) -> list[Matcher] | None:
    """The matchers in the classic syntax, None if there is something else."""
    start = int(text.startswith("{"))
    end = len(text) - text.endswith("}")
    found: list[Matcher] = []
    while start <= end:
        piece = _CLASSIC_PIECE.match(text, start, max(start, end)).group()  # type: ignore[union-attr]  # the pattern matches anything
        is_last = start + len(piece) >= end
        if is_last and not piece.strip():
            break
        read = _classic_matcher(piece, start)
        if read is None or len(found) >= MAX_LEAVES:
            return None
        found.append(read)
        start += len(piece) + 1
        if is_last:
            break
    return found


def _classic_matcher(piece: str, start: int) -> Matcher | None:
    start += len(piece) - len(piece.lstrip())
    parts = _CLASSIC.fullmatch(piece.strip())
    if parts is None or not parts[3]:
        return None
    raw = parts[3]
    if raw[0] == '"':
        if len(raw) < 2 or not re.fullmatch(r'(?:[^"\\]|\\.)*', raw[1:-1], re.DOTALL) or raw[-1] != '"':
            return None
        raw = raw[1:-1]
    elif not re.fullmatch(r'(?:[^"\\]|\\.|\\\Z)*', raw, re.DOTALL):
        return None
    value = _CLASSIC_ESCAPE.sub(lambda each: "\n" if each[1] == "n" else each[1], raw)
    return parts[1], parts[2], value, start + parts.start(3)
