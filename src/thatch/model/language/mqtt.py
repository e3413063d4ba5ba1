"""Topic filters of MQTT to an expression on the attribute `topic`: `home/+/temperature`, `home/#`.

    filter = ["$share/" group "/"] level {"/" level}
    level  = "+" | "#", as the last one | text without "+" and "#"

`+` is one level, also an empty one; `#` is the level above it and everything below. A filter that begins with a wildcard
does not match topics that begin with `$`. Without a `+` above a `#` a filter is made of `=` and `like` alone, as a topic
has the levels of its filter if it has the form `a/%/b` and no more slashes.
"""

from __future__ import annotations

import re
from typing import NoReturn

from thatch.errors import FilterError, FilterSyntaxError, FilterTooLargeError, shown
from thatch.model.expressions import And, Compare, Expression, Matches, Not, Or
from thatch.model.regexes import regex
from thatch.model.values import is_text
from thatch.model.wildcards import escape_wildcard, wildcard

__all__ = ["expression_of_topics"]

_TOPIC = "topic"
_LONGEST = 65_535  # bytes, as MQTT has it
_SHARED = "$share/"
_SPECIAL = re.compile(r"([\\.+*?()|\[\]{}^$])")


def expression_of_topics(text: str) -> Expression:
    """The expression that a topic filter stands for."""
    if not isinstance(text, str) or not is_text(text):
        raise FilterError("a topic filter as text", f"{shown(text)} of type {type(text).__name__}")
    size = len(text.encode())
    if size > _LONGEST:
        raise FilterTooLargeError("bytes of a topic filter", size, _LONGEST)
    if "\0" in text:
        _refuse("a character other than U+0000", text, text.index("\0"))
    levels = _levels(text, _start(text))
    matching = _matching(levels)
    if levels[0] not in ("+", "#"):
        return matching
    return And((matching, Not(Matches(_TOPIC, wildcard("$%")))))


def _start(text: str) -> int:
    """Where the filter begins: behind the group of a shared subscription."""
    if not text.startswith(_SHARED):
        return 0
    group, slash, _ = text[len(_SHARED) :].partition("/")
    bad = re.search("[+#]|^$", group)
    if bad:
        _refuse("the name of a group, without wildcards", text, len(_SHARED) + bad.start())
    if not slash:
        _refuse("`/` and a topic filter behind the group", text, len(text))
    return len(_SHARED) + len(group) + 1


def _levels(text: str, at: int) -> list[str]:
    if at == len(text):
        _refuse("a topic filter", text, at)
    levels = text[at:].split("/")
    for number, level in enumerate(levels):
        wild = re.search("[+#]", level)
        if wild and len(level) > 1:
            _refuse(f"`{wild.group()}` alone in its level", text, at + wild.start())
        if level == "#" and number < len(levels) - 1:
            _refuse("`#` as the last level only", text, at)
        at += len(level) + 1
    return levels


def _matching(levels: list[str]) -> Expression:
    """The topics of a filter, those that begin with `$` among them."""
    has_below = levels[-1] == "#"
    above = levels[:-1] if has_below else levels
    plain = len(above)
    while has_below and plain and above[plain - 1] == "+":
        plain -= 1  # how many levels these are, nothing more
    if has_below and "+" in above[:plain]:
        form = "/".join("[^/]*" if each == "+" else _SPECIAL.sub(r"\\\1", each) for each in above)
        return Matches(_TOPIC, regex(f"^{form}(?:/|$)"))
    form = "/".join("%" if each == "+" else escape_wildcard(each) for each in above)
    if not has_below:
        return _with_as_many_levels(form, above)
    if plain < len(above) or not above:
        return Matches(_TOPIC, wildcard(form or "%"))
    return Or((Compare(_TOPIC, "=", "/".join(above)), Matches(_TOPIC, wildcard(form + "/%"))))


def _with_as_many_levels(form: str, levels: list[str]) -> Expression:
    if "+" not in levels:
        return Compare(_TOPIC, "=", "/".join(levels))
    deeper = wildcard("%" + "/%" * len(levels))
    return And((Matches(_TOPIC, wildcard(form)), Not(Matches(_TOPIC, deeper))))


def _refuse(expected: str, text: str, at: int) -> NoReturn:
    got = f"`{shown(text[at])[1:-1]}`" if at < len(text) else "the end of the filter"
    raise FilterSyntaxError(expected, got, text, at)
