"""Filters as rows of a database, events as queries: the query finds more than what matches, never less.

A conjunction becomes a few **box rows**. A row has an access key if the conjunction requires one of a few values, or a
prefix, of some attribute: `symbol=tIBM`. It has an interval of doubles for each **axis**, an attribute that the store
has columns for. An event becomes all the access keys that it meets, and an interval for each axis. So the database finds
a superset of the matches by its indexes, and each candidate is verified by its filter: exactness depends only on the map
from a line to doubles keeping the order of points.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from thatch.model.conjunctions import Conjunction
from thatch.model.derived import derive
from thatch.model.events import Record
from thatch.model.filters import Filter
from thatch.model.lines import (
    BOTTOM,
    NUMBERS,
    RANK_NUMBER,
    RANK_TEXT,
    Constraint,
    Cut,
    contains,
    first_point,
    intervals,
    is_single,
    prefix_interval,
)
from thatch.model.names import base_of

__all__ = [
    "LOWEST",
    "TOPMOST",
    "BoxQuery",
    "StoredBox",
    "Variety",
    "box_query",
    "box_rows",
    "escape",
    "number_at",
    "ranged_keys",
    "unescape",
]

# Below and above all numbers, and within the 32-bit floats of SQLite's R*Tree.
LOWEST, TOPMOST = -3e38, 3e38
_LEAST, _GREATEST = -2e38, 2e38  # numbers are cut off here
_FEW_VALUES = 8  # of one attribute, worth a row each
_LONGEST_KEY = 200  # characters of an access key; longer ones with the same beginning are one
_LONGEST_NAME = (
    200  # characters of an attribute that may have an axis; PostgreSQL indexes no text of 2,700 bytes
)
_LONGEST_PREFIX = 8  # characters of a prefix that count
_MOST_SEEN = 128  # values of one attribute that are distinguished
_MOST_ATTRIBUTES = 64


class StoredBox(NamedTuple):
    """One row: the access key, None if there is none, and an interval for each axis by its number."""

    access: str | None
    sides: dict[int, tuple[float, float]]

    def bounds(self, axes: int) -> list[tuple[float, float]]:
        """An interval for each axis, the whole line where there is no condition."""
        return [self.sides.get(axis, (LOWEST, TOPMOST)) for axis in range(axes)]


class BoxQuery(NamedTuple):
    """What an event meets: access keys, and an interval for each axis in their order."""

    keys: list[str]
    sides: list[tuple[float, float]]


class Variety:
    """How many values each attribute has in filters: those with many are the best access keys. Bounded in size."""

    def __init__(self) -> None:
        self._seen: dict[str, set[Cut]] = {}

    def add(self, key: str, points: Iterable[Cut]) -> None:
        """Count values of an attribute."""
        seen = self._seen.get(key)
        if seen is None:
            if len(self._seen) >= _MOST_ATTRIBUTES:
                return
            seen = self._seen[key] = set()
        if len(seen) < _MOST_SEEN:
            seen.update(points)

    def __getitem__(self, key: str) -> int:
        return len(self._seen.get(key, ()))


def number_at(cut: Cut) -> float:
    """A double for a cut or a point; never less for a higher one."""
    rank = cut[0]
    if rank < RANK_NUMBER:
        return LOWEST
    if rank == RANK_NUMBER:
        return min(max(float(cut[1]), _LEAST), _GREATEST) if len(cut) == 3 else _LEAST
    return _GREATEST if cut == (RANK_TEXT,) else TOPMOST


def box_rows(
    filter: Filter, axes: Mapping[str, int], variety: Variety, derived: Mapping[str, object]
) -> list[StoredBox]:
    """The rows of a filter.

    Parameters
    ----------
    axes : the axis of each attribute that has one
    variety : which attributes have many values
    derived : derived attributes that may be access keys
    """
    rows = []
    for conjunction in filter.outer_conjunctions:
        sides = {
            axes[key]: (number_at(constraint[0]), number_at(constraint[-1]))
            for key, constraint in conjunction.constraints
            if key in axes
        }
        rows += [StoredBox(access, sides) for access in _accesses(conjunction, variety, derived)]
    return rows


def ranged_keys(filter: Filter) -> Iterator[tuple[str, bool]]:
    """The attributes that a filter constrains, and whether to an interval of numbers: those are worth an axis.

    Those with very long names are left out: databases index no such text, and verification decides on them.
    """
    for conjunction in filter.outer_conjunctions:
        for key, constraint in conjunction.constraints:
            if len(key) > _LONGEST_NAME:
                continue
            is_numeric = NUMBERS[0] <= constraint[0] and constraint[-1] <= NUMBERS[1]
            yield key, is_numeric and not _values(constraint)


def box_query(record: Record, axes: Mapping[str, int], derived: Iterable[str]) -> BoxQuery:
    """What an event, or with lists any of its flat events, meets."""
    points = record.possible_points()
    for key in derived:
        points[key] = [derive(key, point) for point in points.get(base_of(key), (BOTTOM,))]
    for key in axes:
        if key not in points:
            some = points.get(base_of(key), [BOTTOM]) if key[-1] == ")" else [BOTTOM]
            points[key] = [derive(key, point) for point in some] if key[-1] == ")" else some
    keys = {access for key, some in points.items() for point in some for access in _met(key, point)}
    sides = []
    for key in sorted(axes, key=axes.__getitem__):
        numbers = [number_at(point) for point in points[key]]
        sides.append((min(numbers), max(numbers)))
    return BoxQuery(sorted(keys), sides)


def _accesses(
    conjunction: Conjunction, variety: Variety, derived: Mapping[str, object]
) -> list[str] | list[None]:
    """The access keys of a conjunction, of which every matching event meets one; [None] if there are none."""
    best: tuple[int, list[str]] = (0, [])
    for key, constraint in conjunction.constraints:
        if contains(constraint, BOTTOM) or (key[-1] == ")" and key not in derived):
            continue
        values = _values(constraint)
        found: list[str] = []
        if values:
            variety.add(key, values)
            found = [_equal_key(key, value) for value in values]
        elif len(constraint) == 2 and len(constraint[0]) == 3 and constraint[0][0] == RANK_TEXT:
            prefix = constraint[0][1]
            if constraint == prefix_interval(prefix):
                found = [_prefix_key(key, prefix[:_LONGEST_PREFIX])]
        if found:
            best = max(best, (1 + variety[key], found))
    return best[1] or [None]


def _values(constraint: Constraint) -> list[Cut]:
    """The points of a constraint that requires one of a few values; empty for any other."""
    if len(constraint) > 2 * _FEW_VALUES or not all(is_single(*each) for each in intervals(constraint)):
        return []
    return [first_point(low) for low, _ in intervals(constraint)]


def _met(key: str, point: Cut) -> Iterator[str]:
    if point == BOTTOM:
        return
    yield _equal_key(key, point)
    if point[0] == RANK_TEXT:
        for length in range(1, min(len(point[1]), _LONGEST_PREFIX) + 1):
            yield _prefix_key(key, point[1][:length])


def _equal_key(key: str, point: Cut) -> str:
    rank = point[0]
    if rank == RANK_TEXT:
        written = "t" + point[1]
    elif rank == RANK_NUMBER:
        value = point[1]
        written = f"n{int(value)}" if float(value).is_integer() and value == int(value) else f"n{value!r}"
    else:
        written = f"r{rank}"
    return escape(f"{key}={written}"[:_LONGEST_KEY])


def _prefix_key(key: str, prefix: str) -> str:
    return escape(f"{key}^{prefix}"[:_LONGEST_KEY])


def escape(text: str) -> str:
    """Escape NUL, which PostgreSQL does not store."""
    if "\\" not in text and "\0" not in text:
        return text
    return text.replace("\\", "\\\\").replace("\0", "\\0")


def unescape(text: str) -> str:
    """The text that `escape` has escaped."""
    if "\\" not in text:
        return text
    return "\\".join(part.replace("\\0", "\0") for part in text.split("\\\\"))
