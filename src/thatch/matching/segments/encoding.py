"""Events as the rows that kernels read.

A row is a value of one attribute: its number, its class (0 missing, 1 null, 2 false, 3 true, 4 NaN, 5 number, 6
text), and the number or the text. An attribute inside a list has a row per element, one of which must satisfy a side.
Where a list gives several attributes, one element must satisfy the sides on all of them: such values are `JOINT`, the
kernel tests the hull of their cells, which is necessary but not enough, and its match is verified.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.compiled.cpython import is_readable
from thatch.errors import EventError
from thatch.matching.segments.attributes import Attributes
from thatch.matching.segments.draft import packer
from thatch.matching.segments.event_rows import Derived, EventRows, is_whole
from thatch.matching.segments.reading import GROW, PlainReader
from thatch.matching.segments.records import GROUPED, JOINT
from thatch.model.derived import derive
from thatch.model.events import MAX_PARTS, Choice, Record
from thatch.model.lines import BOTTOM, Cut
from thatch.model.names import name_of
from thatch.model.values import is_text

__all__ = ["Encoder"]

_NUMERIC = frozenset({int, float})
_TEXT = frozenset({str})
_LONGEST = 100_000  # elements of a list; longer ones are read as records
_ROWS, _TEXT_ROOM = 256, 4_096  # rows, and bytes of text, for which there is room at first
_MOST_TEXT = 1 << 31  # bytes: kernels find texts by numbers of 32 bits
_MOST_KEPT = 1 << 20  # for which room is kept when an event is done
_FIRST_READ = 32  # event for which the kernel that reads dicts is worth loading


# For events of nothing but numbers.
_PLAIN = [struct.Struct(f"={rows}d{rows}i").pack_into for rows in range(_ROWS + 1)]


class Encoder:
    """Encodes one event at a time into buffers; every search that is under way has its own."""

    def __init__(self) -> None:
        self.attributes = Attributes()
        self.flags = 0  # flags of the search for the rows that were encoded last, other than by `numeric`
        self.is_listed = False  # these rows have lists, or values without an exact code
        self._reader: PlainReader | None = None
        self._read = 0  # events, until there is a reader
        self.grow(_ROWS, _TEXT_ROOM)

    def grow(self, rows: int, text: int) -> None:
        """Make room for so many rows and bytes of text; `buffers` are new then."""
        if text > _MOST_TEXT:
            raise EventError(f"The texts of an event have more than {_MOST_TEXT // 2:,} bytes together")
        self._is_large = rows > _MOST_KEPT or text > _MOST_KEPT
        self._raw = bytearray(24 * rows)
        self._words = bytearray(text)
        raw = np.frombuffer(self._raw, np.uint8)
        self.rows = rows
        self.buffers: dict[str, npt.NDArray[Any]] = {
            "row_numbers": raw[: 8 * rows].view(np.float64),
            "row_info": raw.view(np.int32),
            "words": np.frombuffer(self._words, np.uint8),
            "row_class": np.zeros(rows, np.uint8),
            "row_text_at": np.zeros(rows, np.int32),
            "row_text_length": np.zeros(rows, np.int32),
            "row_next": np.zeros(rows, np.int32),
            "row_cells": np.zeros(rows, np.int32),
            "row_element": np.zeros(rows, np.int32),
            "hits": np.zeros(rows, np.uint8),
            "sorted": np.zeros(rows, np.int32),
        }

    def numeric(self, event: dict[str, Any]) -> int:
        """Encode a flat event of nothing but numbers; return the number of rows, or -1 if it is not one.

        All of it runs in C: no Python loop looks at a value. The kernel detects integers that no double equals.
        """
        rows = len(event)
        if not _NUMERIC.issuperset(map(type, event.values())) or rows >= len(_PLAIN):
            return -1
        attributes = self.attributes
        derived = attributes.derived_by_name
        if derived and not derived.keys().isdisjoint(event):
            return -1
        try:
            _PLAIN[rows](self._raw, 0, *event.values(), *map(attributes.by_name.get, event))
        except struct.error:  # a name that no subscription uses, or a number that is no double
            attributes.ignore(event)
            return -1
        return rows

    def plain(self, event: dict[str, Any]) -> int:
        """Encode an event of plain values and lists of them; return the number of rows, or -1 if it is not one."""
        if self._reader is not None:
            if self._is_large:
                self.grow(_ROWS, _TEXT_ROOM)  # the room that a large event took is not kept for others
            count = self._reader.read(event, self.attributes, self.buffers)
            while count == GROW:
                self._make_room(2 * len(event) + 2)  # a value has two rows at most
                count = self._reader.read(event, self.attributes, self.buffers)
            if count >= 0:
                self.flags, self.is_listed = 0, False
                return count
        elif self._read < _FIRST_READ:
            self._read += 1
        elif is_readable():
            self._reader = PlainReader()
        return self._plain(event)

    def plain_reader(self) -> PlainReader | None:
        """The reader of dicts, ready to write into the buffers as they are now; None if there is none for these."""
        if self._reader is not None and not self._is_large:
            self._reader.prepare(self.attributes, self.buffers)
            return self._reader
        return None

    def _make_room(self, rows: int) -> None:
        """Make room for so many rows or, if there is, for more text."""
        self.grow(max(rows, self.rows), len(self._words) * (1 if rows > self.rows else 2))

    def _plain(self, event: dict[str, Any]) -> int:
        """The same in Python."""
        rows = EventRows()
        parts = len(event)
        if parts > MAX_PARTS:
            return -1
        codes, texts = rows.codes, rows.texts
        get, derived = self.attributes.by_name.get, self.attributes.derived_by_name
        anywhere = self.attributes.anywhere
        reversed_by_name, codes_of = self.attributes.reversed_by_name, self.attributes.texts_by_name.get
        for name, value in event.items():
            kind = type(value)
            # By far the most common, so without a call.
            if kind is str and (own := codes_of(name)) is not None:
                codes += own
                texts.append(value)
                if len(own) > 1:
                    texts.append(value[::-1])
                continue
            found = get(name)
            if found is None and (type(name) is not str or not is_text(name)):
                return -1
            more = derived.get(name, ()) if derived else ()
            if kind is list:
                parts += len(value)
                if parts > MAX_PARTS:
                    return -1
                backwards = reversed_by_name.get(name)
                if not 0 < len(value) <= _LONGEST or not self._add_list(rows, found, backwards, more, value):
                    return -1
            elif found is not None and found >= 0:
                if not rows.add_plain(found, value):
                    return -1
            elif not _is_plain(value):
                return -1
            elif anywhere >= 0 and kind is str:
                codes.append(anywhere + 6)
                texts.append(value)
            if more and kind is not list and not rows.add_derived(more, value, 0, 0):
                return -1
        return self._packed(rows)

    def _add_list(
        self, rows: EventRows, found: int | None, backwards: int | None, more: Derived, values: list[Any]
    ) -> bool:
        """Add the elements of a list of plain values; False if it is another list, or there are too many of them."""
        if found is None or found < 0:
            if self.attributes.anywhere >= 0:
                rows.add_texts(
                    self.attributes.anywhere + 6, None, [each for each in values if type(each) is str]
                )
            if not more:
                return all(map(_is_plain, values))
            found = None
        elif _TEXT.issuperset(map(type, values)) and (not more or backwards is not None):
            return rows.add_texts(found + 6, backwards, values)
        # One attribute: any element will do. Several: one element must satisfy all, so rows name their element.
        is_joint = (more and found is not None) or len(more) > 1
        number = rows.new_list() if is_joint else 0
        if is_joint and not number:
            return False
        for value in values:
            element = rows.new_element()
            if found is not None and not rows.add_plain(found, value, number, element):
                return False
            if more and not (_is_plain(value) and rows.add_derived(more, value, number, element)):
                return False
        return True

    def record(self, record: Record) -> int:
        """Encode an event that was read; return the number of rows."""
        rows = EventRows()
        self._add_points(rows, record, 0, 0, joint=0)
        for choice in record.choices:
            self._add_choice(rows, choice, joint=0)
        return self._packed(rows)

    def _add_points(self, rows: EventRows, record: Record, number: int, element: int, *, joint: int) -> None:
        for key, cut in list(record.points.items()):
            if key[-1] != ")":  # derived values were cached by an earlier query, and are added below
                self._add_point(rows, key, cut, number, element, joint=joint)

    def _add_point(
        self, rows: EventRows, key: str, cut: Cut, number: int, element: int, *, joint: int
    ) -> None:
        own = self.attributes.number.get(key)
        if own is not None:
            rows.add_cut(own, cut, number, element, joint)
        for derived, other in self._derived_of(key):
            rows.add_cut(other, derive(derived, cut), number, element, joint)

    def _add_choice(self, rows: EventRows, choice: Choice, *, joint: int) -> None:
        """Add the elements of a list. An attribute that some elements lack is missing there: that, too, is a value.

        Lists inside a list are verified.
        """
        is_flat = not any(element.choices for element in choice.elements)
        number = 0
        if self._is_joint(choice):
            number = rows.new_list() if is_flat and not joint else 0
            joint = 0 if number else JOINT
        for each in choice.elements:
            element = rows.new_element()
            self._add_points(rows, each, number, element, joint=joint)
            for inner in each.choices:
                self._add_choice(rows, inner, joint=joint)
            for given in choice.keys - each.keys():
                self._add_point(rows, given, BOTTOM, number, element, joint=joint)

    def _derived_of(self, key: str) -> Derived:
        return self.attributes.derived_by_name.get(name_of(key), ())

    def _is_joint(self, choice: Choice) -> bool:
        """Whether a list gives more than one attribute that matters: then one element must satisfy all sides on them."""
        if len(choice.elements) == 1:
            return False
        number = self.attributes.number
        return sum((key in number) + len(self._derived_of(key)) for key in choice.keys) > 1

    def _packed(self, rows: EventRows) -> int:
        """Write rows into the buffers; return -1 if a text is not valid Unicode. Sets `flags`."""
        joined = "".join(rows.texts)
        if joined.isascii():
            words, lengths = joined.encode("ascii"), [*map(len, rows.texts)]
        else:
            try:
                encoded = [text.encode("utf-8") for text in rows.texts]
            except UnicodeEncodeError:
                return -1
            words, lengths = b"".join(encoded), [*map(len, encoded)]
        count = len(rows.codes)
        most = max(count, rows.element_count)  # kernels mark elements too, even those without a row
        if most > self.rows or len(words) > len(self._words) or self._is_large:
            kept = (_ROWS, _TEXT_ROOM) if self._is_large else (self.rows, len(self._words))
            self.grow(max(2 * most, kept[0]), max(2 * len(words), kept[1]))
        self.is_listed = rows.element_count > 0 or rows.is_joint
        self.flags = GROUPED if rows.list_count else 0
        numbers = rows.numbers
        if numbers:  # otherwise nothing reads them
            packer("d", len(numbers)).pack_into(self._raw, 0, *numbers)
        if self.flags:
            rows.complete()
        info = [*rows.codes, *lengths, *rows.lists, *rows.elements]
        packer("i", len(info)).pack_into(self._raw, 8 * count, *info)
        if words:
            self._words[: len(words)] = words
        return count


def _is_plain(value: Any) -> bool:
    """Whether a value is of one of the plain types, and one that an event may have."""
    kind = type(value)
    if kind is str:
        return is_text(value)
    return kind is float or kind is bool or value is None or (kind is int and is_whole(value))
