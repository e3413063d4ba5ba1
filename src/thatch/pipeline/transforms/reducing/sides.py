"""Write filters as boxes: for every side the name of its axis and its two cuts as bytes.

Tasks write one filter at a time; numbering axes and cuts takes all filters, see `arranging`. An axis is named by the key of
its attribute, or for a residual check by the text of the check after a zero byte, with which no key begins. A check and its
opposite share an axis, as in `thatch.reduction.coordinates`: negated checks lie below the cut (1,), others above.

Cuts become bytes that sort as the cuts do, so that Arrow can rank millions of them without a Python object for each::

    (r,)            the rank, one byte
    (5, v, side)    5, the greatest double that is not above v (8 bytes), what v exceeds it by (2 bytes), the side
    (6, s, side)    6, the UTF-8 bytes of s with 00 written as 00 ff, then 00 and the side

Doubles are written so that their bytes rise with them: negative ones with every bit flipped, the others with the sign bit
flipped. An integer of 64 bits exceeds the double below it by less than 1,024. UTF-8 sorts as code points do, and no text
can end in 00 and a side, so that none is a prefix of another.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from itertools import product
from math import inf, nextafter, prod

import numpy as np
import pyarrow as pa

from thatch.model.conjunctions import Conjunction
from thatch.model.filters import Filter
from thatch.model.lines import BOTTOM, RANK_TEXT, TOP, WHOLE, Constraint, Cut
from thatch.model.residuals import Residual
from thatch.reduction.coordinates.coordinates import MOST_BOXES
from thatch.reduction.coordinates.implications import Implications

__all__ = [
    "BoxWriter",
    "ConjunctionSides",
    "axis_of",
    "encode_cut",
    "list_attributes",
    "write_question",
    "write_row",
]

Interval = tuple[bytes, bytes]
ConjunctionSides = dict[str, list[Interval]]  # by axis: the intervals that one conjunction allows

_HALF = {True: (BOTTOM, (1,)), False: ((1,), TOP)}  # by whether a check is negated


def write_row(filter: Filter) -> list[ConjunctionSides] | None:
    """Write a filter as a row, which may cover others: exactly what satisfies it; None if it has too many boxes."""
    if not filter.has_conjunctions or filter.box_count() > MOST_BOXES:
        return None
    return [_own(each) for each in filter.conjunctions]


def write_question(filter: Filter, implications: Implications) -> list[ConjunctionSides] | None:
    """Write a filter as a question, which may be covered, with all that its conditions imply on the axes of rows.

    If that makes too many boxes, what is only implied becomes one interval; None if there are still too many.
    """
    if not filter.has_conjunctions:
        return None
    found = []
    count = 0
    for conjunction in filter.conjunctions:
        own = _own(conjunction)
        implied = {key: _intervals(each) for key, each in implications.of(conjunction) if each != WHOLE}
        for check in implications.checks_of(conjunction):
            implied[axis_of(check)] = _intervals(_HALF[check.negated])
        sides = own | implied
        if _size(sides) > MOST_BOXES:
            sides |= {key: [(each[0][0], each[-1][1])] for key, each in implied.items() if key not in own}
        count += _size(sides)
        if count > MOST_BOXES:
            return None
        found.append(sides)
    return found


def _own(conjunction: Conjunction) -> ConjunctionSides:
    sides = {key: _intervals(constraint) for key, constraint in conjunction.constraints}
    for check in conjunction.residuals:
        sides[axis_of(check)] = _intervals(_HALF[check.negated])
    return sides


def _intervals(constraint: Constraint) -> list[Interval]:
    ends = map(encode_cut, constraint)
    return list(zip(ends, ends, strict=True))


def _size(sides: ConjunctionSides) -> int:
    return prod(map(len, sides.values()))


def axis_of(check: Residual) -> str:
    """The name of the axis that a check and its opposite share."""
    return f"\0{check.opposite() if check.negated else check!r}"


def list_attributes(filter: Filter) -> str:
    """The keys that a filter constrains, as text."""
    keys = {key for each in filter.outer_conjunctions for key, _ in each.constraints}
    keys.update(key for each in filter.outer_conjunctions for check in each.residuals for key in check.keys)
    return ", ".join(sorted(keys))


class BoxWriter:
    """Gathers the boxes of many filters as columns."""

    def __init__(self) -> None:
        self._axes: dict[str, int] = {}
        self._axis: list[int] = []
        self._lows: list[bytes] = []
        self._highs: list[bytes] = []
        self._ends: list[int] = [0]  # of boxes, in sides
        self._filters: list[int] = [0]  # ends of filters, in boxes

    def add(self, conjunctions: Iterable[ConjunctionSides]) -> None:
        """Add the next filter."""
        for sides in conjunctions:
            axes = [self._axes.setdefault(each, len(self._axes)) for each in sides]
            for chosen in product(*sides.values()):
                self._axis += axes
                self._lows += [low for low, _ in chosen]
                self._highs += [high for _, high in chosen]
                self._ends.append(len(self._axis))
        self._filters.append(len(self._ends) - 1)

    def sides(self) -> pa.Table:
        """`axis`, `low`, `high` of every side."""
        names = pa.array(list(self._axes), pa.string())
        axis = pa.DictionaryArray.from_arrays(pa.array(self._axis, pa.int32()), names)
        ends = [pa.array(each, pa.large_binary()) for each in (self._lows, self._highs)]
        return pa.table({"axis": axis, "low": ends[0], "high": ends[1]})

    def sizes(self) -> pa.LargeListArray:
        """For every filter the number of sides of each of its boxes."""
        sizes = np.diff(np.array(self._ends, np.int64)).astype(np.int32)
        return pa.LargeListArray.from_arrays(pa.array(self._filters, pa.int64()), pa.array(sizes))


# --- cuts ------------------------------------------------------------------------------------------------------------

_DOUBLE = struct.Struct(">d")
_BITS = struct.Struct(">Q")
_NUMBER = struct.Struct(">BQHB")
_SIGN = 1 << 63
_ALL = (1 << 64) - 1
_EXACT = 2**53  # integers up to here are doubles
_TEXT = bytes([RANK_TEXT])
_ENDS = (b"\0\0", b"\0\1")


def encode_cut(cut: Cut) -> bytes:
    """Encode a cut; `encode_cut(a) < encode_cut(b)` exactly if `a < b`."""
    if len(cut) == 1:
        return bytes(cut)
    rank, value, side = cut
    if rank == RANK_TEXT:
        text: bytes = value.encode()
        return _TEXT + text.replace(b"\0", b"\0\xff") + _ENDS[side]
    double, rest = float(value), 0
    if isinstance(value, int) and not -_EXACT <= value <= _EXACT:
        if double > value:
            double = nextafter(double, -inf)
        rest = value - int(double)
    (bits,) = _BITS.unpack(_DOUBLE.pack(double + 0.0))  # -0.0 is 0.0
    return _NUMBER.pack(rank, bits ^ (_ALL if bits & _SIGN else _SIGN), rest, side)
