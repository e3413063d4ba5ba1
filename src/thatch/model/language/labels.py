"""Label selectors of Kubernetes to an expression: `env in (prod, test), tier != cache, !canary`; or Alertmanager matchers.

    selector     = requirement {"," requirement}
    requirement  = ["!"] key | key ("=" | "==" | "!=") value | key ("in" | "notin") "(" value {"," value} ")"
                 | key (">" | "<") integer

All requirements must hold. As in Kubernetes, `!=` and `notin` also hold where the label is missing, and values are text;
the two orders read a label as an integer, which here must be a number.

What has a brace, a double quote or a `~` is no selector of Kubernetes, and read as matchers of Alertmanager. What both may
mean, as `a=b` and `a!=b`, means the same in both.
"""

from __future__ import annotations

import re
from typing import NoReturn

from thatch.errors import FilterSyntaxError, FilterTooLargeError, shown
from thatch.model.expressions import And, Compare, Constant, Distinct, Exists, Expression, In, Not, Or
from thatch.model.grouping import MAX_LEAVES
from thatch.model.language.alertmanager import expression_of_matchers
from thatch.model.language.text import check_text
from thatch.model.names import key_of

__all__ = ["expression_of_labels"]

_TOKEN = re.compile(r"\s*(==|!=|[=!<>(),]|-?[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?|\S)")
_OF_ALERTMANAGER = re.compile(r'[{}"~]')
_WORD = re.compile(r"[A-Za-z0-9]")
_INTEGER = re.compile(r"-?[0-9]{1,18}")


def expression_of_labels(text: str) -> Expression:
    """The expression that a label selector stands for; an empty one selects everything."""
    check_text(text, "a label selector")
    return expression_of_matchers(text) if _OF_ALERTMANAGER.search(text) else _Selector(text).read()


class _Selector:
    """The tokens of one selector; `at` is the one that comes next."""

    def __init__(self, text: str) -> None:
        self._text = text
        found = [*_TOKEN.finditer(text)]
        self._tokens = [each.group(1) for each in found] + [""]
        self._places = [each.start(1) for each in found] + [len(text)]
        self._at = 0

    def read(self) -> Expression:
        if not self._tokens[0]:
            return Constant(value=True)
        parts = [self._requirement()]
        while self._tokens[self._at] == ",":
            self._at += 1
            parts.append(self._requirement())
            if len(parts) > MAX_LEAVES:
                raise FilterTooLargeError("requirements in one selector", len(parts), MAX_LEAVES)
        if self._tokens[self._at]:
            self._refuse("`,` or the end")
        return And(tuple(parts)) if len(parts) > 1 else parts[0]

    def _requirement(self) -> Expression:
        if self._tokens[self._at] == "!":
            self._at += 1
            return Not(Exists(key_of(self._word("a label"))))
        key = key_of(self._word("a label, or `!` and a label"))
        sign = self._tokens[self._at]
        if sign in ("", ","):
            return Exists(key)
        self._at += 1
        if sign in ("in", "notin"):
            values = self._values()
            return In(key, values) if sign == "in" else _none_of(key, values)
        if sign in ("=", "=="):
            return Compare(key, "=", self._value())
        if sign == "!=":
            return _none_of(key, (self._value(),))
        if sign not in (">", "<"):
            self._at -= 1
            self._refuse("`=`, `!=`, `in`, `notin`, `>`, `<`, `,` or the end")
        return Compare(key, sign, self._integer())

    def _values(self) -> tuple[str, ...]:
        self._take("(")
        values = [self._value()]
        while self._tokens[self._at] == ",":
            self._at += 1
            values.append(self._value())
        self._take(")")
        return tuple(values)

    def _value(self) -> str:
        """A value; Kubernetes allows an empty one."""
        return "" if self._tokens[self._at] in ("", ",", ")") else self._word("a value")

    def _integer(self) -> int:
        word = self._tokens[self._at]
        if not _INTEGER.fullmatch(word):
            self._refuse("an integer")
        self._at += 1
        return int(word)

    def _word(self, expected: str) -> str:
        token = self._tokens[self._at]
        if not _WORD.match(token):
            self._refuse(expected)
        self._at += 1
        return token

    def _take(self, token: str) -> None:
        if self._tokens[self._at] != token:
            self._refuse(f"`{token}`")
        self._at += 1

    def _refuse(self, expected: str) -> NoReturn:
        token = self._tokens[self._at]
        got = f"`{shown(token)[1:-1]}`" if token else "the end of the selector"
        raise FilterSyntaxError(expected, got, self._text, self._places[self._at])


def _none_of(key: str, values: tuple[str, ...]) -> Expression:
    """Missing, or none of these."""
    others = tuple(Distinct(key, each) for each in values)
    return Or((Not(Exists(key)), And(others) if len(others) > 1 else others[0]))
