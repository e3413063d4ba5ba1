"""Events as the rows that kernels read.

A row is a value of one attribute: its number, its class (0 missing, 1 null, 2 false, 3 true, 4 NaN, 5 number, 6
text), and the number or the text. An attribute inside a list has a row per element, one of which must satisfy a side.
Where a list gives several attributes, one element must satisfy the sides on all of them: such values are `JOINT`, the
kernel tests the hull of their cells, which is necessary but not enough, and its match is verified.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import lru_cache
from math import inf, nextafter
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.matching.segments import fields
from thatch.matching.segments.attributes import Attributes
from thatch.matching.segments.fields import JOINT
from thatch.model.derived import derive
from thatch.model.events import Choice, Record
from thatch.model.lines import BOTTOM, Cut, point
from thatch.model.names import name_of
from thatch.model.values import is_text

__all__ = ["Encoder"]

_EXACT = 2**53
_NUMERIC = frozenset({int, float})


@lru_cache(maxsize=4_096)
def _packer(rows: int, texts: int) -> struct.Struct:
    return struct.Struct(f"={rows}d{rows}i{texts}i")


class Encoder:
    """Buffers for one event at a time; one per search that is under way."""

    def __init__(self) -> None:
        self.attributes = Attributes()
        self.grow(256, 4_096)

    def grow(self, rows: int, text: int) -> None:
        """Make room for more rows and bytes of text; `buffers` are new then."""
        self._raw = bytearray(16 * rows)
        self._words = bytearray(text)
        raw = np.frombuffer(self._raw, np.uint8)
        self.rows = rows
        self.buffers: dict[int, npt.NDArray[Any]] = {
            fields.ROW_NUMBERS: raw[: 8 * rows].view(np.float64),
            fields.ROW_INFO: raw.view(np.int32),
            fields.WORDS: np.frombuffer(self._words, np.uint8),
            fields.ROW_CLASS: np.zeros(rows, np.uint8),
            fields.ROW_TEXT_AT: np.zeros(rows, np.int32),
            fields.ROW_TEXT_LENGTH: np.zeros(rows, np.int32),
            fields.ROW_NEXT: np.zeros(rows, np.int32),
            fields.ROW_CELLS: np.zeros(rows, np.int32),
        }

    def numeric(self, event: dict[str, Any]) -> int:
        """Encode a flat event of nothing but numbers; return the number of rows, or -1 if it is not one.

        All of it runs in C: no loop here looks at a value. Integers that no double equals are told by the kernel.
        """
        rows = len(event)
        if not _NUMERIC.issuperset(map(type, event.values())) or 16 * rows > len(self._raw):
            return -1
        attributes = self.attributes
        derived = attributes.derived_by_name
        if derived and not derived.keys().isdisjoint(event):
            return -1
        try:
            _packer(rows, 0).pack_into(self._raw, 0, *event.values(), *map(attributes.by_name.get, event))
        except struct.error:  # a name that nobody asks for, or a number that is no double
            attributes.ignore(event)
            return -1
        return rows

    def plain(self, event: dict[str, Any]) -> int:
        """Encode a flat event of plain values; return the number of rows, or -1 if it is not one."""
        get = self.attributes.by_name.get
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
            if found is None and (type(name) is not str or not is_text(name) or not _is_plain_text(value)):
                return -1
        derived = self.attributes.derived_by_name
        is_derived = bool(derived) and not derived.keys().isdisjoint(event)
        if is_derived and not self._derive(event, numbers, codes, texts):
            return -1
        joined = "".join(texts)
        if joined.isascii():
            return self._packed(numbers, codes, [*map(len, texts)], joined.encode("ascii"))
        try:
            encoded = [text.encode("utf-8") for text in texts]
        except UnicodeEncodeError:
            return -1
        return self._packed(numbers, codes, [*map(len, encoded)], b"".join(encoded))

    def _derive(
        self, event: dict[str, Any], numbers: list[float], codes: list[int], texts: list[str]
    ) -> bool:
        """Append the derived attributes that matter of a flat event; False if one is an integer that no double equals."""
        derived = self.attributes.derived_by_name
        for name, value in event.items():
            for key, number in derived.get(name, ()):
                place = derive(key, point(value))
                codes.append(8 * number + place[0])
                numbers.append(float(place[1]) if place[0] == 5 else 0.0)
                if place[0] == 6:
                    texts.append(place[1])
                elif place[0] == 5 and numbers[-1] != place[1]:
                    return False
        return True

    def record(self, record: Record) -> int:
        """Encode an event that was read; return the number of rows."""
        numbers: list[float] = []
        codes: list[int] = []
        texts: list[bytes] = []
        number = self.attributes.number.get
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
        return self.attributes.derived_by_name.get(name_of(key), ())

    def _is_joint(self, choice: Choice) -> bool:
        """Whether a list gives more than one attribute that matters: then one element must satisfy all sides on them."""
        if len(choice.elements) == 1:
            return False
        number = self.attributes.number
        return sum((key in number) + len(self._derived_of(key)) for key in choice.keys) > 1

    def _packed(self, numbers: list[float], codes: list[int], lengths: list[int], words: bytes) -> int:
        rows, texts = len(codes), len(lengths)
        if 16 * rows > len(self._raw) or len(words) > len(self._words):
            self.grow(max(2 * rows, self.rows), max(2 * len(words), len(self._words)))
        _packer(rows, texts).pack_into(self._raw, 0, *numbers, *codes, *lengths)
        if words:
            self._words[: len(words)] = words
        return rows


def _is_plain_text(value: Any) -> bool:
    """Whether a value that nobody asks for is one that an event may have."""
    return type(value) is not str or is_text(value)


def _double_below(value: int) -> float:
    double = float(value)
    return double if double <= value else nextafter(double, -inf)
