"""Build the columns of a segment filter by filter, or from arrays of bounds."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.compiled.records import Doubles, Int32s, Int64s
from thatch.matching.arrays import starts_of
from thatch.matching.segments.columns import Checks, Sides, Texts
from thatch.matching.segments.parts import MOST_ATTRIBUTES, take_apart
from thatch.matching.segments.records import NUMBER
from thatch.model.filters import Filter

__all__ = ["SIDE", "SIDE_BYTES", "ColumnBuilder", "packer", "sides_of_bounds", "unpack_sides"]

SIDE, SIDE_BYTES = "iidd", 24  # a side: its attribute, the kinds of its cuts, and their values


@lru_cache(maxsize=8_192)
def packer(kinds: str, count: int) -> struct.Struct:
    """Packs so many numbers, or rows of numbers, of these kinds."""
    return struct.Struct("=" + kinds * count)


class ColumnBuilder:
    """Collects filters, in the order in which they are added, and gives their columns."""

    def __init__(self) -> None:
        self._sides = bytearray()
        self._sizes: list[int] = []
        self._owner: list[int] = []
        self._slot: list[int] = []
        self._verify: list[bool] = []
        self._texts: dict[str, int] = {}
        self._sources: dict[int, bytes] = {}
        self._check_box: list[int] = []
        self._check_attribute: list[int] = []
        self._programs: list[bytes] = []
        self._attributes: set[int] = set()

    def __len__(self) -> int:
        return len(self._slot)

    def add(self, slot: int, filter: Filter, number: dict[str, int], source: str | None = None) -> bool:
        """Append a filter; False if all together would have too many attributes for one segment.

        `number` has the attributes' numbers, and learns new ones; `source` is a text of the filter, if one is at hand.
        """
        parts = take_apart(filter, number, self._keep_text)
        if len(self._attributes) + parts.most_attributes() > MOST_ATTRIBUTES and self._slot:
            return False
        self._attributes.update(parts.attributes())
        owner, first = len(self._slot), len(self._sizes)
        self._sides += packer(SIDE, len(parts.sides) // 4).pack(*parts.sides)
        self._sizes += parts.sizes
        self._owner += [owner] * len(parts.sizes)
        self._slot.append(slot)
        self._verify.append(parts.verify)
        if not parts.is_plain:
            self._sources[owner] = (str(filter) if source is None else source).encode("utf-8")
        for box, attribute, program in parts.checks:
            self._check_box.append(first + box)
            self._check_attribute.append(attribute)
            self._programs.append(program)
        return True

    def _keep_text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def sides(self) -> Sides:
        """The columns of all filters that were added."""
        return Sides(
            offsets=starts_of(self._sizes),
            **unpack_sides(np.frombuffer(self._sides, np.int64)),
            owner=np.array(self._owner, np.int32),
            slot=np.array(self._slot, np.int64),
            verify=np.array(self._verify, np.bool_),
            texts=Texts.of([text.encode("utf-8") for text in self._texts]),
            source=Texts.of([self._sources.get(owner, b"") for owner in range(len(self._slot))]),
            checks=Checks(
                np.array(self._check_box, np.int32),
                np.array(self._check_attribute, np.int32),
                Texts.of(self._programs),
            ),
        )


def unpack_sides(sides: Int64s) -> dict[str, npt.NDArray[Any]]:
    """The columns of packed sides, by their names in `Sides`."""
    integers, doubles = sides.view(np.int32), sides.view(np.float64)
    kinds = integers[1::6]
    return {
        "attribute": integers[0::6].copy(),
        "lo_kind": (kinds & 255).astype(np.int8),
        "lo_value": doubles[1::3].copy(),
        "hi_kind": (kinds >> 8).astype(np.int8),
        "hi_value": doubles[2::3].copy(),
    }


def sides_of_bounds(
    slot: Int64s, offsets: Int64s, attribute: Int32s, low: Doubles, high: Doubles
) -> Iterator[Sides]:
    """Columns of closed numeric bounds, one box per row, in parts with no more attributes than one segment can number.

    An infinite bound is the end of the numbers, which is a cut of its own.
    """
    if len(slot) > 1 and len(np.unique(attribute)) > MOST_ATTRIBUTES:
        middle = len(slot) // 2
        for first, past in ((0, middle), (middle, len(slot))):
            own = offsets[first : past + 1]
            sides = slice(own[0], own[-1])
            yield from sides_of_bounds(
                slot[first:past], own - own[0], attribute[sides], low[sides], high[sides]
            )
        return
    yield Sides(
        offsets=offsets,
        attribute=attribute,
        lo_kind=np.where(low == -np.inf, 5, NUMBER).astype(np.int8),
        lo_value=np.where(low == -np.inf, 0.0, low),
        hi_kind=np.where(high == np.inf, 6, NUMBER + 1).astype(np.int8),
        hi_value=np.where(high == np.inf, 0.0, high),
        owner=np.arange(len(slot), dtype=np.int32),
        slot=slot,
        verify=np.zeros(len(slot), np.bool_),
        texts=Texts(),
        source=Texts(np.zeros(len(slot) + 1, np.int64)),
        checks=Checks(),
    )
