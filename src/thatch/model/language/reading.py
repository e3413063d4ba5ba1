"""Read filter text token by token: attributes, literals, patterns, and errors that point at the place.

One `findall` gives all tokens. Positions are computed only when there is an error to point at.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from enum import Enum
from itertools import islice
from math import inf, isfinite, isinf, isnan, nan
from typing import Final, NoReturn

from thatch.errors import FilterError, FilterSyntaxError, FilterTooLargeError, shown
from thatch.model.derived import canonical_literal
from thatch.model.lines import Literal
from thatch.model.names import ANYWHERE, FUNCTIONS, KEYWORDS, derived_key, key_of, split
from thatch.model.regexes import Pattern
from thatch.model.values import MAX_INTEGER, MIN_INTEGER, canonical_number
from thatch.model.wildcards import wildcard

__all__ = [
    "COMPARISONS",
    "END",
    "UNREAD",
    "Reader",
    "plain_literal",
    "plain_values",
    "position_of",
    "tokens_of",
]

END = ""  # stands after the last token


class Unread(Enum):
    """A literal that needs a closer look."""

    UNREAD = 0


_TOKEN = re.compile(
    r"""\s*(
      [A-Za-z_][A-Za-z0-9_.]*
    | '[^']*+(?:''[^']*+)*+'
    | "[^"]*+(?:""[^"]*+)*+"
    | [+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?
    | <>|[<>=!]=|!~|&&|\|\||=~|[-+][iI][nN][fF][iI][nN][iI][tT][yY]\b
    | \S
    )""",
    re.VERBOSE | re.ASCII,  # to ignore case would slow all of it down
)
COMPARISONS = {"=": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
UNREAD: Final = Unread.UNREAD

_SPACE = " \t\n\r\f\v"  # at the end of a text the pattern would look at what is left of it once for each
_LONG_TEXT = 8_000_000
_MOST_TOKENS = 4_000_000
_STARTS_NUMBER = frozenset("0123456789.+-")
_MOST_DIGITS = 40  # of an integer, leading zeros included: int() of a million would take long
_EXACT = 2.0**53  # below this a double that is whole is the integer that was written

_NAME = re.compile(
    r"[^\W\d](?:[\w.:/@#$-]*\w)?"
)  # what people write as a name; only plain ones need no quotes
_LONGEST_NAME = 60  # of those that a hint shows

_HINTS = {
    "==": "Write one equals sign: `=`.",
    "&&": "Write `and`.",
    "||": "Write `or`.",
    "!": "Write `not`, or `!=`.",
    "=~": "Write `x ~ 'a+b'` to search for a regular expression.",
    "regexp": "Write `x ~ 'a+b'` to search for a regular expression.",
    "rlike": "Write `x ~ 'a+b'` to search for a regular expression.",
    "matches": "Write `x ~ 'a+b'` to search for a regular expression.",
    "ilike": "Write `lower(x) like 'abc%'` to ignore case.",
    "contains": "Write `x like '%abc%'`.",
    "startswith": "Write `x like 'abc%'`.",
    "endswith": "Write `x like '%abc'`.",
    "equals": "Write `=`.",
    "nan": "NaN is equal to nothing, so no comparison with it can hold.",
}
_ANYWHERE = ["anywhere", "(", ")"]
_OPERATORS = ("between", "in", "like", "is", "not", "and", "or")


_WORDS: dict[str, Literal] = {
    "true": True,
    "false": False,
    "null": None,
    "infinity": inf,
    "+infinity": inf,
    "-infinity": -inf,
}


def tokens_of(text: str) -> list[str]:
    """The tokens of a filter text, then `END`."""
    text = text.rstrip(_SPACE)
    if len(text) <= _LONG_TEXT:
        tokens = _TOKEN.findall(text)
    else:  # a list of a million values has few long tokens; many short ones would take much memory
        tokens = [found[1] for found in islice(_TOKEN.finditer(text), _MOST_TOKENS + 1)]
        if len(tokens) > _MOST_TOKENS:
            raise FilterTooLargeError("words and signs of filter text", len(tokens), _MOST_TOKENS)
    tokens.append(END)
    return tokens


def position_of(text: str, index: int) -> int:
    """Where the token of that number begins."""
    for number, found in enumerate(_TOKEN.finditer(text.rstrip(_SPACE))):
        if number == index:
            return found.start(1)
    return len(text.rstrip())


def plain_literal(token: str) -> Literal | Unread:
    """A literal that can be read without its surroundings, else `UNREAD`. Most literals are of this kind."""
    if token.isdigit() and token.isascii():
        return int(token) if len(token) < 19 else UNREAD
    first = token[:1]
    if first == "'":
        text = token[1:-1]
        return text.replace("''", "'") if "'" in text else text if len(token) > 1 else UNREAD
    if first in _STARTS_NUMBER:
        try:
            number = float(token)
        except ValueError:
            return UNREAD
        if not number.is_integer():
            return number if isfinite(number) else UNREAD
        return int(number) if abs(number) < _EXACT else UNREAD
    return UNREAD


def plain_values(tokens: list[str], start: int) -> tuple[tuple[Literal, ...], int] | None:
    """The rest of a list of texts and numbers, and where the next token stands; None if there is something else in it."""
    try:
        end = tokens.index(")", start)
    except ValueError:
        return None
    commas, values = tokens[start + 1 : end : 2], tuple(map(plain_literal, tokens[start:end:2]))
    if not values or UNREAD in values or len(commas) != len(values) - 1 or commas.count(",") != len(commas):
        return None
    return values, end + 1  # type: ignore[return-value]  # none is unread


class Reader:
    """The tokens of one text; `index` is the token that comes next."""

    __slots__ = ("index", "text", "tokens")

    def __init__(self, text: str, tokens: list[str] | None = None) -> None:
        self.text = text
        self.tokens = tokens_of(text) if tokens is None else tokens
        self.index = 0

    # --- leaves ------------------------------------------------------------------------------------------------

    def attribute(self, *, or_anywhere: bool = False) -> str:
        """An attribute, or functions of one; if asked for, also all texts of the event."""
        start = self.index
        functions: list[str] = []
        while self.tokens[self.index].lower() in FUNCTIONS and self.tokens[self.index + 1] == "(":
            functions.append(self.tokens[self.index].lower())
            self.index += 2
        is_anywhere = (
            or_anywhere and [each.lower() for each in self.tokens[self.index : self.index + 3]] == _ANYWHERE
        )
        self.index += 3 * is_anywhere
        key = ANYWHERE if is_anywhere else self._name()
        for _ in functions:
            self.take(")", "`)`")
        if not functions:
            return key
        try:
            return derived_key(tuple(functions), key)
        except FilterError as error:
            self.index = start
            self.refuse(error.expected)

    def is_attribute(self) -> bool:
        """Whether an attribute comes next, on the right of a comparison; there a name in double quotes is taken for text."""
        token = self.tokens[self.index]
        if not token or not (token[0].isalpha() or token[0] == "_"):
            return False
        word = token.lower()
        return word not in KEYWORDS or (word in FUNCTIONS and self.tokens[self.index + 1] == "(")

    def other(self) -> str:
        """The attribute that another is compared with: with `attr(...)` around it, it may stand in double quotes."""
        if self.tokens[self.index].lower() != "attr" or self.tokens[self.index + 1] != "(":
            return self.attribute()
        self.index += 2
        key = self.attribute()
        self.take(")", "`)`")
        return key

    def _name(self) -> str:
        token = self.tokens[self.index]
        if token.startswith('"') and len(token) > 1:
            self.index += 1
            return key_of(token[1:-1].replace('""', '"'))
        if not (token and token.isascii() and (token[0].isalpha() or token[0] == "_")):
            self.refuse_left_side()
        if self.tokens[self.index + 1] == "(":
            self.refuse("an attribute, `lower(x)`, `exists(x)`, `cidr(x, ...)` or `within(...)`")
        if token.lower() in KEYWORDS:
            self.refuse("an attribute", f'An attribute called {token} stands in double quotes: "{token}".')
        self.index += 1
        return token

    def literal(self, key: str) -> tuple[str, Literal]:
        """A literal, and the attribute it is compared with: `time(x)` if the literal is a timestamp."""
        token = self.tokens[self.index]
        first = token[:1]
        value: Literal
        if first == "'" and len(token) > 1:
            self.index += 1
            value = token[1:-1].replace("''", "'")
        elif first in _STARTS_NUMBER and len(token) + first.isdigit() > 1 and token[-1] not in "yY":
            value = self.number()
        else:
            word = token.lower()
            if word == "timestamp":
                return self._timestamp(key)
            if word not in _WORDS:
                self._refuse_literal()
            self.index += 1
            value = _WORDS[word]
        return key, value if key[-1] != ")" else self._read_for(key, value)

    def plain_list(self) -> tuple[Literal, ...] | None:
        """The rest of a list of texts and numbers; None if there is something else in it."""
        found = plain_values(self.tokens, self.index)
        if found is None:
            return None
        values, self.index = found
        return values

    def _timestamp(self, key: str) -> tuple[str, Literal]:
        self.index += 1
        if split(key)[0] not in ((), ("time",)):
            self.refuse("an attribute or time(x) beside a timestamp")
        key = derived_key(("time",), key) if key[-1] != ")" else key
        return key, self._read_for(key, self.quoted_text("a timestamp such as '2026-01-31T12:00:00Z'"))

    def _read_for(self, key: str, value: Literal) -> Literal:
        """A literal beside a function of an attribute: `ip(x)` wants an address, `time(x)` a timestamp."""
        try:
            return canonical_literal(key, value)
        except FilterError as error:
            self.index -= 1
            self.refuse(error.expected)

    def number(self) -> int | float:
        token = self.tokens[self.index]
        try:
            value = float(token) if token[:1] in _STARTS_NUMBER else nan
        except ValueError:
            value = nan
        if isnan(value) or token[-1] in "yY":  # -infinity is a word
            self.refuse("a number")
        if isinf(value):
            self.refuse("a number in the range of a double", "Write `infinity` for the infinite number.")
        self.index += 1
        if not token.lstrip("+-").isdigit():
            return canonical_number(value)
        if len(token) > _MOST_DIGITS or not MIN_INTEGER <= int(token) <= MAX_INTEGER:
            self.index -= 1
            self.refuse(
                "an integer of 64 bits", "Write it with a decimal point to compare with the nearest double."
            )
        return int(token)

    def quoted_text(self, expected: str) -> str:
        token = self.tokens[self.index]
        if token[:1] != "'" or len(token) < 2:
            hint = "Text stands in single quotes." if token[:1] == '"' else ""
            self.refuse(expected, hint)
        self.index += 1
        return token[1:-1].replace("''", "'")

    def pattern(self, read: Callable[[str], Pattern] = wildcard) -> Pattern:
        text = self.quoted_text("a pattern in single quotes")
        try:
            return read(text)
        except FilterError:  # a ValueError too, but it already says what is wrong
            raise
        except ValueError as error:
            self.index -= 1
            self.refuse(str(error))

    def textual(self, key: str, what: str) -> str:
        if split(key)[0][:1] in (("ip",), ("time",)):
            self.index -= 1
            self.refuse(f"an attribute or lower(x) before `{what}`")
        return key

    # --- errors ------------------------------------------------------------------------------------------------

    def take(self, token: str, expected: str) -> None:
        if self.tokens[self.index] != token:
            self.refuse(expected)
        self.index += 1

    def where(self) -> str:
        return f"column {position_of(self.text, self.index) + 1}"

    def refuse(self, expected: str, hint: str = "") -> NoReturn:
        """Raise with the next token as what came."""
        token = self.tokens[self.index]
        got = "the end of the filter" if token == END else f"`{shown(token)[1:-1]}`"
        if token == "'":
            got, hint = "text that is not closed", "Put a single quote after it."
        elif token == '"':
            got, hint = "a name that is not closed", "Put a double quote after it."
        hint = hint or _HINTS.get(token.lower(), "")
        if not hint and token.isalpha():
            near = get_close_matches(token.lower(), _OPERATORS, 1, 0.7)
            hint = f"Did you mean `{near[0]}`?" if near and near[0] != token.lower() else ""
        position = position_of(self.text, self.index)
        raise FilterSyntaxError(
            expected, got, self.text, position, hint or _quoting_hint(self.text, position)
        )

    def refuse_left_side(self) -> NoReturn:
        following = self.tokens[self.index + 1] if self.tokens[self.index] else END
        hint = "The attribute stands on the left: `price > 5`." if following in COMPARISONS else ""
        self.refuse("an attribute", _quoting_hint(self.text, position_of(self.text, self.index)) or hint)

    def refuse_operator(self, key: str) -> NoReturn:
        hint = ""
        token = self.tokens[self.index].lower()
        if token in ("", ")", "and", "or"):
            hint = f"For a boolean attribute write `{key} = true`; for presence, `exists({key})`."
        self.refuse("a comparison such as `=`, `<`, `between`, `in`, `like` or `is`", hint)

    def _refuse_literal(self) -> NoReturn:
        token = self.tokens[self.index]
        hint = ""
        if token[:1] == '"' and len(token) > 1:
            name = shown(token)[2:-2]
            hint = (
                f"Text stands in single quotes: '{name}'. Another attribute is written attr(\"{name}\") here."
            )
        elif token[:1].isalpha() and token.lower() != "nan":
            hint = f"Text stands in single quotes: '{shown(token)[1:-1]}'. Two attributes are compared by =, <, … alone."
        self.refuse("a number, text in single quotes, `true`, `false` or `null`", hint)


def _quoting_hint(text: str, position: int) -> str:
    """What to do if a name that needs quotes stands at a position, or began before it; else nothing."""
    start = position
    while (
        start > max(position - _LONGEST_NAME, 0)
        and not text[start - 1].isspace()
        and text[start - 1] not in "'\"(,"
    ):
        start -= 1
    found = _NAME.match(text, start)
    if found is None or not start <= position < found.end() or found.end() - start > _LONGEST_NAME:
        return ""
    name = found.group()
    is_plain = key_of(name) == name or name.lower() in KEYWORDS
    return "" if is_plain else f'An attribute called {name} stands in double quotes: "{name}".'
