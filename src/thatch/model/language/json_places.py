"""Where something stands in a JSON text: the line and column of a path, as errors of readers name it.

A path is made of the names of fields, which may have dots themselves, and of the numbers of elements: `bool.must[1].x`. Only
a text in which there is an error is read here; it is read without recursion, token by token.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from thatch.errors import PatternError, shown

__all__ = ["constant_in", "place_of", "told_places", "twin_in"]

_TOKEN = re.compile(r'[ \t\r\n]*("(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+)', re.DOTALL)
_CONSTANTS = ("NaN", "Infinity", "-Infinity")
_SHOWN_NAME = 80  # characters of each name that a path has
_LONGEST_PATH = 10_000


@dataclass(slots=True)
class _Open:
    """An object or an array that is being read."""

    path: str
    is_object: bool
    count: int = 0
    names: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Member:
    path: str
    name: str
    place: int
    is_twin: bool = False


def place_of(text: str, path: str) -> tuple[int, int] | None:
    """The line and column, from 1, of the field or element that a path leads to; None if there is none.

    A path may leave out `[0]`, as that of the only value of a field does.
    """
    close = None
    short = path.replace("[0]", "")
    for member in _members(text):
        if member.path == path:
            return _line_and_column(text, member.place)
        if close is None and member.path.replace("[0]", "") == short:
            close = member.place
    return None if close is None else _line_and_column(text, close)


def twin_in(text: str) -> PatternError:
    """The error of the first name that its object already has."""
    member = next(each for each in _members(text) if each.is_twin)
    place = _line_and_column(text, member.place)
    return PatternError("each name once in an object", f"{shown(member.name)} twice", member.path, *place)


def constant_in(text: str) -> PatternError:
    """The error of the first `NaN` or infinity, which Python reads but JSON does not have."""
    found = next(
        each for each in _TOKEN.finditer(text) if (each.group(1) or "").startswith(_CONSTANTS)
    )  # Python reads it at the start of `NaNx`, too
    return PatternError("a JSON number", found.group(1), "", *_line_and_column(text, found.start(1)))


@contextmanager
def told_places(text: str) -> Iterator[None]:
    """Tell line and column with every `PatternError` whose path leads into a JSON text."""
    try:
        yield
    except PatternError as error:
        place = place_of(text, error.where) if error.where and error.line is None else None
        if place is None:
            raise
        raise PatternError(error.expected, error.got, error.where, *place) from None


def _members(text: str) -> Iterator[_Member]:
    """All fields and elements of a JSON text, in their order; of one that is no JSON, those up to there."""
    pending: list[_Open] = []
    path, is_name = "", False
    for found in _TOKEN.finditer(text):
        token, place = found.group(1), found.start(1)
        around = pending[-1] if pending else None
        if token in "}]":
            if pending:
                pending.pop()
        elif token in ":,":
            is_name = token == "," and around is not None and around.is_object
        elif is_name and around is not None:
            name = str(json.loads(token)) if token[0] == '"' else token
            path = (around.path + "." if around.path else "") + name[:_SHOWN_NAME]
            yield _Member(path, name, place, name in around.names)
            around.names.add(name)
            is_name = False
        else:
            if around is not None and not around.is_object:
                path = f"{around.path}[{around.count}]"
                around.count += 1
                yield _Member(path, "", place)
            if token in "{[":
                pending.append(_Open(path[:_LONGEST_PATH], token == "{"))
                is_name = token == "{"


def _line_and_column(text: str, place: int) -> tuple[int, int]:
    return text.count("\n", 0, place) + 1, place - text.rfind("\n", 0, place)
