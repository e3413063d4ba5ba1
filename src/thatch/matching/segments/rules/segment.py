"""A segment of rules: columns for the kernels; immutable except for when its rules died."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.compiled.records import Int64s
from thatch.matching.segments.columns import Texts
from thatch.matching.segments.records import ALIVE
from thatch.matching.segments.rules.draft import RuleTable
from thatch.matching.segments.rules.finding import find_literals
from thatch.matching.segments.rules.layout import lay_out
from thatch.matching.segments.rules.records import RuleRecord, TextRecord
from thatch.matching.segments.rules.shares import Counted, LiteralShares
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.schema import Schema

__all__ = ["RuleSegment"]

Arrays = dict[str, npt.NDArray[Any]]
_MOST_SEEN_BITS = 14  # of the hashes by which grams of texts are counted
_ENOUGH = 256  # events from which on counts say more than assumptions
_MORE = 16  # times as many events, and a segment is laid out again
_LEAST = 0.5  # of an event: what a literal that never held is taken to have been counted


class RuleSegment:
    """Rules of one segment.

    Parameters
    ----------
    table : what the rules say
    finding : how literals are found, see `find_literals`
    layout : what waits for what, see `lay_out`
    died : the change in which each rule died
    shares : how often literals hold, as the layout takes it
    """

    def __init__(
        self,
        table: RuleTable,
        finding: Arrays,
        layout: Arrays,
        died: Int64s,
        shares: LiteralShares | None = None,
    ) -> None:
        self.table, self.finding, self.layout, self.died = table, finding, layout, died
        self.count_dead()
        self.shares = shares or LiteralShares.assumed(table)
        self._by_slot = np.argsort(table.slots, kind="stable")
        self._sorted_slots = table.slots[self._by_slot]
        seen_bits = min(_MOST_SEEN_BITS, 3 + len(table.atom_kind).bit_length())
        self.atom_hits = np.zeros(len(table.atom_kind) + 1, np.int64)
        self.grams_seen = np.zeros(1 << seen_bits, np.int32)
        self.class_hits = np.zeros(8 * len(table.attributes) + 1, np.int64)
        self.text_bytes = np.zeros(len(table.attributes), np.int64)
        self.next_layout = _ENOUGH  # events after which counts say more than they did
        self.local_of = np.full(int(table.attributes.max(initial=-1)) + 1, -1, np.int32)
        self.local_of[table.attributes] = np.arange(len(table.attributes), dtype=np.int32)
        self.ranges, self.range_at = table.test_ranges, table.test_range_at.astype(np.int32)
        self.slots = table.slots
        edge_shift, number_shift = finding["shifts"].tolist()
        self.record = RuleRecord(
            n_attributes=len(table.attributes),
            n_rules=len(table.slots),
            n_always=len(layout["always"]),
            anywhere=int(table.anywhere[0]),
            edge_shift=edge_shift,
            number_shift=number_shift,
            seen_shift=64 - seen_bits,
        )
        for name, array in (*finding.items(), *layout.items()):
            if name not in ("shifts", "parts"):
                setattr(self.record, name, array)
        self.record.fill(self)

    @classmethod
    def build(cls, table: RuleTable, shares: LiteralShares | None = None) -> RuleSegment:
        """The segment of a table, laid out for events of which so much is known."""
        finding = find_literals(table)
        shares = shares or LiteralShares.assumed(table)
        layout = lay_out(table, shares, finding)
        return cls(table, finding, layout, np.full(len(table.slots), ALIVE, np.int64), shares)

    def __len__(self) -> int:
        return len(self.slots)

    # --- what lives --------------------------------------------------------------------------------------------------

    @property
    def is_thin(self) -> bool:
        """Whether most rules are dead."""
        return 2 * self.dead > len(self)

    def is_dead(self) -> npt.NDArray[np.bool_]:
        """Which rules are dead by now."""
        is_dead: npt.NDArray[np.bool_] = self.died != ALIVE
        return is_dead

    def find(self, slot: int) -> int:
        """The living rule of a slot, -1 if there is none."""
        at = int(np.searchsorted(self._sorted_slots, slot))
        while at < len(self._sorted_slots) and self._sorted_slots[at] == slot:
            owner = int(self._by_slot[at])
            if self.died[owner] == ALIVE:
                return owner
            at += 1
        return -1

    def slot_of(self, owner: int) -> int:
        """The slot of a rule."""
        return int(self.slots[owner])

    def remove(self, owner: int, moment: int) -> None:
        """Mark a rule as removed by a change."""
        self.dead += 1
        self.died[owner] = moment

    def revive(self, moment: int) -> None:
        """Undo the removals of changes after this one, of which no reader knows."""
        self.died[self.died > moment] = ALIVE
        self.count_dead()

    def count_dead(self) -> None:
        """Count the dead again, some of which another segment with the same times of death may have marked."""
        self.dead = int(np.count_nonzero(self.is_dead()))

    def filter(self, owner: int, schema: Schema | None) -> Filter:
        """The filter of a rule."""
        return parse(self.table.sources[owner].decode(), schema)

    def renumber(self, new_slot: Int64s, numbers: npt.NDArray[np.int32]) -> RuleSegment:
        """The same rules at other slots, with other numbers of attributes; times of death are shared."""
        table = self.table._replace(
            slots=np.where(self.is_dead(), 0, new_slot[self.slots]), attributes=numbers[self.table.attributes]
        )
        return RuleSegment(table, self.finding, self.layout, self.died, self.shares)

    # --- learning ------------------------------------------------------------------------------------------------------

    @property
    def events(self) -> int:
        """How many events have been searched for, as far as threads did not lose a count to each other."""
        return int(self.class_hits[-1])

    @property
    def wants_layout(self) -> bool:
        """Whether enough events were counted for another layout."""
        return self.events >= self.next_layout

    def lay_out_again(self) -> RuleSegment:
        """The same rules, found and laid out by what searches counted; times of death are shared."""
        shares = self.counted_shares()
        finding = find_literals(self.table, self.grams_seen)
        again = RuleSegment(self.table, finding, lay_out(self.table, shares, finding), self.died, shares)
        again.next_layout = max(self.events, 1) * _MORE
        return again

    def counted_shares(self) -> LiteralShares:
        """How often literals held in the events that searches counted."""
        events = max(self.events, 1)
        atoms = np.where(self._is_counted(), (self.atom_hits[:-1] + _LEAST) / events, self.shares.atoms)
        return LiteralShares(atoms, self.class_hits[:-1] / events, self.text_bytes / events)

    @property
    def counted(self) -> Counted | None:
        """What searches counted, if that says more than what was known before."""
        if self.events >= _ENOUGH:
            return self.table, self.counted_shares(), self.events
        return None

    def _is_counted(self) -> npt.NDArray[np.bool_]:
        """Which literals every event counts: needles that are looked for only when a test asks are not."""
        table, texts = self.table, self.finding["texts"].reshape(-1, TextRecord.width)
        parts, is_counted = self.finding["parts"], np.ones(len(table.atom_kind), np.bool_)
        needles = np.flatnonzero(parts)
        text = self.finding["text_of"][2 * table.atom_attribute[needles] + (table.atom_kind[needles] >> 3)]
        is_counted[needles] = (texts[text, TextRecord.eager] & parts[needles]) != 0
        return is_counted

    # --- at rest -------------------------------------------------------------------------------------------------------

    def arrays(self) -> Arrays:
        """All columns by name; what is dead by now is dead from the first change on."""
        found: Arrays = {}
        for name, value in self.table._asdict().items():
            if isinstance(value, Texts):
                found[f"table/{name}/offsets"], found[f"table/{name}/blob"] = value.offsets, value.blob
            else:
                found[f"table/{name}"] = value
        found |= {f"finding/{name}": array for name, array in self.finding.items()}
        found |= {f"layout/{name}": array for name, array in self.layout.items()}
        return {**found, "died": np.where(self.is_dead(), 0, ALIVE)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> RuleSegment:
        """A segment of columns that `arrays` returned."""
        columns: dict[str, Any] = {}
        for name in RuleTable._fields:
            if f"table/{name}" in arrays:
                columns[name] = arrays[f"table/{name}"]
            else:
                columns[name] = Texts(arrays[f"table/{name}/offsets"], arrays[f"table/{name}/blob"])
        finding, layout = (
            {name[len(part) :]: array for name, array in arrays.items() if name.startswith(part)}
            for part in ("finding/", "layout/")
        )
        return cls(RuleTable(**columns), finding, layout, arrays["died"])

    def nbytes(self) -> int:
        """Bytes of all columns, each array once."""
        arrays = {
            array.ctypes.data: array for array in (*self.record.arrays.values(), *self.arrays().values())
        }
        return sum(each.nbytes for each in arrays.values())
