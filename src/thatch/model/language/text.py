"""SQL-style filter text to an expression: a precedence parser by hand.

    expression  = term {"or" term}
    term        = factor {"and" factor}
    factor      = "not" factor | "(" expression ")" | "true" | "false" | condition
    condition   = "exists" "(" attribute ")"
                | "cidr" "(" attribute "," text ")"
                | "within" "(" attribute "," attribute "," shape ")"
                | attribute comparison
    comparison  = ("=" | "!=" | "<>" | "<" | "<=" | ">" | ">=") literal
                | ["not"] "between" literal "and" literal
                | ["not"] "in" "(" literal {"," literal} ")"
                | ["not"] "like" text
                | "is" ["not"] ("null" | "missing" | "distinct" "from" literal | "unlike" text)
    attribute   = name | '"' any characters '"' | function "(" attribute ")"
    function    = "lower" | "reverse" | "ip" | "time"
    literal     = number | text | "true" | "false" | "null" | ["-"] "infinity" | "timestamp" text
    shape       = "circle" "(" number "," number "," number ")"
                | "polygon" "(" corner "," corner "," corner {"," corner} ")"
    corner      = "(" number "," number ")"

Key words are not case-sensitive. Text stands in single quotes, doubled inside. In `like`, `%` is any text, `_` any
one character, and a backslash takes the next character literally.
"""

from __future__ import annotations

from difflib import get_close_matches
from ipaddress import ip_network
from math import inf, isinf
from typing import NoReturn

from thatch.errors import FilterError, FilterSyntaxError, FilterTooLargeError, shown
from thatch.model.derived import ip_text, microseconds_of
from thatch.model.expressions import (
    And,
    Compare,
    Constant,
    Distinct,
    Exists,
    Expression,
    In,
    IsNull,
    Matches,
    Not,
    Or,
    Unlike,
    Within,
)
from thatch.model.language.tokens import END, position_of, tokens_of
from thatch.model.lines import Literal
from thatch.model.names import KEYWORDS, derived, key_of, split
from thatch.model.shapes import Circle, Polygon, Shape
from thatch.model.values import MAX_INTEGER, MIN_INTEGER, is_text
from thatch.model.wildcards import Wildcard, wildcard

__all__ = ["MAX_LENGTH", "MAX_NESTING", "expression_of_text"]

MAX_LENGTH = 8_000_000
MAX_NESTING = 200

_COMPARISONS = {"=": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_FUNCTIONS = frozenset({"lower", "reverse", "ip", "time"})
_STARTS_NUMBER = frozenset("0123456789.+-")

_HINTS = {
    "==": "Write one equals sign: `=`.",
    "&&": "Write `and`.",
    "||": "Write `or`.",
    "!": "Write `not`, or `!=`.",
    "=~": "Regular expressions are not supported; `like 'abc%'` tests the form of text.",
    "~": "Regular expressions are not supported; `like 'abc%'` tests the form of text.",
    "regexp": "Regular expressions are not supported; `like 'abc%'` tests the form of text.",
    "rlike": "Regular expressions are not supported; `like 'abc%'` tests the form of text.",
    "matches": "Regular expressions are not supported; `like 'abc%'` tests the form of text.",
    "ilike": "Write `lower(x) like 'abc%'` to ignore case.",
    "contains": "Write `x like '%abc%'`.",
    "startswith": "Write `x like 'abc%'`.",
    "endswith": "Write `x like '%abc'`.",
    "equals": "Write `=`.",
    "nan": "NaN is equal to nothing, so no comparison with it can hold.",
}
_OPERATORS = ("between", "in", "like", "is", "not", "and", "or")


def expression_of_text(text: str) -> Expression:
    """The expression that a filter text stands for.

    Raises
    ------
    FilterSyntaxError
        If the text does not parse; with line, column, a caret and, for near misses, a suggestion.
    FilterTooLargeError
        If the text is longer or nested deeper than the limits.
    """
    if not isinstance(text, str):
        raise FilterError("filter text", f"{shown(text)} of type {type(text).__name__}")
    if len(text) > MAX_LENGTH:
        raise FilterTooLargeError("characters of filter text", len(text), MAX_LENGTH)
    if not is_text(text):
        place = next(i for i, character in enumerate(text) if "\ud800" <= character <= "\udfff")
        raise FilterSyntaxError("text without lone surrogates", shown(text[place]), text, place)
    parser = _Parser(text)
    expression = parser.expression(0)
    if parser.tokens[parser.index] != END:
        parser.refuse("`and`, `or` or the end")
    return expression


class _Parser:
    """One parse of one text; `index` is the token that comes next."""

    __slots__ = ("index", "text", "tokens")

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens_of(text)
        self.index = 0

    # --- structure ---------------------------------------------------------------------------------------------

    def expression(self, depth: int) -> Expression:
        first = self._term(depth)
        if self.tokens[self.index].lower() != "or":
            return first
        parts = [first]
        while self.tokens[self.index].lower() == "or":
            self.index += 1
            parts.append(self._term(depth))
        return Or(tuple(parts))

    def _term(self, depth: int) -> Expression:
        first = self._factor(depth)
        if self.tokens[self.index].lower() != "and":
            return first
        parts = [first]
        while self.tokens[self.index].lower() == "and":
            self.index += 1
            parts.append(self._factor(depth))
        return And(tuple(parts))

    def _factor(self, depth: int) -> Expression:
        tokens = self.tokens
        token = tokens[self.index]
        operator = _COMPARISONS.get(tokens[self.index + 1]) if token else None
        if operator and token[0] not in "'\"(" and (token.lower() not in KEYWORDS):
            return self._comparison(token, operator)
        word = token.lower()
        if word in ("not", "("):
            if depth >= MAX_NESTING:
                raise FilterTooLargeError("levels of nesting", depth + 1, MAX_NESTING, self._where())
            self.index += 1
            if word == "not":
                return Not(self._factor(depth + 1))
            inner = self.expression(depth + 1)
            self._take(")", "`and`, `or` or `)`")
            return inner
        return self._condition(word)

    def _comparison(self, name: str, operator: str) -> Expression:
        """The most common condition: a plain name, an operator, a literal."""
        if not (name[0].isalpha() or name[0] == "_"):
            self._refuse_left_side()
        self.index += 2
        return self._compared(name, operator)

    def _condition(self, word: str) -> Expression:
        following = self.tokens[self.index + 1] if self.tokens[self.index] else END
        if word in ("true", "false") and following not in _COMPARISONS:
            self.index += 1
            return Constant(word == "true")
        if following == "(":
            if word == "exists":
                self.index += 2
                key = self._attribute()
                self._take(")", "`)`")
                return Exists(key)
            if word == "cidr":
                return self._cidr()
            if word == "within":
                return self._within()
        key = self._attribute()
        return self._tail(key)

    def _tail(self, key: str) -> Expression:
        """What is said of an attribute."""
        token = self.tokens[self.index]
        operator = _COMPARISONS.get(token)
        if operator:
            self.index += 1
            return self._compared(key, operator)
        word = token.lower()
        if word == "is":
            self.index += 1
            return self._is(key)
        negated = word == "not"
        if negated:
            self.index += 1
            word = self.tokens[self.index].lower()
        if word == "in":
            self.index += 1
            condition = self._in(key)
        elif word == "like":
            self.index += 1
            condition = Matches(self._textual(key, "like"), self._pattern())
        elif word == "between":
            self.index += 1
            condition = self._between(key)
        else:
            self._refuse_operator(key)
        return Not(condition) if negated else condition

    def _compared(self, key: str, operator: str) -> Expression:
        start = self.index
        key, value = self._literal(key)
        if value is None:
            if operator not in ("=", "!="):
                self.index = start
                self.refuse("a value that can be ordered", "Write `is null` or `is not null`.")
            return IsNull(key) if operator == "=" else Not(IsNull(key))
        return Compare(key, operator, value)

    def _between(self, key: str) -> Expression:
        low_key, low = self._literal(key)
        if self.tokens[self.index].lower() != "and":
            self.refuse("`and` between the two ends")
        self.index += 1
        high_key, high = self._literal(key)
        if low is None or high is None:
            self.index -= 1
            self.refuse("two values that can be ordered")
        return And((Compare(low_key, ">=", low), Compare(high_key, "<=", high)))

    def _in(self, key: str) -> Expression:
        self._take("(", "`(`")
        values: list[Literal] = []
        keys = set()
        while True:
            value_key, value = self._literal(key)
            keys.add(value_key)
            values.append(value)
            if self.tokens[self.index] != ",":
                break
            self.index += 1
        self._take(")", "`,` or `)`")
        if len(keys) > 1:
            self.index -= 1
            self.refuse("either timestamps or other values, not both")
        return membership(keys.pop(), values)

    def _is(self, key: str) -> Expression:
        negated = self.tokens[self.index].lower() == "not"
        self.index += negated
        word = self.tokens[self.index].lower()
        self.index += 1
        condition: Expression
        if word == "null":
            condition = IsNull(key)
        elif word == "missing":
            condition = Not(Exists(key))
        elif word == "distinct":
            if self.tokens[self.index].lower() != "from":
                self.refuse("`from`")
            self.index += 1
            key, value = self._literal(key)
            condition = Distinct(key, value)
        elif word == "unlike":
            condition = Unlike(self._textual(key, "is unlike"), self._pattern())
        else:
            self.index -= 1
            self.refuse("`null`, `not null`, `missing`, `distinct from` or `unlike`")
        return Not(condition) if negated else condition

    # --- functions ---------------------------------------------------------------------------------------------

    def _cidr(self) -> Expression:
        self.index += 2
        key = self._attribute()
        self._take(",", "`,`")
        start = self.index
        text = self._text("a network such as '10.0.0.0/8'")
        try:
            condition = network(key, text)
        except FilterError as error:
            self.index = start
            self.refuse(error.expected)
        self._take(")", "`)`")
        return condition

    def _within(self) -> Expression:
        self.index += 2
        latitude = self._attribute()
        self._take(",", "`,`")
        longitude = self._attribute()
        self._take(",", "`,`")
        start = self.index
        try:
            condition = geofence(latitude, longitude, self._shape())
        except FilterSyntaxError:
            raise
        except FilterError as error:
            self.index = start
            self.refuse(error.expected)
        self._take(")", "`)`")
        return condition

    def _shape(self) -> Shape:
        word = self.tokens[self.index].lower()
        if word not in ("circle", "polygon"):
            self.refuse("`circle(lat, lon, metres)` or `polygon((lat, lon), ...)`")
        self.index += 1
        self._take("(", "`(`")
        if word == "circle":
            numbers = [self._number()]
            for _ in range(2):
                self._take(",", "`,`")
                numbers.append(self._number())
            self._take(")", "`)`")
            return Circle(*numbers)
        corners = []
        while True:
            self._take("(", "a corner `(lat, lon)`")
            latitude = self._number()
            self._take(",", "`,`")
            corners.append((latitude, self._number()))
            self._take(")", "`)`")
            if self.tokens[self.index] != ",":
                break
            self.index += 1
        self._take(")", "`,` or `)`")
        return Polygon(tuple(corners))

    # --- leaves ------------------------------------------------------------------------------------------------

    def _attribute(self) -> str:
        token = self.tokens[self.index]
        if token.startswith('"') and len(token) > 1:
            self.index += 1
            return key_of(token[1:-1].replace('""', '"'))
        word = token.lower()
        if not (token and (token[0].isalpha() or token[0] == "_")):
            self._refuse_left_side()
        if self.tokens[self.index + 1] == "(":
            if word not in _FUNCTIONS:
                self.refuse("an attribute, `lower(x)`, `exists(x)`, `cidr(x, ...)` or `within(...)`")
            start = self.index
            self.index += 2
            key = self._attribute()
            self._take(")", "`)`")
            try:
                return derived((word,), key)
            except FilterError as error:
                self.index = start
                self.refuse(error.expected)
        if word in KEYWORDS:
            self.refuse("an attribute", f'An attribute called {token} stands in double quotes: "{token}".')
        self.index += 1
        return token

    def _literal(self, key: str) -> tuple[str, Literal]:
        """A literal, and the attribute it is compared with: `time(x)` if the literal is a timestamp."""
        token = self.tokens[self.index]
        first = token[:1]
        if first == "'" and len(token) > 1:
            self.index += 1
            text = token[1:-1].replace("''", "'")
            return (key, text) if key[-1] != ")" else (key, self._read_for(key, text))
        if first in _STARTS_NUMBER and len(token) + first.isdigit() > 1 and token[-1] not in "yY":
            value: Literal = self._number()
        else:
            word = token.lower()
            if word == "timestamp":
                return self._timestamp(key)
            if word not in _WORDS:
                self._refuse_literal()
            self.index += 1
            value = _WORDS[word]
        if key[-1] == ")" and value is not None and split(key)[0][0] in ("ip", "time"):
            self.index -= 1
            self.refuse("an address" if key.startswith("ip") else "a timestamp such as '2026-01-31T12:00:00Z'")
        return key, value

    def _timestamp(self, key: str) -> tuple[str, Literal]:
        self.index += 1
        if split(key)[0] not in ((), ("time",)):
            self.refuse("an attribute or time(x) beside a timestamp")
        key = derived(("time",), key) if key[-1] != ")" else key
        return key, self._read_for(key, self._text("a timestamp such as '2026-01-31T12:00:00Z'"))

    def _read_for(self, key: str, text: str) -> Literal:
        """Text beside `ip(x)` or `time(x)` is an address or a moment."""
        function = split(key)[0][0]
        value: Literal = text
        if function == "ip":
            value = ip_text(text)
        elif function == "time":
            value = microseconds_of(text)
        if value is None:
            self.index -= 1
            self.refuse("an address" if function == "ip" else "a timestamp such as '2026-01-31T12:00:00Z'")
        return value

    def _number(self) -> int | float:
        token = self.tokens[self.index]
        try:
            value: int | float
            if len(token) < 20 and token.lstrip("+-").isdigit():
                value = int(token)
            else:
                value = float(token)
                if value == int(value) and token.lstrip("+-").isdigit():
                    self._check_digits(token)
                    value = int(token)
        except (ValueError, OverflowError):
            if token[:1] in _STARTS_NUMBER and token[-1:].isdigit():
                self.refuse("a number in the range of a double")
            self.refuse("a number")
        if isinstance(value, float):
            if isinf(value):
                self.refuse("a number in the range of a double", "Write `infinity` for the infinite number.")
            if value.is_integer() and abs(value) < 2**63:
                value = int(value)
        elif not MIN_INTEGER <= value <= MAX_INTEGER:
            self.refuse("an integer of 64 bits", "Write it with a decimal point to compare with the nearest double.")
        self.index += 1
        return value

    def _check_digits(self, token: str) -> None:
        if len(token) > 40:
            self.refuse("an integer of 64 bits", "Write it with a decimal point to compare with the nearest double.")

    def _text(self, expected: str) -> str:
        token = self.tokens[self.index]
        if token[:1] != "'" or len(token) < 2:
            hint = "Text stands in single quotes." if token[:1] == '"' else ""
            self.refuse(expected, hint)
        self.index += 1
        return token[1:-1].replace("''", "'")

    def _pattern(self) -> Wildcard:
        text = self._text("a pattern in single quotes")
        try:
            return wildcard(text)
        except ValueError as error:
            self.index -= 1
            self.refuse(str(error))

    def _textual(self, key: str, what: str) -> str:
        if split(key)[0][:1] in (("ip",), ("time",)):
            self.index -= 1
            self.refuse(f"an attribute or lower(x) before `{what}`")
        return key

    # --- errors ------------------------------------------------------------------------------------------------

    def _take(self, token: str, expected: str) -> None:
        if self.tokens[self.index] != token:
            self.refuse(expected)
        self.index += 1

    def _where(self) -> str:
        place = position_of(self.text, self.index)
        return f"column {place + 1}"

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
        raise FilterSyntaxError(expected, got, self.text, position_of(self.text, self.index), hint)

    def _refuse_left_side(self) -> NoReturn:
        hint = ""
        token = self.tokens[self.index]
        following = self.tokens[self.index + 1] if token else END
        if following in _COMPARISONS:
            hint = "The attribute stands on the left: `price > 5`."
        self.refuse("an attribute", hint)

    def _refuse_operator(self, key: str) -> NoReturn:
        hint = ""
        token = self.tokens[self.index].lower()
        if token in ("", ")", "and", "or"):
            hint = f"For a boolean attribute write `{key} = true`; for presence, `exists({key})`."
        self.refuse("a comparison such as `=`, `<`, `between`, `in`, `like` or `is`", hint)

    def _refuse_literal(self) -> NoReturn:
        token = self.tokens[self.index]
        hint = ""
        if token[:1] == '"' and len(token) > 1:
            hint = f"Text stands in single quotes: '{shown(token)[2:-2]}'. Two attributes cannot be compared."
        elif token[:1].isalpha() and token.lower() != "nan":
            hint = f"Two attributes cannot be compared; text stands in single quotes: '{shown(token)[1:-1]}'."
        self.refuse("a number, text in single quotes, `true`, `false` or `null`", hint)


_WORDS: dict[str, Literal] = {
    "true": True,
    "false": False,
    "null": None,
    "infinity": inf,
    "+infinity": inf,
    "-infinity": -inf,
}


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
    address = derived(("ip",), key)
    first, last = ip_text(str(parsed[0])), ip_text(str(parsed[-1]))
    return And((Compare(address, ">=", first), Compare(address, "<=", last)))


def geofence(latitude: str, longitude: str, shape: Shape) -> Expression:
    """`within(latitude, longitude, shape)`."""
    if latitude == longitude or latitude[-1] == ")" or longitude[-1] == ")":
        raise FilterError("two different attributes, latitude and longitude", f"{latitude} and {longitude}")
    return Within(latitude, longitude, shape)
