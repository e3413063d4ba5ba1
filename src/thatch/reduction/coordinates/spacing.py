"""Where a value stands between two others: the first guess of its label.

Labels keep only the order. A label near where the value would stand on a fine scale leaves room on both sides for the
values to come; a label in the middle of what is free would use up a run of rising values in a few dozen steps.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any

__all__ = ["Between", "number_between", "text_between"]

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
