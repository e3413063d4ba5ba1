"""A segment: boxes grouped, ordered and coded for the kernels; immutable except for when its owners died."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from dataclasses import fields as fields_of
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.compiled.records import Int32s, Int64s, Uint8s, Uint16s, Uint32s
from thatch.matching.segments.bitsets import Bitsets, is_worth_bitsets
from thatch.matching.segments.building.layout import SegmentLayout
from thatch.matching.segments.building.ranked import Ranked
from thatch.matching.segments.building.shares import Spreads
from thatch.matching.segments.building.tables import CutTables
from thatch.matching.segments.columns import Texts
from thatch.matching.segments.kernels.search import find_owner
from thatch.matching.segments.records import (
    ALIVE,
    SOME_UNIONS,
    VERIFY,
    BitsetLayout,
    GroupRecord,
    SegmentRecord,
)
from thatch.model.conjunctions import Conjunction
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.lines import Constraint, Cut
from thatch.model.schema import Schema
from thatch.model.values import canonical_number

__all__ = ["Segment"]

_NARROW = 64  # attributes whose codes fit two registers


@dataclass(slots=True, eq=False)
class Segment:
    """Columns of one segment; `record` is what kernels read.

    Each subscription, or owner, has a claim (its slot times two, plus one if a match must be verified) and the change in
    which it died, `ALIVE` before that. `deaths` counts the dead, so that kernels need not look while there are none.

    Equal checks are kept once: `check_number` has the numbers of those of each box, from `check_at` on.
    """

    tables: CutTables
    box_offsets: Int32s
    side_attribute: Uint16s
    side_lo: Uint32s
    side_hi: Uint32s
    box_owner: Int32s
    claims: Uint32s
    died: Int64s
    by_slot: Int32s
    sourced: Int32s
    source_offsets: Int64s
    source_blob: Uint8s
    check_at: Int32s
    check_number: Int32s
    check_attribute: Uint16s
    check_start: Int64s
    programs: Uint8s
    group_at: Int32s
    groups: Int64s
    codes: Uint16s
    mixed: Uint16s
    left_at: Int32s
    left: Uint16s
    prefilter: Int64s
    bitsets: Bitsets = field(default_factory=Bitsets.none)
    tier: int = 0  # for merging; its size may put it into a higher one
    record: SegmentRecord = field(init=False)
    deaths: Int64s = field(init=False)
    local_of: Int32s = field(init=False)
    box_claims: Uint32s = field(init=False)  # empty where every owner has one box
    _must_verify: bool = field(init=False)

    def __post_init__(self) -> None:
        self.deaths = np.array([np.count_nonzero(self.is_dead())], np.int64)
        self._must_verify = len(self.sourced) > 0 and bool((self.claims & VERIFY).any())
        tables = self.tables
        self.local_of = np.full(int(tables.attributes.max(initial=0)) + 1, -1, np.int32)
        self.local_of[tables.attributes] = np.arange(len(tables.attributes), dtype=np.int32)
        self.box_claims = self.claims[self.box_owner]
        self.record = SegmentRecord(
            n_attributes=len(tables.attributes),
            group_width=self.groups.shape[1],
            is_exact=not tables.shifts.any(),
            is_narrow=len(tables.attributes) <= _NARROW,
            bitset_layout=BitsetLayout(self.bitsets.layout),
            bitset_starts=self.bitsets.starts,
            bitset_boxes=self.bitsets.boxes,
            bitset_bits=self.bitsets.bits,
        )
        self.record.fill(self, tables)

    @classmethod
    def build(cls, ranked: Ranked, spreads: Spreads | None = None) -> Segment:
        """The segment of a set of boxes, laid out for events with these distributions."""
        layout = SegmentLayout(ranked, spreads)
        columns = layout.columns()
        segment = cls(tables=ranked.tables, **columns)
        if segment.is_simple and is_worth_bitsets(ranked.tables, columns, layout.shares):
            return replace(segment, bitsets=Bitsets.of(ranked.tables, columns))
        return segment

    def __len__(self) -> int:
        return len(self.by_slot)

    @property
    def is_simple(self) -> bool:
        """Whether codes alone decide: they are exact, every owner has one box, and there is nothing else to test."""
        has_unions = bool((self.groups[:, GroupRecord.left_kinds] & SOME_UNIONS).any())
        has_more = self.has_checks or self._must_verify or has_unions
        return bool(self.record.is_exact) and not has_more and not len(self.box_owner)

    @property
    def has_checks(self) -> bool:
        """Whether some box has a check."""
        return len(self.check_at) > 0

    @property
    def dead(self) -> int:
        """How many owners died."""
        return int(self.deaths[0])

    def slots(self) -> Int64s:
        """The slot of every owner."""
        return (self.claims >> 1).astype(np.int64)

    @property
    def boxes(self) -> int:
        return len(self.box_offsets) - 1

    def find(self, slot: int) -> int:
        """The living owner of a slot, -1 if there is none."""
        return int(find_owner(self.claims, self.died, self.by_slot, slot))

    def slot_of(self, owner: int) -> int:
        """The slot of an owner."""
        return int(self.claims[owner]) >> 1

    def remove(self, owner: int, moment: int) -> None:
        """Mark an owner as removed by a change."""
        self.deaths[0] += 1
        self.died[owner] = moment

    def revive(self, moment: int) -> None:
        """Undo the removals of changes after this one, of which no reader knows."""
        self.died[self.died > moment] = ALIVE
        self.deaths[0] = np.count_nonzero(self.is_dead())

    def is_dead(self) -> npt.NDArray[np.bool_]:
        """Which owners are dead by now."""
        is_dead: npt.NDArray[np.bool_] = self.died != ALIVE
        return is_dead

    def to_ranked(self) -> Ranked:
        """The boxes of all living owners, for a merge."""
        owner = self.box_owner
        everything = Ranked(
            tables=self.tables,
            offsets=self.box_offsets,
            attribute=self.side_attribute,
            low=self.side_lo,
            high=self.side_hi,
            owner=owner if len(owner) else np.arange(len(self), dtype=np.int32),
            slot=self.slots(),
            verify=(self.claims & VERIFY) != 0,
            sourced=self.sourced,
            sources=Texts(self.source_offsets, self.source_blob),
            check_at=self.check_at,
            check_attribute=self.check_attribute[self.check_number],
            programs=Texts(self.check_start, self.programs).take(self.check_number),
        )
        return everything.without(self.is_dead())

    def renumber(self, new_slot: Int64s, new_attribute: Int32s) -> Segment:
        """The same with new numbers for slots, in the same order, and for the index's attributes; the dead stay dead."""
        claims = (2 * new_slot[self.slots()] + (self.claims & VERIFY)).astype(np.uint32)
        tables = replace(self.tables, attributes=new_attribute[self.tables.attributes])
        return replace(self, claims=claims, tables=tables)

    # --- filters ---------------------------------------------------------------------------------------------------

    def filter(self, owner: int, keys: list[str], schema: Schema | None) -> Filter:
        """The filter of an owner, from its text or, if its one box says all, from the box."""
        position = int(np.searchsorted(self.sourced, owner))
        if position < len(self.sourced) and self.sourced[position] == owner:
            return parse(Texts(self.source_offsets, self.source_blob)[position].decode("utf-8"), schema)
        box = owner if not len(self.box_owner) else int(np.flatnonzero(self.box_owner == owner)[0])
        constraints: dict[str, Constraint] = {}
        for side in range(self.box_offsets[box], self.box_offsets[box + 1]):
            which = int(self.side_attribute[side])
            low = self._cut(which, int(self.side_lo[side]))
            high = self._cut(which, int(self.side_hi[side]) + 1)
            key = keys[self.tables.attributes[which]]
            constraints[key] = (*constraints.get(key, ()), low, high)
        return Filter((Conjunction(tuple(sorted(constraints.items()))),), schema, ())

    def _cut(self, which: int, rank: int) -> Cut:
        """A cut given by its rank."""
        tables = self.tables
        first_number, first_text = int(tables.number_at[which]), int(tables.text_at[which])
        numbers = 2 * (int(tables.number_at[which + 1]) - first_number)
        texts = 2 * (int(tables.text_at[which + 1]) - first_text)
        if rank < 6:
            return (rank,)
        if rank < 6 + numbers:
            step = rank - 6
            return (5, canonical_number(float(tables.numbers[first_number + (step >> 1)])), step & 1)
        if rank == 6 + numbers:
            return (6,)
        step = rank - 7 - numbers
        if step < texts:
            return (6, tables.texts()[first_text + (step >> 1)].decode("utf-8"), step & 1)
        return (7,)

    # --- at rest -----------------------------------------------------------------------------------------------------

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All columns by name; what is dead by now is dead from the first change on."""
        result = {name: getattr(self.tables, name) for name in _TABLE_FIELDS}
        result |= {name: getattr(self, name) for name in _COLUMNS}
        result |= self.bitsets.arrays()
        return {**result, "died": np.where(self.is_dead(), 0, ALIVE)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Segment:
        """A segment of columns that `arrays` returned."""
        tables = CutTables(**{name: arrays[name] for name in _TABLE_FIELDS})
        columns: dict[str, Any] = {name: arrays[name] for name in _COLUMNS if name in arrays}
        columns.setdefault("prefilter", np.zeros(0, np.int64))  # without unions and checks there may be none
        return cls(tables=tables, bitsets=Bitsets.from_arrays(arrays), **columns)

    def sizes(self) -> dict[str, int]:
        """Bytes by part: what matching reads, and what only merging and verifying need."""
        tables = self.tables
        columns = {name: getattr(self, name).nbytes for name in _COLUMNS}
        sizes = {part: sum(columns[name] for name in names.split()) for part, names in _PARTS.items()}
        sizes["tables"] = self.local_of.nbytes + sum(getattr(tables, name).nbytes for name in _TABLE_FIELDS)
        sizes["owners"] += self.box_claims.nbytes
        return {**sizes, "bitsets": self.bitsets.nbytes}


_TABLE_FIELDS = tuple(each.name for each in fields_of(CutTables))
_OTHERS = ("tables", "bitsets", "tier")
_COLUMNS = tuple(each.name for each in fields_of(Segment) if each.init and each.name not in _OTHERS)
_PARTS = {
    "hot": "codes mixed left_at left prefilter groups group_at",
    "owners": "box_owner claims died by_slot",
    "exact": "box_offsets side_attribute side_lo side_hi",
    "checks": "check_at check_number check_attribute check_start programs",
    "sources": "sourced source_offsets source_blob",
}
