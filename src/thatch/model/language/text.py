"""SQL-style filter text to an expression: a precedence parser by hand.

    expression  = term {"or" term}
    term        = factor {"and" factor}
    factor      = "not" factor | "(" expression ")" | "true" | "false" | condition
    condition   = "exists" "(" attribute ")"
                | "cidr" "(" attribute "," text ")"
                | "within" "(" attribute "," attribute "," shape ")"
                | "formula" "(" sum ("=" | "!=" | "<>" | "<" | "<=" | ">" | ">=") sum ")"
                | attribute comparison
                | sum ("=" | "!=" | "<>" | "<" | "<=" | ">" | ">=") sum
                | "anywhere" "(" ")" texts | "lower" "(" "anywhere" "(" ")" ")" texts
    comparison  = ("=" | "!=" | "<>" | "<" | "<=" | ">" | ">=") (literal | other)
                | ["not"] "between" literal "and" literal
                | ["not"] "in" "(" literal {"," literal} ")"
                | ["not"] "like" text
                | ("~" | "!~") text
                | "is" ["not"] ("null" | "missing" | "distinct" "from" literal | "unlike" ["~"] text)
    texts       = "=" text | ["not"] "in" "(" text {"," text} ")" | ["not"] "like" text | ("~" | "!~") text
    attribute   = name | '"' any characters '"' | function "(" attribute ")"
    function    = "lower" | "reverse" | "ip" | "time"
    other       = name | function "(" attribute ")" | "attr" "(" attribute ")"
    literal     = number | text | "true" | "false" | "null" | ["-"] "infinity" | "timestamp" text
    sum         = product {("+" | "-") product}
    product     = part {("*" | "/" | "%") part}
    part        = ["-"] part | "(" sum ")" | name | '"' any characters '"' | number
    shape       = "circle" "(" number "," number "," number ")"
                | "polygon" "(" corner "," corner "," corner {"," corner} ")"
    corner      = "(" number "," number ")"

Key words are not case-sensitive. Text stands in single quotes, doubled inside. In `like`, `%` is any text, `_` any
one character, and a backslash takes the next character literally. After `~` stands a regular expression in RE2's syntax, in
single quotes, that is searched for: `x ~ '^a+b'`.
"""

from __future__ import annotations

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
    IsNull,
    Matches,
    Not,
    Or,
    Unlike,
    compare_pair,
    geofence,
    membership,
    network,
)
from thatch.model.grouping import MAX_LEAVES
from thatch.model.language.anywhere import read_texts
from thatch.model.language.formulas import read_formulas
from thatch.model.language.plain_conditions import AND, OR, ConditionReader
from thatch.model.language.reading import COMPARISONS, END, UNREAD, plain_literal
from thatch.model.lines import Literal
from thatch.model.names import ANYWHERE, base_of, key_of
from thatch.model.regexes import regex
from thatch.model.shapes import Circle, Polygon, Shape
from thatch.model.values import is_text
from thatch.model.wildcards import wildcard

__all__ = ["MAX_LENGTH", "MAX_NESTING", "check_text", "expression_of_text"]

MAX_LENGTH = 32_000_000
MAX_NESTING = 200


def expression_of_text(text: str, tokens: list[str] | None = None) -> Expression:
    """The expression that a filter text stands for; its tokens may be known.

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
    parser = _Parser(text, tokens)
    expression = parser.expression(0)
    if parser.tokens[parser.index] != END:
        parser.refuse("`and`, `or` or the end")
    return expression


def check_text(source: object, name: str) -> None:
    """Refuse what is no text to read in another language: `name` is what it should be."""
    if not isinstance(source, str):
        raise FilterError(f"{name} as text", f"{shown(source)} of type {type(source).__name__}")
    if len(source) > MAX_LENGTH:
        raise FilterTooLargeError(f"characters of {name}", len(source), MAX_LENGTH)
    if not is_text(source):
        raise FilterError("text without lone surrogates", shown(source))


_CONDITIONS = frozenset(("not", "true", "false", "exists", "cidr", "within"))


class _Parser(ConditionReader):
    """One parse of one text."""

    __slots__ = ()

    # --- structure ---------------------------------------------------------------------------------------------

    def expression(self, depth: int) -> Expression:
        tokens, is_deep = self.tokens, depth >= MAX_NESTING
        first = self._term(depth)
        if tokens[self.index] not in OR:
            return first
        parts = [first]
        while tokens[self.index] in OR:
            self.index += 1
            part = None if is_deep else self.plain_condition()
            if part is None or tokens[self.index] in AND:
                part = self._term(depth, part)
            parts.append(part)
            if len(parts) > MAX_LEAVES:
                self._refuse_many(parts)
        return Or(tuple(parts))

    def _term(self, depth: int, first: Expression | None = None) -> Expression:
        """Conditions that `and` joins; the first may have been read."""
        tokens, is_deep = self.tokens, depth >= MAX_NESTING
        if first is None:
            first = None if is_deep else self.plain_condition()
        if first is None:
            first = self._factor(depth)
        if tokens[self.index] not in AND:
            return first
        parts = [first]
        while tokens[self.index] in AND:
            self.index += 1
            part = None if is_deep else self.plain_condition()
            parts.append(self._factor(depth) if part is None else part)
            if len(parts) > MAX_LEAVES:
                self._refuse_many(parts)
        return And(tuple(parts))

    def _refuse_many(self, parts: list[Expression]) -> NoReturn:
        what = "conditions joined by one `and` or `or`"
        raise FilterTooLargeError(what, len(parts), MAX_LEAVES, self.where())

    def _factor(self, depth: int) -> Expression:
        token = self.tokens[self.index]
        if token and token != "(":
            operator = COMPARISONS.get(self.tokens[self.index + 1])
            if operator is not None and key_of(token) == token:
                return self._comparison(token, operator)
        word = token.lower()
        if word not in _CONDITIONS and self.starts_sum():
            return self.compared_sums()
        if word in ("not", "("):
            if depth >= MAX_NESTING:
                raise FilterTooLargeError("levels of nesting", depth + 1, MAX_NESTING, self.where())
            self.index += 1
            if word == "not":
                return Not(self._factor(depth + 1))
            found = self.expression(depth + 1)
            self.take(")", "`and`, `or` or `)`")
            return found
        return self._condition(word)

    def _comparison(self, name: str, operator: str) -> Expression:
        """A plain name, an operator, and a literal, another attribute or arithmetic."""
        self.index += 2
        value = plain_literal(self.tokens[self.index])
        if value is UNREAD:
            return self._compared(name, operator)
        self.index += 1
        if self.goes_on():
            self.index -= 3
            return self.compared_sums()
        return Compare(name, operator, value)

    def _condition(self, word: str) -> Expression:
        following = self.tokens[self.index + 1] if self.tokens[self.index] else END
        if word in ("true", "false") and following not in COMPARISONS:
            self.index += 1
            return Constant(word == "true")
        if following == "(":
            if word == "exists":
                self.index += 2
                key = self.attribute()
                self.take(")", "`)`")
                return Exists(key)
            if word == "cidr":
                return self._cidr()
            if word == "within":
                return self._within()
            if word == "formula":
                return read_formulas(self)
        key = self.attribute(or_anywhere=True)
        return self._tail(key) if base_of(key) != ANYWHERE else read_texts(self, key)

    def _tail(self, key: str) -> Expression:
        """What is said of an attribute."""
        token = self.tokens[self.index]
        operator = COMPARISONS.get(token)
        if operator:
            self.index += 1
            return self._compared(key, operator)
        if token in ("~", "!~"):
            self.index += 1
            found = Matches(self.textual(key, token), self.pattern(regex))
            return found if token == "~" else Not(found)
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
            condition = Matches(self.textual(key, "like"), self.pattern())
        elif word == "between":
            self.index += 1
            condition = self._between(key)
        else:
            self.refuse_operator(key)
        return Not(condition) if negated else condition

    def _compared(self, key: str, operator: str) -> Expression:
        start = self.index
        if self.is_attribute():
            if self.goes_on(1):
                self.index -= 2
                return self.compared_sums()
            return self._pair(key, operator)
        key, value = self.literal(key)
        if value is None:
            if operator not in ("=", "!="):
                self.index = start
                self.refuse("a value that can be ordered", "Write `is null` or `is not null`.")
            return IsNull(key) if operator == "=" else Not(IsNull(key))
        return Compare(key, operator, value)

    def _pair(self, key: str, operator: str) -> Expression:
        start = self.index
        other = self.other()
        try:
            return compare_pair(key, operator, other)
        except FilterError as error:
            self.index = start
            self.refuse(error.expected)

    def _between(self, key: str) -> Expression:
        low_key, low = self.literal(key)
        if self.tokens[self.index].lower() != "and":
            self.refuse("`and` between the two ends")
        self.index += 1
        high_key, high = self.literal(key)
        if low is None or high is None:
            self.index -= 1
            self.refuse("two values that can be ordered")
        return And((Compare(low_key, ">=", low), Compare(high_key, "<=", high)))

    def _in(self, key: str) -> Expression:
        self.take("(", "`(`")
        plain = self.plain_list() if key[-1] != ")" else None
        if plain is not None:
            return In(key, plain)
        values: list[Literal] = []
        keys = set()
        while True:
            value_key, value = self.literal(key)
            keys.add(value_key)
            values.append(value)
            if self.tokens[self.index] != ",":
                break
            self.index += 1
        self.take(")", "`,` or `)`")
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
            key, value = self.literal(key)
            condition = Distinct(key, value)
        elif word == "unlike":
            is_regex = self.tokens[self.index] == "~"
            self.index += is_regex
            condition = Unlike(self.textual(key, "is unlike"), self.pattern(regex if is_regex else wildcard))
        else:
            self.index -= 1
            self.refuse("`null`, `not null`, `missing`, `distinct from` or `unlike`")
        return Not(condition) if negated else condition

    # --- functions ---------------------------------------------------------------------------------------------

    def _cidr(self) -> Expression:
        self.index += 2
        key = self.attribute()
        self.take(",", "`,`")
        start = self.index
        text = self.quoted_text("a network such as '10.0.0.0/8'")
        try:
            condition = network(key, text)
        except FilterError as error:
            self.index = start
            self.refuse(error.expected)
        self.take(")", "`)`")
        return condition

    def _within(self) -> Expression:
        self.index += 2
        latitude = self.attribute()
        self.take(",", "`,`")
        longitude = self.attribute()
        self.take(",", "`,`")
        start = self.index
        try:
            condition = geofence(latitude, longitude, self._shape())
        except FilterSyntaxError:
            raise
        except FilterError as error:
            self.index = start
            self.refuse(error.expected)
        self.take(")", "`)`")
        return condition

    def _shape(self) -> Shape:
        word = self.tokens[self.index].lower()
        if word not in ("circle", "polygon"):
            self.refuse("`circle(lat, lon, metres)` or `polygon((lat, lon), ...)`")
        self.index += 1
        self.take("(", "`(`")
        if word == "circle":
            numbers = [self.number()]
            for _ in range(2):
                self.take(",", "`,`")
                numbers.append(self.number())
            self.take(")", "`)`")
            return Circle(*numbers)
        corners = []
        while True:
            self.take("(", "a corner `(lat, lon)`")
            latitude = self.number()
            self.take(",", "`,`")
            corners.append((latitude, self.number()))
            self.take(")", "`)`")
            if self.tokens[self.index] != ",":
                break
            self.index += 1
        self.take(")", "`,` or `)`")
        return Polygon(tuple(corners))
