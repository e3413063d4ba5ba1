"""Events as the rows that kernels read.

A row is a value of one attribute: its number, its class (0 missing, 1 null, 2 false, 3 true, 4 NaN, 5 number, 6
text), and the number or the text. An attribute inside a list has a row per element, one of which must satisfy a side.
Where a list gives several attributes, one element must satisfy the sides on all of them: such values are `JOINT`, the
kernel tests the hull of their cells, which is necessary but not enough, and its match is verified.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import inf, nextafter
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.matching.segments.kernels import DOUBLES, INFO, JOINT, ROW_CELLS, ROW_NEXT, ROW_ROOM, WORDS
from thatch.model.derived import derive
from thatch.model.events import Choice, Record
from thatch.model.lines import BOTTOM, Cut, point
from thatch.model.names import base_of, name_of
from thatch.model.values import is_text

__all__ = ["Attributes", "Encoder"]

_EXACT = 2**53
_NUMERIC = frozenset({int, float})
_MOST_NAMES = 100_000


class Attributes:
    """The numbers that an index gives to attributes, and how to get at them from an event's names."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {}
        # Name in an event -> eight times the number of that attribute, negative for names that nobody asks for.
        self.by_name: dict[str, int] = {}
        self.derived_by_name: dict[str, tuple[tuple[str, int], ...]] = {}
        self.derived: set[str] = set()  # names with derived attributes
        self._known = 0

    def learn(self) -> None:
        """Make attributes that got a number since the last time known by name."""
        for key in list(self.number)[self._known :]:
            name = name_of(base_of(key))
            if key[-1] != ")":
                self.by_name[name] = 8 * self.number[key]
            else:
                self.derived_by_name[name] = (*self.derived_by_name.get(name, ()), (key, self.number[key]))
                self.derived.add(name)
        self._known = len(self.number)

    def ignore(self, names: Iterable[str]) -> None:
        """Remember names that nobody asks for, so that the next event with them is quick; not without end."""
        if len(self.by_name) < _MOST_NAMES:
            for name in names:
                if type(name) is str and is_text(name):
                    self.by_name.setdefault(name, -8)


@lru_cache(maxsize=4_096)
def _packer(rows: int, texts: int) -> struct.Struct:
    return struct.Struct(f"={rows}d{rows}i{texts}i")


class Encoder:
    """Buffers for one event at a time; one per thread."""

    def __init__(self, attributes: Attributes) -> None:
        self._attributes = attributes
        self._context: npt.NDArray[np.int64] | None = None
        self._room(256, 4_096)

    def _room(self, rows: int, words: int) -> None:
        self._rows_array = np.zeros(2 * rows, np.float64)
        self._words_array = np.zeros(words, np.uint8)
        self._chains = np.zeros((2, rows), np.int32)
        self._raw = memoryview(self._rows_array.data).cast("B")
        self._words = memoryview(self._words_array.data).cast("B")
        if self._context is not None:
            self.attach(self._context)

    def attach(self, context: npt.NDArray[np.int64]) -> None:
        """Tell a context where the event's rows and texts will be."""
        self._context = context
        context[DOUBLES] = context[INFO] = self._rows_array.ctypes.data
        context[WORDS] = self._words_array.ctypes.data
        context[ROW_CELLS], context[ROW_NEXT] = self._chains[0].ctypes.data, self._chains[1].ctypes.data
        context[ROW_ROOM] = self._chains.shape[1]

    def numeric(self, event: dict[str, Any]) -> int:
        """Encode a flat event of nothing but numbers; return the number of rows, or -1 if it is not one.

        All of it runs in C: no loop here looks at a value. Integers that no double equals are told by the kernel.
        """
        rows = len(event)
        if not _NUMERIC.issuperset(map(type, event.values())) or 16 * rows > len(self._raw):
            return -1
        attributes = self._attributes
        if attributes.derived and not attributes.derived.isdisjoint(event):
            return -1
        try:
            _packer(rows, 0).pack_into(self._raw, 0, *event.values(), *map(attributes.by_name.get, event))
        except struct.error:  # a name that nobody asks for, or a number that is no double
            attributes.ignore(event)
            return -1
        return rows

    def plain(self, event: dict[str, Any]) -> int:
        """Encode a flat event of plain values; return the number of rows, or -1 if it is not one."""
        get = self._attributes.by_name.get
        numbers: list[float] = []
        codes: list[int] = []
        texts: list[str] = []
        for name, value in event.items():
            kind = type(value)
            if kind is int:
                if not -_EXACT <= value <= _EXACT:
                    return -1
                found = get(name)
                if found is not None:
                    codes.append(found + 5)
                    numbers.append(value)
            elif kind is float:
                found = get(name)
                if found is not None:
                    codes.append(found + (5 if value == value else 4))
                    numbers.append(value)
            elif kind is str:
                if not value.isascii():
                    return -1
                found = get(name)
                if found is not None:
                    codes.append(found + 6)
                    numbers.append(0.0)
                    texts.append(value)
            elif value is None or kind is bool:
                found = get(name)
                if found is not None:
                    codes.append(found + (1 if value is None else 2 + value))
                    numbers.append(0.0)
            else:
                return -1
            if found is None and (type(name) is not str or not is_text(name)):
                return -1
        if self._attributes.derived and not self._attributes.derived.isdisjoint(event):
            self._derive(event, numbers, codes, texts)
        return self._packed(numbers, codes, [len(text) for text in texts], "".join(texts).encode("ascii"))

    def _derive(
        self, event: dict[str, Any], numbers: list[float], codes: list[int], texts: list[str]
    ) -> None:
        """Append the derived attributes that matter of a flat event of ASCII texts."""
        for name, keys in self._attributes.derived_by_name.items():
            if name not in event:
                continue
            for key, number in keys:
                place = derive(key, point(event[name]))
                codes.append(8 * number + place[0])
                numbers.append(float(place[1]) if place[0] == 5 else 0.0)
                if place[0] == 6:
                    texts.append(place[1])

    def record(self, record: Record) -> int:
        """Encode an event that was read; return the number of rows."""
        numbers: list[float] = []
        codes: list[int] = []
        texts: list[bytes] = []
        number = self._attributes.number.get
        for key, place, is_joint in self._places(record, is_joint=False):
            own = number(key)
            if own is None:
                continue
            rank = place[0]
            code = 8 * own + rank + (JOINT if is_joint else 0)
            if rank == 5 and float(place[1]) != place[1]:
                # An integer that no double equals: its two neighbours enclose it, and a match is verified.
                below = _double_below(place[1])
                numbers += (below, nextafter(below, inf))
                codes += (code | JOINT, code | JOINT)
                continue
            codes.append(code)
            numbers.append(float(place[1]) if rank == 5 else 0.0)
            if rank == 6:
                texts.append(place[1].encode("utf-8"))
        return self._packed(numbers, codes, [len(text) for text in texts], b"".join(texts))

    def _places(self, record: Record, *, is_joint: bool) -> Iterator[tuple[str, Cut, bool]]:
        """Every value of every attribute that matters, and whether it depends on others beside it in a list.

        An attribute that some elements of a list lack is missing there, and that, too, is a value.
        """
        for key, place in list(record.points.items()):
            if key[-1] != ")":  # those are remembered from an earlier question, and come again here
                yield key, place, is_joint
                for derived, _ in self._derived_of(key):
                    yield derived, derive(derived, place), is_joint
        for choice in record.choices:
            inside = is_joint or self._is_joint(choice)
            for element in choice.elements:
                yield from self._places(element, is_joint=inside)
                for given in choice.keys - element.keys():
                    yield given, BOTTOM, inside
                    for derived, _ in self._derived_of(given):
                        yield derived, BOTTOM, inside

    def _derived_of(self, key: str) -> tuple[tuple[str, int], ...]:
        return self._attributes.derived_by_name.get(name_of(key), ())

    def _is_joint(self, choice: Choice) -> bool:
        """Whether a list gives more than one attribute that matters: then one element must satisfy all sides on them."""
        if len(choice.elements) == 1:
            return False
        number = self._attributes.number
        return sum((key in number) + len(self._derived_of(key)) for key in choice.keys) > 1

    def _packed(self, numbers: list[float], codes: list[int], lengths: list[int], words: bytes) -> int:
        rows, texts = len(codes), len(lengths)
        if 16 * rows > len(self._raw) or len(words) > len(self._words):
            self._room(max(2 * rows, 256), max(2 * len(words), 4_096))
        _packer(rows, texts).pack_into(self._raw, 0, *numbers, *codes, *lengths)
        if words:
            self._words[: len(words)] = words
        return rows


def _double_below(value: int) -> float:
    double = float(value)
    return double if double <= value else nextafter(double, -inf)
