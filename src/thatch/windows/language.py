"""Windows as text.

    window    = ("count" number | "distinct" attribute number) ["of" ids] rest
              | "sequence" ids rest
    rest      = "in" duration ["by" attribute {"," attribute}]
    ids       = id {"," id}              of subscriptions: plain names, or any text in single quotes
    duration  = number ["us" | "ms" | "s" | "m" | "h" | "d"]      seconds without a unit

Attributes are written as in filters, where fewer words stand for anything else: `ip` and `time` need no quotes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from thatch.errors import ParameterError, shown
from thatch.model.language.reading import END, Reader
from thatch.model.names import KEYWORDS, key_of
from thatch.windows.problem import Kind, Rule, microseconds

__all__ = ["rule_of_text", "text_of_rule"]

_MOST = 10_000  # characters
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*\Z")
_WORDS = frozenset(("in", "by", "of"))

Read = TypeVar("Read")


def rule_of_text(text: str, *, time: str) -> Rule:
    """The rule that a text stands for.

    Raises `FilterSyntaxError` with a place in the text if it does not parse, `ParameterError` if it asks for what no
    window can do.

    Parameters
    ----------
    time : the key of the attribute that tells when an event happened

    Examples
    --------
    >>> text_of_rule(rule_of_text("sequence failure, 'log in' in 5m by user", time="at"))
    "sequence failure, 'log in' in 300s by user"
    """
    if not isinstance(text, str) or len(text) > _MOST:
        raise ParameterError("a text such as `count 5 in 60s by user`", shown(text), "window")
    return _WindowReader(text).rule(time)


def text_of_rule(rule: Rule) -> str:
    """A rule as text; a filter stands in it in brackets, which cannot be read again."""
    names = [_id_text(each) if isinstance(each, str) else f"({each})" for each in rule.steps]
    listed = ", ".join(names)
    if rule.kind == "sequence":
        head = f"sequence {listed}"
    else:
        what = f"distinct {rule.attribute}" if rule.attribute else "count"
        head = f"{what} {rule.at_least}" + (f" of {listed}" if listed else "")
    whole, rest = divmod(rule.within, 10**6)
    within = f"{rule.within}us" if rest else f"{whole}s"
    return f"{head} in {within}" + (f" by {', '.join(rule.by)}" if rule.by else "")


def _id_text(identity: str) -> str:
    if _PLAIN.match(identity) and identity.lower() not in _WORDS:
        return identity
    return "'" + identity.replace("'", "''") + "'"


class _WindowReader(Reader):
    """One reading of one text."""

    __slots__ = ()

    def rule(self, time: str) -> Rule:
        word = self.tokens[self.index].lower()
        if word not in ("count", "distinct", "sequence"):
            self.refuse("`count`, `distinct` or `sequence`", "Such as `count 5 in 60s by user`.")
        self.index += 1
        kind: Kind = "count" if word == "count" else "distinct" if word == "distinct" else "sequence"
        attribute = self.attribute() if kind == "distinct" else ""
        steps: tuple[str, ...] = ()
        if kind == "sequence":
            steps = self._listed(self._id)
            at_least = len(steps)
        else:
            at_least = self._whole()
            if self.tokens[self.index].lower() == "of":
                self.index += 1
                steps = self._listed(self._id)
        if self.tokens[self.index].lower() != "in":
            self.refuse("`in` and a time such as `60s`")
        self.index += 1
        within = self._duration()
        by: tuple[str, ...] = ()
        if self.tokens[self.index].lower() == "by":
            self.index += 1
            by = self._listed(self.attribute)
        if self.tokens[self.index] != END:
            self.refuse("`,` or the end" if by else "`by` or the end")
        return Rule(
            kind=kind, at_least=at_least, within=within, by=by, attribute=attribute, steps=steps, time=time
        )

    def _listed(self, read: Callable[[], Read]) -> tuple[Read, ...]:
        some = [read()]
        while self.tokens[self.index] == ",":
            self.index += 1
            some.append(read())
        return tuple(some)

    def _id(self) -> str:
        token = self.tokens[self.index]
        if _PLAIN.match(token) and token.lower() not in _WORDS:
            self.index += 1
            return token
        text = self.quoted_text("the id of a subscription, in single quotes if it is no plain name")
        if not text:
            self.index -= 1
            self.refuse("the id of a subscription")
        return text

    def _name(self) -> str:
        """Words of the language of filters are plain names here, as in `distinct ip 10`."""
        token = self.tokens[self.index]
        is_word = token.lower() in KEYWORDS and token.lower() not in _WORDS
        if not is_word or self.tokens[self.index + 1] == "(":
            return super()._name()
        self.index += 1
        return key_of(token)

    def _whole(self) -> int:
        token = self.tokens[self.index]
        if not (token.isascii() and token.isdigit() and len(token) < 19):
            self.refuse("a whole number")
        self.index += 1
        return int(token)

    def _duration(self) -> int:
        start = self.index
        number = self.number()
        unit = self.tokens[self.index].lower()
        if unit not in (END, "by"):
            self.index += 1
        try:
            return microseconds(f"{number}{'' if unit in (END, 'by') else unit}", "within")
        except ParameterError as error:
            self.index = start
            self.refuse(error.expected)
