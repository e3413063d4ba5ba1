"""Values of one type in order, each with two labels: of the cut just below it and of the cut just above it.

The order-maintenance problem: values come at any time, and labels must stay in their order. A new value gets a label
between those of its neighbours; where they leave no room all labels are spaced evenly, and whoever keeps labels is
told. Blocks of a few hundred values keep insertion cheap.

    value      -inf        3          7        inf
    below   LOWEST+5       L          M         -1
    above   LOWEST+6      L+1        M+1         0

Nothing lies between a cut below a value and the cut above it, so their labels are neighbours, and only values need room.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from struct import Struct
from typing import Any

import numpy as np

from thatch.reduction.boxes import Ints

__all__ = ["BELOW", "OrderedValues", "number_between", "text_between"]

_LARGEST_BLOCK = 512
_ROOM = 4  # between two labels: the cut above the lower value, two cuts of a new one, and one step

BELOW, ABOVE = 1, 2  # bits: which cuts of a value are in use


class _Block:
    """Neighbouring values with the label below each, and which of its two cuts are in use."""

    __slots__ = ("labels", "sides", "values")

    def __init__(self, values: list[Any], labels: array[int], sides: bytearray) -> None:
        self.values = values
        self.labels = labels
        self.sides = sides


class OrderedValues:
    """Labelled values of one type, from the least value on.

    Parameters
    ----------
    first : the least value of the type, and the label below it; neither changes
    last : the greatest value and the label below it, None if the type has no greatest
    end : the label above all values
    between : where a value stands between two others
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
        """The label of a cut; if its value is not known, of the nearest one below."""
        block = self._blocks[bisect_right(self._firsts, value) - 1]
        index = bisect_right(block.values, value) - 1
        return block.labels[index] + (side if block.values[index] == value else 1)

    def ceiling(self, value: Any, side: int) -> int:
        """The label of a cut; if its value is not known, of the nearest one above."""
        number = bisect_right(self._firsts, value) - 1
        block = self._blocks[number]
        index = bisect_right(block.values, value) - 1
        if block.values[index] == value:
            return block.labels[index] + side
        return self._following(number, index)[1]

    def label(self, value: Any, side: int) -> int | None:
        """The label of a cut, which is in use from now on; None if there is no room for its value."""
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
        """The next value and its label; None and the end after the last."""
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
        """The labels below all values, rising."""
        return np.concatenate([np.array(block.labels, np.int64) for block in self._blocks])

    def space_evenly(self) -> None:
        """Give every value but the pinned ones a new label, as far from its neighbours as from any other."""
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
        """The nearest cuts in use at or below a label, and above it; None where the type begins or ends."""
        number = bisect_right(self._blocks, label, key=lambda block: block.labels[0]) - 1
        index = bisect_right(self._blocks[number].labels, label) - 1
        block = self._blocks[number]
        own = label - block.labels[index]  # 0 on the value, 1 or more past it
        sides = block.sides[index]
        low = next(self._cuts_down(number, index, sides & (BELOW if own == 0 else BELOW | ABOVE)), None)
        high = next(self._cuts_up(number, index, sides & (ABOVE if own == 0 else 0)), None)
        return low, high

    def _cuts_down(self, number: int, index: int, sides: int) -> Iterator[tuple[Any, int]]:
        """Cuts in use from these of one value on, falling."""
        while True:
            value = self._blocks[number].values[index]
            if sides & ABOVE:
                yield value, 1
            if sides & BELOW:
                yield value, 0
            index -= 1
            if index < 0:
                number -= 1
                if number < 0:
                    return
                index = len(self._blocks[number].values) - 1
            sides = self._blocks[number].sides[index]

    def _cuts_up(self, number: int, index: int, sides: int) -> Iterator[tuple[Any, int]]:
        """Cuts in use from these of one value on, rising."""
        while True:
            value = self._blocks[number].values[index]
            if sides & BELOW:
                yield value, 0
            if sides & ABOVE:
                yield value, 1
            index += 1
            if index == len(self._blocks[number].values):
                number, index = number + 1, 0
                if number == len(self._blocks):
                    return
            sides = self._blocks[number].sides[index]


# --- labels for new values ---------------------------------------------------------------------------------------------

Between = Callable[[Any, Any, Any, int], int]
"""`(value, before, after, room)`: where from 0 to `room` a value between two others stands; None after means none."""

_DOUBLE = Struct("<d")
_BITS = Struct("<q")
_BYTES = 7  # of text that are compared; as a number they stay small for Python
_TEXTS = 1 << 8 * _BYTES
_MARGIN = 8  # bits: a text leaves at least this part of the room on both sides, for its neighbours may be much alike


def number_between(value: float, before: float, after: float, room: int) -> int:
    """By the bits of the doubles: even steps inside a power of two, and as many steps for every power."""
    start, end = _code(before), _code(after)
    if start == end:  # whole numbers that no double tells apart
        return room >> 1
    return (_code(value) - start) * room // (end - start)


def _code(value: float) -> int:
    """A whole number that rises with the double nearest to the value."""
    bits: int = _BITS.unpack(_DOUBLE.pack(value))[0]
    return bits if bits >= 0 else -(bits + (1 << 63))


def text_between(value: str, before: str, after: str | None, room: int) -> int:
    """By the first bytes after what the neighbours have in common, which the value has too."""
    shared = 0 if after is None else _shared(before, after)
    start = _bytes(before, shared)
    end = _TEXTS if after is None else _bytes(after, shared)
    margin = room >> _MARGIN
    if start >= end:
        return room >> 1
    place = (_bytes(value, shared) - start) * room // (end - start)
    return min(max(place, margin), room - margin)


def _bytes(text: str, start: int) -> int:
    """Bytes from a character on, as a number; the order of UTF-8 is that of code points."""
    return int.from_bytes(text[start : start + _BYTES].encode()[:_BYTES].ljust(_BYTES, b"\0"), "big")


def _shared(one: str, other: str) -> int:
    """How many characters two texts have in common from the start."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) >> 1
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
