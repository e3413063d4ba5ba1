"""Wildcard patterns: `%` stands for any text, `_` for one character, a backslash takes the next one literally.

A pattern is split at `%` into pieces; a piece is literal text in which `_` may stand for any character. Matching
looks for the pieces from left to right, each at its first place, which is enough and never backtracks over a `%`.
"""

from __future__ import annotations

import re

from thatch.errors import FilterTooLargeError
from thatch.model.piece_search import Piece, finder

__all__ = ["Piece", "Wildcard", "escape_wildcard", "wildcard"]

_ONE = None  # in a piece: any one character
_LONG = 1_000
_LONGEST = 1_000_000  # characters of a pattern: its pieces take fifty times as much memory
_PARTS = re.compile(r"\\(.)|([%_]+)|([^%_\\]+)", re.DOTALL)
_ESCAPES = str.maketrans({"%": "\\%", "_": "\\_", "\\": "\\\\"})


class Wildcard:
    """A parsed pattern. `pieces` are what stands between the `%` signs; one piece means there is no `%`.

    `text` is the pattern in canonical form: the shortest way to write it. The pieces of a plain pattern, without `_` and
    escapes but those of backslashes, are made when somebody asks.
    """

    __slots__ = ("_is_plain", "_pieces", "text")

    def __init__(self, text: str, pieces: tuple[Piece, ...] | None = None) -> None:
        self.text = text
        self._pieces = pieces
        self._is_plain = pieces is None

    @property
    def pieces(self) -> tuple[Piece, ...]:
        if self._pieces is None:
            self._pieces = tuple(tuple(_unescaped(run)) for run in self.text.split("%"))
        return self._pieces

    def __eq__(self, other: object) -> bool:
        return self.text == other.text if isinstance(other, Wildcard) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Wildcard(text={self.text!r})"

    @property
    def literal(self) -> str | None:
        """The only text that matches, None if there are several."""
        if self._is_plain:
            return None if "%" in self.text else _unescaped(self.text)
        return _literal(self.pieces[0]) if len(self.pieces) == 1 else None

    @property
    def prefix(self) -> str:
        """What every matching text begins with."""
        return _unescaped(self.text.partition("%")[0]) if self._is_plain else _leading(self.pieces[0])

    @property
    def suffix(self) -> str:
        """What every matching text ends with."""
        return (
            _unescaped(self.text.rpartition("%")[2])
            if self._is_plain
            else _leading(self.pieces[-1][::-1])[::-1]
        )

    @property
    def is_prefix(self) -> bool:
        """Whether the pattern says nothing but how the text begins."""
        if self._is_plain:
            return 0 <= self.text.find("%") == len(self.text) - 1
        return len(self.pieces) == 2 and not self.pieces[1] and _literal(self.pieces[0]) is not None

    @property
    def is_suffix(self) -> bool:
        """Whether the pattern says nothing but how the text ends."""
        if self._is_plain:
            return self.text.rfind("%") == 0
        return len(self.pieces) == 2 and not self.pieces[0] and _literal(self.pieces[1]) is not None

    @property
    def is_prefix_and_suffix(self) -> bool:
        """Whether the pattern says only how the text begins and ends, and the two can never overlap."""
        if len(self.pieces) != 2 or _literal(self.pieces[0]) is None or _literal(self.pieces[1]) is None:
            return False
        start, end = self.prefix, self.suffix
        if min(len(start), len(end)) > _LONG:
            return False  # not worth the search: the check behind it is exact
        return not any(start.endswith(end[:size]) for size in range(1, min(len(start), len(end)) + 1))

    def matches(self, text: str) -> bool:
        """Whether the whole text has the form of the pattern."""
        first, *rest = map(finder, self.pieces)
        if not rest:
            return len(text) == len(self.pieces[0]) and first.stands_at(text, 0)
        place = len(self.pieces[0])
        end = len(text) - len(self.pieces[-1])  # where the last piece must stand
        if place > end or not first.stands_at(text, 0) or not rest[-1].stands_at(text, end):
            return False
        for each in rest[:-1]:
            place = each.end_of_first(text, place)
            if not 0 <= place <= end:
                return False
        return True


def wildcard(pattern: str) -> Wildcard:
    """Parse a pattern.

    Raises `ValueError` if the pattern ends in a lone backslash, `FilterTooLargeError` if it is too long.
    """
    if len(pattern) > _LONGEST:
        raise FilterTooLargeError("characters of a pattern", len(pattern), _LONGEST)
    is_plain = "_" not in pattern and "%%" not in pattern
    if is_plain and ("\\" not in pattern or "\\" not in pattern.replace("\\\\", "")):
        return Wildcard(pattern)
    if (len(pattern) - len(pattern.rstrip("\\"))) % 2:
        raise ValueError("a character after the last backslash")
    pieces: list[list[str | None]] = [[]]
    written: list[str] = []
    for escaped, signs, plain in _PARTS.findall(pattern):
        if signs:  # a run of `_` and `%` says only how many characters at least: `_` first, one `%`
            count = signs.count("_")
            pieces[-1] += [_ONE] * count
            written.append("_" * count)
            if count < len(signs):
                pieces.append([])
                written.append("%")
        else:
            pieces[-1] += escaped or plain
            written.append(escape_wildcard(escaped) or plain)
    return Wildcard("".join(written), tuple(map(tuple, pieces)))


def escape_wildcard(text: str) -> str:
    """Text as a pattern that matches only it."""
    return text.translate(_ESCAPES)


def _unescaped(run: str) -> str:
    """A run in which backslashes alone are escaped."""
    return run.replace("\\\\", "\\") if "\\" in run else run


def _literal(piece: Piece) -> str | None:
    return None if _ONE in piece else "".join(filter(None, piece))


def _leading(piece: Piece) -> str:
    end = piece.index(_ONE) if _ONE in piece else len(piece)
    return "".join(filter(None, piece[:end]))
