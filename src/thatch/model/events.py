"""Events: from a JSON-like object to places on the attributes' lines.

Nested objects are dotted paths; a list stands for its elements. An event with lists is the set of flat events got
by choosing one element of every list, objects in a list chosen whole. That product is never written out: a
`Record` keeps the fields that are the same in every flat event and, for each list, one `Record` per element.
Lists side by side own different paths (an event that gives one path twice is refused), so a conjunction can be
decided list by list, in time linear in the number of elements.

    {"a": 1, "b": [{"c": 2}, {"c": 3, "d": [4, 5]}]}

    Record a=1
      └ Choice b ── Record b.c=2
                 └─ Record b.c=3
                      └ Choice b.d ── Record b.d=4
                                   └─ Record b.d=5
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sized
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from thatch.errors import EventError, shown
from thatch.model.derived import derive, fold
from thatch.model.lines import BOTTOM, RANK_TEXT, RANK_TEXTS, Cut, point
from thatch.model.names import ANYWHERE, base_of, key_of, name_of
from thatch.model.schema import Schema
from thatch.model.values import check_text, read_scalar

__all__ = ["MAX_DEPTH", "MAX_PARTS", "Choice", "PlainRecord", "Record", "read_event"]

_NOTHING: frozenset[str] = frozenset()
MAX_DEPTH = 128  # of nested objects and lists; deeper events are refused, which also ends cycles
MAX_CHARACTERS = 50_000_000  # of all paths of one event: a long name above many fields multiplies
MAX_PARTS = 1_000_000  # fields and list elements of one event, at all levels


class Choice:
    """A list: one of its elements is chosen. `keys` are the attributes that any of them may give."""

    __slots__ = ("elements", "keys", "where")

    def __init__(self, where: str, elements: list[Record]) -> None:
        self.where = where
        self.elements = elements
        self.keys: frozenset[str] = frozenset().union(*(element.keys() for element in elements))


class Record:
    """Fields that are given, and lists of which one element is chosen.

    `points` also remembers derived attributes once they were asked for.
    """

    __slots__ = ("choices", "misfits", "points", "texts")

    def __init__(self, points: dict[str, Cut], choices: tuple[Choice, ...] = (), misfits: int = 0) -> None:
        self.points = points
        self.choices = choices
        self.misfits = misfits  # values outside their declared type, which count as missing
        self.texts: dict[str, Cut] = {}  # all of them, as they are and folded, once they were asked for

    def point(self, key: str) -> Cut:
        """Where the event lies on an attribute's line; fields inside lists are not seen here."""
        place = self.points.get(key)
        if place is None:
            if key[-1] != ")":
                return BOTTOM
            if base_of(key) == ANYWHERE:
                return self._texts(key)
            place = self.points[key] = derive(key, self.points.get(base_of(key), BOTTOM))
        return place

    def _texts(self, key: str) -> Cut:
        """All texts, those in lists too, as a place beyond the line; folded if the key says so."""
        place = self.texts.get(key)
        if place is None:
            found = {
                each[1] for some in self.possible_points().values() for each in some if each[0] == RANK_TEXT
            }
            place = (RANK_TEXTS, tuple(found if key == ANYWHERE else map(fold, found)))
            self.texts[key] = place
        return place

    def keys(self) -> set[str]:
        """All attributes that some flat event of this one gives."""
        return set(self.points).union(*(choice.keys for choice in self.choices))

    def possible_points(self) -> dict[str, list[Cut]]:
        """Every point at which a flat event of this one may lie, by attribute; outside of lists there is just one."""
        points = {key: [point] for key, point in self.points.items() if key[-1] != ")"}
        for choice in self.choices:
            for key in choice.keys:  # an element may lack what others have
                points[key] = [BOTTOM]
            for element in choice.elements:
                for key, some in element.possible_points().items():
                    points[key] += some
        return points

    def flat(self) -> Iterator[dict[str, Cut]]:
        """Every flat event, written out: the definition, for references and tests. Exponential in the lists."""
        yield from _product(dict(self.points), self.choices)


class PlainRecord(Record):
    """A flat event of plain values, known to be one, of which a value is read when it is asked for."""

    __slots__ = ("_event",)

    def __init__(self, event: Mapping[str, Any]) -> None:
        super().__init__({})
        self._event = event

    def point(self, key: str) -> Cut:
        """Where the event lies on an attribute's line, but for that of all texts."""
        place = self.points.get(key)
        if place is None:
            if key[-1] == ")":
                place = derive(key, self.point(base_of(key)))
            else:
                name = name_of(key)
                place = point(read_scalar(self._event[name], name)) if name in self._event else BOTTOM
            self.points[key] = place
        return place


def _product(points: dict[str, Cut], choices: tuple[Choice, ...]) -> Iterator[dict[str, Cut]]:
    points, open_choices = _without_single_elements(points, choices)
    if not open_choices:
        yield points
        return
    for element in open_choices[0].elements:
        yield from _product({**points, **element.points}, element.choices + open_choices[1:])


def _without_single_elements(
    points: dict[str, Cut], choices: tuple[Choice, ...]
) -> tuple[dict[str, Cut], tuple[Choice, ...]]:
    """The points with those of lists of one element, of which there may be many, and the lists that leave a choice."""
    waiting, points, found = list(reversed(choices)), dict(points), []
    while waiting:
        choice = waiting.pop()
        if len(choice.elements) != 1:
            found.append(choice)
            continue
        (element,) = choice.elements
        points |= element.points
        waiting += reversed(element.choices)
    return points, tuple(found)


def read_event(event: Mapping[str, Any], schema: Schema | None = None) -> Record:
    """The event as places on lines.

    Raises `EventError` if the event is not such an object; nothing is kept of it.

    Parameters
    ----------
    event : a mapping of names to values, lists and mappings; see `thatch.model.values` for the values
    schema : declared types; a value outside its type counts as missing
    """
    if type(event) is not dict and not isinstance(event, Mapping):
        raise EventError("an object of names and values", f"{shown(event)} of type {type(event).__name__}")
    return _EventReader(schema).read(event)


class _EventReader:
    """One reading of one event; counts what must stay bounded."""

    __slots__ = ("characters", "misfits", "parts", "schema")

    def __init__(self, schema: Schema | None) -> None:
        self.schema = schema
        self.parts = 0
        self.characters = 0
        self.misfits = 0

    def read(self, event: Mapping[str, Any]) -> Record:
        record = Record({})
        self._object(event, "", record, set(), 0)
        record.misfits = self.misfits
        return record

    def _object(
        self, fields: Mapping[str, Any], prefix: str, record: Record, listed: set[str], depth: int
    ) -> None:
        """Add the fields of one object to a record; `listed` are the attributes its lists may give."""
        self._enter(fields, depth, prefix)
        for name, value in fields.items():
            if type(name) is not str:
                if not isinstance(name, str):
                    raise EventError(
                        "names as text", f"{shown(name)} of type {type(name).__name__}", prefix[:-1]
                    )
                name = str.__str__(name)  # the text itself, whatever a subclass prints
            if not name.isascii():
                check_text(name, "a name")
            path = prefix + name if prefix else name
            kind = type(value)
            if kind is dict or isinstance(value, Mapping):
                self._object(value, path + ".", record, listed, depth + 1)
            elif kind is list or isinstance(value, (list, tuple, np.ndarray)):
                elements: list[Record] = []
                self._list(value, path, elements, depth + 1)
                if elements:
                    self._add_choice(record, Choice(path, elements), listed)
            else:
                self._add_value(record, path, value, path, listed)

    def _list(self, values: Any, path: str, elements: list[Record], depth: int) -> None:
        """The elements of a list as records of their own; nested lists are flattened."""
        if isinstance(values, np.ndarray):
            if not values.ndim:
                raise EventError("a list or a value", "an array without dimensions", path)
            values = list(values)  # NumPy scalars, which read_scalar knows; tolist() would lose dates
        self._enter(values, depth, path)
        for index, value in enumerate(values):
            if isinstance(value, (list, tuple, np.ndarray)):
                self._list(value, path, elements, depth + 1)
                continue
            element = Record({})
            if isinstance(value, Mapping):
                self._object(value, path + ".", element, set(), depth + 1)
            else:
                self._add_value(element, path, value, f"{path}[{index}]", _NOTHING)
            elements.append(element)

    def _add_value(self, record: Record, path: str, value: Any, where: str, listed: AbstractSet[str]) -> None:
        scalar = read_scalar(value, where)
        self.characters += len(path)
        if self.characters > MAX_CHARACTERS:
            raise EventError(
                f"The event has more than {MAX_CHARACTERS:,} characters in all paths", where=where[:80]
            )
        key = key_of(path)
        if key in record.points or key in listed:
            raise EventError("each path once", f"{shown(path)} twice", where)
        line = self.schema.line(key) if self.schema is not None and scalar is not None else None
        if line is not None and not line.holds(scalar):
            self.misfits += 1
            record.points[key] = BOTTOM
        else:
            record.points[key] = point(scalar)

    @staticmethod
    def _add_choice(record: Record, choice: Choice, listed: set[str]) -> None:
        taken = [key for key in choice.keys if key in record.points or key in listed]
        if taken:
            raise EventError("each path once", f"{shown(min(taken))} twice", choice.where)
        listed |= choice.keys
        record.choices += (choice,)

    def _enter(self, parts: Sized, depth: int, where: str) -> None:
        """Refuse what is nested too deep (a cycle is) or too large (shared objects can multiply)."""
        self.parts += len(parts)
        if depth > MAX_DEPTH:
            raise EventError(
                f"at most {MAX_DEPTH} nested objects and lists", "a deeper or cyclic one", where[:80]
            )
        if self.parts > MAX_PARTS:
            raise EventError(
                f"The event has more than {MAX_PARTS:,} fields and list elements", where=where[:80]
            )
