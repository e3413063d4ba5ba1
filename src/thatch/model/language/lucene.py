r"""Regular expressions of Lucene, as Elasticsearch has them, as ones of RE2.

    choice = row {"|" row}
    row    = {item ["?" | "*" | "+" | "{" n ["," [m]] "}"]}
    item   = "(" choice ")" | "[" ["^"] ranges "]" | "." | '"' text '"' | "\" character | character

An expression describes the whole text. `.` is any character, `^` and `$` are characters, text in quotes stands for itself,
and `\d`, `\s`, `\w` with their opposites are classes. Complement, intersection, numeric ranges, any string and the empty
language (`~ & < > @ #`) are refused unless escaped or switched off, where they are characters.
"""

from __future__ import annotations

import re

__all__ = ["re2_of_lucene"]

_ITEM = re.compile(r'\\.|"[^"]*"|\[\^?(?:\\.|[^\]\\])+\]|\{\d+(?:,\d*)?\}|.', re.DOTALL)
_OPTIONAL = frozenset("~&<>@#")
_SAME = frozenset(".|()?*+")
_CLASSES = frozenset("dDsSwW")
_IN_CLASS = re.compile(r"\\(.)|([\[^&~])", re.DOTALL)
_SPECIAL = re.compile(r"([\\.+*?()|\[\]{}^$])")


def re2_of_lucene(text: str, *, has_options: bool, ignores_case: bool) -> str:
    """An expression of RE2 that is found in just the texts that one of Lucene describes.

    Raises `ValueError` with what was expected.
    """
    parts = []
    for item in _ITEM.findall(text):
        first = item[0]
        if first in _OPTIONAL and has_options:
            raise ValueError(f"an expression without the operator {item}: write \\{item} for the character")
        if len(item) == 1 and first in '"\\[{':
            raise ValueError(f"an expression in which {item} is closed, or written \\{item} or in brackets")
        if first == "\\":
            parts.append(item if item[1] in _CLASSES else _literal(item[1]))
        elif first == "[" and len(item) > 1:
            parts.append(_class(item))
        elif first == '"':
            parts.append(f"(?:{_literal(item[1:-1])})")
        elif first == "?" and parts[-1:] == ["("]:
            raise ValueError("an expression without `(?`")
        else:
            parts.append(item if first in _SAME or len(item) > 1 else _literal(item))
    return f"^(?{'i' if ignores_case else ''}s:{''.join(parts)})$"


def _literal(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _class(item: str) -> str:
    """A class of characters: `[` and `^` further in, and what is escaped, are characters."""
    is_other = item[1] == "^"
    body = _IN_CLASS.sub(_member, item[1 + is_other : -1])
    return f"[{'^' if is_other else ''}{body}]"


def _member(found: re.Match[str]) -> str:
    escaped, plain = found.groups()
    if escaped and escaped.isascii() and escaped.isalnum():
        return f"\\{escaped}" if escaped in _CLASSES else str(escaped)
    return f"\\{escaped or plain}"
