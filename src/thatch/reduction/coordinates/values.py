"""Values of one type in order, each with two labels: one for the cut just below it, one for the cut just above it.

This is the order-maintenance problem: values arrive at any time, and labels must keep their order. A new value gets a
label between those of its neighbours. If they leave no room, all labels are spaced evenly, and everybody who keeps labels
is notified. Blocks of a few hundred values keep insertion cheap.

    value      -inf        3          7        inf
    below   LOWEST+5       L          M         -1
    above   LOWEST+6      L+1        M+1         0

Nothing lies between the cut below a value and the cut above it, so their labels are consecutive.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable
from struct import Struct
from typing import Any

import numpy as np

from thatch.reduction.boxes import Ints

__all__ = ["BELOW", "OrderedValues", "number_between", "text_between"]

_LARGEST_BLOCK = 512
_ROOM = 4  # needed between two labels: the cut above the lower value, two cuts of a new one, and one step

BELOW, ABOVE = 1, 2  # bits: which cuts of a value are in use


class _Block:
    """Neighbouring values with the label below each, and which of its two cuts are in use."""

    __slots__ = ("labels", "sides", "values")

    def __init__(self, values: list[Any], labels: array[int], sides: bytearray) -> None:
        self.values = values
        self.labels = labels
        self.sides = sides


class OrderedValues:
    """Labelled values of one type.

    Parameters
    ----------
    first : the least value of the type and the label below it, which never changes
    last : the greatest value and the label below it, None if the type has no greatest value
    end : the label above all values
    between : estimates where a value lies between two others
    """

    __slots__ = ("_between", "_blocks", "_end", "_firsts", "_has_last", "_size")

    def __init__(
        self, first: tuple[Any, int], last: tuple[Any, int] | None, end: int, between: Between
    ) -> None:
        pinned = [first] if last is None else [first, last]
        values = [value for value, _ in pinned]
        # The ends of a type are cuts of every line.
        sides = bytearray([BELOW] if last is None else [BELOW, ABOVE])
        self._blocks = [_Block(values, array("q", [label for _, label in pinned]), sides)]
        self._firsts = [first[0]]
        self._has_last = last is not None
        self._end = end
        self._between = between
        self._size = len(pinned)

    def __len__(self) -> int:
        return self._size

    def floor(self, value: Any, side: int) -> int:
        """The label of a cut; if its value is unknown, that of the nearest one below."""
        block = self._blocks[bisect_right(self._firsts, value) - 1]
        index = bisect_right(block.values, value) - 1
        return block.labels[index] + (side if block.values[index] == value else 1)

    def ceiling(self, value: Any, side: int) -> int:
        """The label of a cut; if its value is unknown, that of the nearest one above."""
        number = bisect_right(self._firsts, value) - 1
        block = self._blocks[number]
        index = bisect_right(block.values, value) - 1
        if block.values[index] == value:
            return block.labels[index] + side
        return self._following(number, index)[1]

    def label(self, value: Any, side: int) -> int | None:
        """Put a cut in use and return its label; None if there is no room for its value."""
        number = bisect_right(self._firsts, value) - 1
        block = self._blocks[number]
        index = bisect_right(block.values, value) - 1
        bit = BELOW << side
        if block.values[index] == value:
            block.sides[index] |= bit
            return block.labels[index] + side
        after, end = self._following(number, index)
        start = block.labels[index]
        room = end - start - _ROOM
        if room < 0:
            return None
        label = start + 2 + min(max(self._between(value, block.values[index], after, room), 0), room)
        block.values.insert(index + 1, value)
        block.labels.insert(index + 1, label)
        block.sides.insert(index + 1, bit)
        self._size += 1
        if len(block.values) > _LARGEST_BLOCK:
            self._split(number)
        return label + side

    def _following(self, number: int, index: int) -> tuple[Any, int]:
        """The next value and its label; after the last one, None and the end."""
        block = self._blocks[number]
        if index + 1 < len(block.values):
            return block.values[index + 1], block.labels[index + 1]
        if number + 1 < len(self._blocks):
            block = self._blocks[number + 1]
            return block.values[0], block.labels[0]
        return None, self._end

    def _split(self, number: int) -> None:
        block = self._blocks[number]
        half = len(block.values) // 2
        upper = _Block(block.values[half:], block.labels[half:], block.sides[half:])
        del block.values[half:], block.labels[half:], block.sides[half:]
        self._blocks.insert(number + 1, upper)
        self._firsts.insert(number + 1, upper.values[0])

    # --- labels as a whole ---------------------------------------------------------------------------------------

    def labels(self) -> Ints:
        """The labels below all values, ascending."""
        return np.concatenate([np.array(block.labels, np.int64) for block in self._blocks])

    def space_evenly(self) -> None:
        """Give every value but the first and last a new label, all at the same distance."""
        labels = self.labels()
        end = int(labels[-1]) if self._has_last else self._end
        start = int(labels[0])
        step = (end - start) // (self._size if not self._has_last else self._size - 1)
        spaced = start + step * np.arange(self._size, dtype=np.int64)
        if self._has_last:
            spaced[-1] = end
        done = 0
        for block in self._blocks:
            count = len(block.labels)
            block.labels = array("q", spaced[done : done + count].tobytes())
            done += count

    def around(self, label: int) -> tuple[tuple[Any, int] | None, tuple[Any, int] | None]:
        """The nearest cuts in use at or below a label, and above it; None above the last value."""
        number = bisect_right(self._blocks, label, key=lambda block: block.labels[0]) - 1
        block = self._blocks[number]
        index = bisect_right(block.labels, label) - 1
        value, sides, is_on_value = block.values[index], block.sides[index], label == block.labels[index]
        # Every value has at least one cut in use.
        if not is_on_value:
            low = (value, 1 if sides & ABOVE else 0)
        elif sides & BELOW:
            low = (value, 0)
        else:
            before, index_before = (block, index - 1) if index else (self._blocks[number - 1], -1)
            low = (before.values[index_before], 1 if before.sides[index_before] & ABOVE else 0)
        if is_on_value and sides & ABOVE:
            return low, (value, 1)
        if index + 1 == len(block.values):
            if number + 1 == len(self._blocks):
                return low, None
            block, index = self._blocks[number + 1], -1
        return low, (block.values[index + 1], 0 if block.sides[index + 1] & BELOW else 1)


# --- labels for new values -------------------------------------------------------------------------------------------

# Labels only keep the order. A label near the value's position on a fine scale leaves room on both sides for later values;
# a label in the middle of the free range would use up a run of rising values in a few dozen steps.
Between = Callable[[Any, Any, Any, int], int]
"""`(value, before, after, room)`: where a value lies between two others, from 0 to `room`; `after` may be None."""

_DOUBLE = Struct("<d")
_BITS = Struct("<q")
_BYTES = 7  # of text that are compared; they fit a small Python integer
_TEXTS = 1 << 8 * _BYTES
_MARGIN = (
    8  # bits: leave at least 1/256 of the room on both sides of a text, because its neighbours may be similar
)


def number_between(value: float, before: float, after: float, room: int) -> int:
    """Compare the bits of the doubles: even steps inside a power of two, and as many steps for every power."""
    start, end = _code(before), _code(after)
    if start == end:  # whole numbers with the same nearest double
        return room >> 1
    return (_code(value) - start) * room // (end - start)


def _code(value: float) -> int:
    """A whole number that grows with the double nearest to the value."""
    bits: int = _BITS.unpack(_DOUBLE.pack(value))[0]
    return bits if bits >= 0 else -(bits + (1 << 63))


def text_between(value: str, before: str, after: str | None, room: int) -> int:
    """Compare the first bytes after the prefix that the neighbours, and so the value, have in common."""
    shared = 0 if after is None else _shared(before, after)
    start = _bytes(before, shared)
    end = _TEXTS if after is None else _bytes(after, shared)
    margin = room >> _MARGIN
    if start >= end:
        return room >> 1
    position = (_bytes(value, shared) - start) * room // (end - start)
    return min(max(position, margin), room - margin)


def _bytes(text: str, start: int) -> int:
    """The bytes from a character on, as a number; UTF-8 has the order of code points."""
    return int.from_bytes(text[start : start + _BYTES].encode()[:_BYTES].ljust(_BYTES, b"\0"), "big")


def _shared(one: str, other: str) -> int:
    """The length of the common prefix of two texts."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) >> 1
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
