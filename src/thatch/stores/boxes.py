"""What a database is told of a filter, and asked of an event: more than matches, never less.

A conjunction becomes a few **box rows**. A row has an access key if the conjunction demands one of a few values, or a
prefix, of some attribute: `symbol=tIBM`. It has an interval of doubles for each **slot**, an attribute that the store
has a column for. An event becomes all the access keys that it meets, and an interval for each slot. So the database can
find by its indexes a superset of what matches, and each candidate is verified by its filter: exactness depends
on nothing here but that the map from a line to doubles never turns two places around.
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
    "Ask",
    "BoxRow",
    "Variety",
    "ask",
    "box_rows",
    "number_at",
    "plain",
    "ranged_keys",
    "safe",
]

LOWEST, TOPMOST = (
    -3e38,
    3e38,
)  # below and above all numbers; 32-bit floats, as in SQLite's R*Tree, can hold them
_LEAST, _GREATEST = -2e38, 2e38  # numbers are cut off here
_FEW_VALUES = 8  # of one attribute, that are worth a row each
_LONGEST_KEY = 200  # characters of an access key; a longer one stands for all that begin alike
_LONGEST_PREFIX = 8  # characters of a prefix that count
_MOST_SEEN = 128  # values of one attribute that are told apart
_MOST_ATTRIBUTES = 64


class BoxRow(NamedTuple):
    """One row: the access key, None if there is none, and an interval for each slot by its number."""

    access: str | None
    sides: dict[int, tuple[float, float]]


class Ask(NamedTuple):
    """What an event meets: access keys, and an interval for each slot in their order."""

    keys: list[str]
    sides: list[tuple[float, float]]


class Variety:
    """Which attributes have many values in filters: those are the best access keys. Bounded, so it forgets nothing."""

    def __init__(self) -> None:
        self._seen: dict[str, set[Cut]] = {}

    def add(self, key: str, places: Iterable[Cut]) -> None:
        """Look at values of an attribute."""
        seen = self._seen.get(key)
        if seen is None:
            if len(self._seen) >= _MOST_ATTRIBUTES:
                return
            seen = self._seen[key] = set()
        if len(seen) < _MOST_SEEN:
            seen.update(places)

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
    filter: Filter, slots: Mapping[str, int], variety: Variety, derived: Mapping[str, object]
) -> list[BoxRow]:
    """The rows of a filter.

    Parameters
    ----------
    slots : the slot of each attribute that has one
    variety : which attributes have many values
    derived : derived attributes that events are asked for; others are no access keys
    """
    rows = []
    for conjunction in filter.conjunctions:
        sides = {
            slots[key]: (number_at(constraint[0]), number_at(constraint[-1]))
            for key, constraint in conjunction.constraints
            if key in slots
        }
        rows += [BoxRow(access, sides) for access in _accesses(conjunction, variety, derived)]
    return rows


def ranged_keys(filter: Filter) -> Iterator[tuple[str, bool]]:
    """The attributes that a filter constrains, and whether to an interval of numbers: those are worth a slot."""
    for conjunction in filter.conjunctions:
        for key, constraint in conjunction.constraints:
            yield (
                key,
                NUMBERS[0] <= constraint[0] and constraint[-1] <= NUMBERS[1] and not _values(constraint),
            )


def ask(record: Record, slots: Mapping[str, int], derived: Iterable[str]) -> Ask:
    """What an event, or with lists any of its flat events, meets."""
    places = _places(record)
    for key in derived:
        places[key] = [derive(key, place) for place in places.get(base_of(key), (BOTTOM,))]
    for key in slots:
        if key not in places:
            some = places.get(base_of(key), [BOTTOM]) if key[-1] == ")" else [BOTTOM]
            places[key] = [derive(key, place) for place in some] if key[-1] == ")" else some
    keys = {access for key, some in places.items() for place in some for access in _met(key, place)}
    sides = []
    for key in sorted(slots, key=slots.__getitem__):
        numbers = [number_at(place) for place in places[key]]
        sides.append((min(numbers), max(numbers)))
    return Ask(sorted(keys), sides)


def _accesses(
    conjunction: Conjunction, variety: Variety, derived: Mapping[str, object]
) -> list[str] | list[None]:
    """The access keys of a conjunction, one of which every event that it matches meets; [None] if there are none."""
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
    """The points of a constraint that demands one of a few values; empty for any other."""
    if len(constraint) > 2 * _FEW_VALUES or not all(is_single(*each) for each in intervals(constraint)):
        return []
    return [first_point(low) for low, _ in intervals(constraint)]


def _met(key: str, place: Cut) -> Iterator[str]:
    if place == BOTTOM:
        return
    yield _equal_key(key, place)
    if place[0] == RANK_TEXT:
        for length in range(1, min(len(place[1]), _LONGEST_PREFIX) + 1):
            yield _prefix_key(key, place[1][:length])


def _equal_key(key: str, place: Cut) -> str:
    rank = place[0]
    if rank == RANK_TEXT:
        told = "t" + place[1]
    elif rank == RANK_NUMBER:
        value = place[1]
        told = f"n{int(value)}" if float(value).is_integer() and value == int(value) else f"n{value!r}"
    else:
        told = f"r{rank}"
    return safe(f"{key}={told}"[:_LONGEST_KEY])


def _prefix_key(key: str, prefix: str) -> str:
    return safe(f"{key}^{prefix}"[:_LONGEST_KEY])


def _places(record: Record) -> dict[str, list[Cut]]:
    """Every place at which a flat event of the record may lie, by attribute."""
    places = {key: [place] for key, place in record.points.items() if key[-1] != ")"}
    for choice in record.choices:
        for key in choice.keys:  # an element may lack what others have
            places[key] = [BOTTOM]
        for element in choice.elements:
            for key, some in _places(element).items():
                places[key] += some
    return places


def safe(text: str) -> str:
    """Text without NUL, which PostgreSQL does not store."""
    if "\\" not in text and "\0" not in text:
        return text
    return text.replace("\\", "\\\\").replace("\0", "\\0")


def plain(text: str) -> str:
    """The text that `safe` made safe."""
    if "\\" not in text:
        return text
    return "\\".join(part.replace("\\0", "\0") for part in text.split("\\\\"))
