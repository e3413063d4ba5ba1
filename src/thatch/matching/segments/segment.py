"""A segment: boxes grouped, ordered and coded for the kernels; immutable but for the flags of its subscriptions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.matching.segments import kernels
from thatch.matching.segments.building.kernels import order_sides
from thatch.matching.segments.building.layout import Layout, selectivity
from thatch.matching.segments.building.tables import Tables, ranked
from thatch.matching.segments.sides import NUMBER, TEXT, Sides

__all__ = ["Segment"]

_NARROW = 64  # attributes whose codes fit two registers


@dataclass(slots=True, eq=False)
class Segment:
    """Columns of one segment; `desc` is what kernels get."""

    tables: Tables
    box_offsets: npt.NDArray[np.int64]
    side_attribute: npt.NDArray[np.uint16]
    side_lo: npt.NDArray[np.uint32]
    side_hi: npt.NDArray[np.uint32]
    box_subscription: npt.NDArray[np.int32]
    flags: npt.NDArray[np.uint8]
    place: npt.NDArray[np.int64]
    by_place: npt.NDArray[np.int32]
    group_at: npt.NDArray[np.int32]
    groups: npt.NDArray[np.int64]
    codes: npt.NDArray[np.uint16]
    mixed: npt.NDArray[np.uint16]
    left_offsets: npt.NDArray[np.int32]
    left_attribute: npt.NDArray[np.uint16]
    left_lo: npt.NDArray[np.uint16]
    left_hi: npt.NDArray[np.uint16]
    local_of: npt.NDArray[np.int32]
    dead: int = 0
    desc: npt.NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        attributes = len(self.tables.attributes)
        numbers = [
            attributes,
            len(self.groups),
            self.groups.shape[1],
            attributes <= _NARROW,
            not self.tables.shifts.any(),
            len(self.local_of),
            0, 0, 0, 0,
        ]  # fmt: skip
        arrays: list[npt.NDArray[Any]] = [
            self.local_of,
            self.tables.number_at,
            self.tables.numbers,
            self.tables.text_at,
            self.tables.text_keys,
            self.tables.text_offsets,
            self.tables.text_blob,
            self.tables.shifts,
            self.group_at,
            self.groups,
            self.codes,
            self.mixed,
            self.left_offsets,
            self.left_attribute,
            self.left_lo,
            self.left_hi,
            self.box_offsets,
            self.side_attribute,
            self.side_lo,
            self.side_hi,
            self.box_subscription,
            self.flags,
            self.place,
            self.tables.grid_at,
            self.tables.grid,
            self.tables.grid_scale,
        ]
        assert all(array.flags.c_contiguous for array in arrays)
        self.desc = np.array([*map(int, numbers), *(array.ctypes.data for array in arrays)], np.int64)

    @classmethod
    def build(cls, sides: Sides) -> Segment:
        """The segment of a set of boxes."""
        tables, attribute, low, high = ranked(sides)
        order = np.empty(len(attribute), np.int32)
        order_sides(sides.offsets, selectivity(tables, attribute, low, high), order)
        layout = Layout(sides.offsets, tables, attribute, low, high, order)
        columns = layout.ordered(sides)
        local_of = np.full(int(tables.attributes[-1]) + 1 if len(tables.attributes) else 1, -1, np.int32)
        local_of[tables.attributes] = np.arange(len(tables.attributes), dtype=np.int32)
        return cls(tables=tables, local_of=local_of, **columns)

    def __len__(self) -> int:
        return len(self.place)

    def find(self, place: int) -> int:
        """The living subscription at a place, -1 if there is none."""
        position = int(np.searchsorted(self.place, place, sorter=self.by_place))
        while position < len(self.place) and self.place[self.by_place[position]] == place:
            subscription = int(self.by_place[position])
            if not self.flags[subscription] & kernels.DEAD:
                return subscription
            position += 1
        return -1

    def remove(self, subscription: int) -> None:
        """Mark a subscription dead: kernels pass it over from now on."""
        self.flags[subscription] |= kernels.DEAD
        self.dead += 1

    def is_dead(self) -> npt.NDArray[np.bool_]:
        """Which subscriptions are dead."""
        is_dead: npt.NDArray[np.bool_] = (self.flags & kernels.DEAD) != 0
        return is_dead

    def sides(self) -> Sides:
        """The boxes as exact columns again, for a merge."""
        lo_kind, lo_value = self._cuts(self.side_lo.astype(np.int64))
        hi_kind, hi_value = self._cuts(self.side_hi.astype(np.int64) + 1)
        everything = Sides(
            offsets=self.box_offsets,
            attribute=self.tables.attributes[self.side_attribute],
            lo_kind=lo_kind,
            lo_value=lo_value,
            hi_kind=hi_kind,
            hi_value=hi_value,
            subscription=self.box_subscription,
            place=self.place,
            verify=(self.flags & kernels.VERIFY) != 0,
            texts=self.tables.texts(),
        )
        return everything.without(self.is_dead()) if self.dead else everything

    def _cuts(self, rank: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float64]]:
        """Kind and value of cuts given by their rank."""
        tables, which = self.tables, self.side_attribute
        numbers = 2 * np.diff(tables.number_at)[which]
        texts = 2 * np.diff(tables.text_at)[which]
        kind = np.where(rank < 6, rank, np.where(rank == 6 + numbers, 6, 7)).astype(np.int8)
        value = np.zeros(len(rank))
        is_number = (rank >= 6) & (rank < 6 + numbers)
        step = rank[is_number] - 6
        kind[is_number] = NUMBER + (step & 1)
        value[is_number] = tables.numbers[tables.number_at[which[is_number]] + (step >> 1)]
        is_text = (rank >= 7 + numbers) & (rank < 7 + numbers + texts)
        step = rank[is_text] - 7 - numbers[is_text]
        kind[is_text] = TEXT + (step & 1)
        value[is_text] = tables.text_at[which[is_text]] + (step >> 1)
        return kind, value

    def sizes(self) -> dict[str, int]:
        """Bytes by part: what matching reads, and what only merging and verifying need."""
        hot = (self.codes, self.mixed, self.left_offsets, self.left_attribute, self.left_lo, self.left_hi)
        tables = (
            self.tables.numbers,
            self.tables.grid,
            self.tables.text_keys,
            self.tables.text_offsets,
            self.tables.text_blob,
        )
        exact = (self.box_offsets, self.side_attribute, self.side_lo, self.side_hi)
        owners = (self.box_subscription, self.flags, self.place, self.by_place)
        parts = {"hot": hot, "tables": tables, "owners": owners, "exact": exact}
        return {name: sum(array.nbytes for array in arrays) for name, arrays in parts.items()}
