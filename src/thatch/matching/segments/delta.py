"""A delta: the newest filters in arrays of a fixed size, which kernels may read while more are added.

A reader is told how many boxes to look at, and new ones lie beyond; a removed filter is marked with the number of the
change that removed it. So nothing that a reader sees ever changes.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from thatch.matching.segments.building.ranked import Ranked
from thatch.matching.segments.columns import Checks, Sides, Texts
from thatch.matching.segments.draft import SIDE, SIDE_BYTES, packer, unpack_sides
from thatch.matching.segments.kernels.delta import file_boxes, file_plain_box
from thatch.matching.segments.parts import MOST_ATTRIBUTES, Parts, take_apart
from thatch.matching.segments.records import ALIVE, DELTA, PARTS, TEXT, VERIFY, DeltaRecord
from thatch.model.filters import Filter

__all__ = ["CAPACITY", "Delta"]

CAPACITY = 4_096  # subscriptions
_BOXES = 2  # room for boxes, sides and bytes of text and programs, per subscription on average
_SIDES = 12
_BYTES = 64


class Delta:
    """Filters that are searched one block after the other."""

    def __init__(self, capacity: int) -> None:
        self._make_room(capacity, capacity * _BOXES, capacity * _SIDES, capacity * _BYTES, capacity * _BYTES)

    def _make_room(self, capacity: int, boxes: int, sides: int, text: int, programs: int) -> None:
        blocks = -(-boxes // 64)
        self.capacity = capacity
        self._most_boxes, self._most_sides = boxes, sides
        self.count = self.boxes = self.dead = 0
        self.filters: list[Filter] = []
        self.owners = np.zeros(2 * capacity, np.int64)
        self._sides = np.zeros(sides * SIDE_BYTES // 8, np.int64)
        self._packed = memoryview(self._sides).cast("B")  # type: ignore[arg-type]  # an array is a buffer
        self._first_side = np.zeros(boxes + 1, np.int32)
        self._box_owner = np.zeros(boxes, np.int32)
        self._texts = np.zeros(text, np.uint8)
        self._check_at = np.zeros(boxes + 1, np.int32)
        self._checks = np.zeros(2 * boxes, np.int32)
        self._programs = np.zeros(programs, np.uint8)
        self._used_sides = self._used_text = self._used_checks = self._used_programs = 0
        self._text_at: dict[str, int] = {}
        self._attributes: set[int] = set()
        self._owner_of: dict[int, int] = {}
        self._is_plain: list[bool] = []
        self._before = (0, 0, 0, 0, 0, 0)  # what was used before the last call of `add`
        self.record = DeltaRecord(
            lanes=np.zeros(blocks * 2 * 192, np.uint16),
            sides=self._sides,
            first_side=self._first_side,
            box_owner=self._box_owner,
            owners=self.owners,
            texts=self._texts,
            check_at=self._check_at,
            checks=self._checks,
            programs=self._programs,
        )
        self._table = self.record.table

    def __len__(self) -> int:
        return self.count

    @property
    def box_room(self) -> int:
        """How many boxes there may ever be."""
        return len(self._box_owner)

    @property
    def has_checks(self) -> bool:
        """Whether some box has a check."""
        return self._used_checks > 0

    def slot_of(self, owner: int) -> int:
        """The slot of an owner."""
        return int(self.owners[2 * owner]) >> 1

    def find(self, slot: int) -> int:
        """The living owner at a slot, -1 if there is none."""
        return self._owner_of.get(slot, -1)

    def add(self, slot: int, filter: Filter, number: dict[str, int]) -> bool:
        """Add a filter; False if there is no room for it."""
        if self.count == self.capacity:
            return False
        self._before = (
            self.boxes, self.count, self._used_sides, self._used_text, self._used_checks, self._used_programs,
        )  # fmt: skip
        texts: list[str] = []

        def keep(text: str) -> int:
            texts.append(text)
            return len(texts) - 1

        parts = take_apart(filter, number, keep)
        is_simple = parts.is_plain and not texts and len(number) <= MOST_ATTRIBUTES
        if is_simple and self._add_plain(slot, filter, parts.sides):
            return True
        if not self._has_room(parts, texts):
            if self.count:
                return False
            self._make_room_for(parts, texts)
        if texts:
            self._store_texts(parts, texts)
        self._append(slot, parts)
        self.filters.append(filter)
        if len(number) > MOST_ATTRIBUTES:  # otherwise there cannot be too many
            self._attributes |= parts.attributes()
        return True

    def _add_plain(self, slot: int, filter: Filter, sides: list[float]) -> bool:
        """Add a filter that is one box without texts, the fast way; False if there is no room."""
        owner, box, count = self.count, self.boxes, len(sides) >> 2
        end = self._used_sides + count
        if box == self._most_boxes or end > self._most_sides:
            return False
        if not box:
            PARTS.load(DELTA)
        packer(SIDE, count).pack_into(self._packed, self._used_sides * SIDE_BYTES, *sides)
        file_plain_box(self._table, box, owner, end, self._used_checks, slot)
        self._used_sides = end
        self._is_plain.append(True)
        self._owner_of[slot] = owner
        self.filters.append(filter)
        self.count, self.boxes = owner + 1, box + 1
        return True

    def _has_room(self, parts: Parts, texts: list[str]) -> bool:
        sides = self._used_sides + len(parts.sides) // 4
        if self.boxes + len(parts.sizes) > self._most_boxes or sides > self._most_sides:
            return False
        if not texts and not parts.checks and not self._attributes:
            return True
        return (
            len(self._attributes) + parts.most_attributes() <= MOST_ATTRIBUTES
            and self._used_text + sum(4 + 4 * len(text) for text in texts) <= len(self._texts)
            and 2 * (self._used_checks + len(parts.checks)) <= len(self._checks)
            and self._used_programs + sum(len(each[2]) for each in parts.checks) <= len(self._programs)
        )

    def _make_room_for(self, parts: Parts, texts: list[str]) -> None:
        """Make room for one filter that is larger than a usual delta."""
        self._make_room(
            self.capacity,
            max(len(self._box_owner), len(parts.sizes) + 1, len(parts.checks)),
            max(len(parts.sides) // 4, self.capacity * _SIDES),
            max(sum(4 + 4 * len(text) for text in texts), len(self._texts)),
            max(sum(len(each[2]) for each in parts.checks), len(self._programs)),
        )

    def _store_texts(self, parts: Parts, texts: list[str]) -> None:
        """Write the texts of cuts, each once, and replace their positions by where they stand."""
        at = []
        for text in texts:
            known = self._text_at.get(text)
            if known is None:
                content = text.encode("utf-8")
                known = self._text_at[text] = self._used_text
                written = len(content).to_bytes(4, "little") + content
                self._texts[known : known + len(written)] = np.frombuffer(written, np.uint8)
                self._used_text += len(written)
            at.append(known)
        for side in range(0, len(parts.sides), 4):
            kinds = int(parts.sides[side + 1])
            if kinds & 255 >= TEXT:
                parts.sides[side + 2] = at[int(parts.sides[side + 2])]
            if kinds >> 8 >= TEXT:
                parts.sides[side + 3] = at[int(parts.sides[side + 3])]

    def _append(self, slot: int, parts: Parts) -> None:
        owner, first = self.count, self.boxes
        if not first:
            PARTS.load(DELTA)
        sides = len(parts.sides) // 4
        packer(SIDE, sides).pack_into(self._packed, self._used_sides * SIDE_BYTES, *parts.sides)
        self._is_plain.append(parts.is_plain)
        self._owner_of[slot] = owner
        box = first
        for size in parts.sizes:
            self._used_sides += size
            self._box_owner[box] = owner
            box += 1
            self._first_side[box] = self._used_sides
            self._check_at[box] = self._used_checks
        for own, attribute, program in parts.checks:
            start, end = self._used_programs, self._used_programs + len(program)
            self._checks[2 * self._used_checks : 2 * self._used_checks + 2] = attribute, start
            self._programs[start:end] = np.frombuffer(program, np.uint8)
            self._used_programs = end
            self._used_checks += 1
            self._check_at[first + own + 1 : box + 1] = self._used_checks
        self.owners[2 * owner] = 2 * slot + parts.verify
        self.owners[2 * owner + 1] = ALIVE
        file_boxes(self._table, first, len(parts.sizes))
        self.count = owner + 1
        self.boxes = self.record.n_boxes = box

    def remove(self, owner: int, moment: int) -> None:
        """Mark a filter as removed by a change."""
        del self._owner_of[self.slot_of(owner)]
        self.owners[2 * owner + 1] = moment
        self.dead += 1

    def revert(self, boxes: int) -> None:
        """Undo the last call of `add`, whole or not, if there were so many boxes before it."""
        if self._before[0] != boxes:
            return  # no call since
        _, count, self._used_sides, self._used_text, self._used_checks, self._used_programs = self._before
        self.boxes = self.record.n_boxes = boxes
        self.count = count
        del self.filters[count:], self._is_plain[count:]
        self._text_at = {text: at for text, at in self._text_at.items() if at < self._used_text}

    def revive(self, moment: int) -> None:
        """Undo the removals of changes after this one, of which no reader knows."""
        died = self.owners[1 : 2 * self.count : 2]
        died[died > moment] = ALIVE
        alive = np.flatnonzero(died == ALIVE).tolist()
        self.dead = self.count - len(alive)
        self._owner_of = {self.slot_of(owner): owner for owner in alive}

    def to_ranked(self) -> Ranked:
        """The boxes of all living owners, for a segment."""
        is_dead = self.owners[1 : 2 * self.count : 2] != ALIVE
        return Ranked.of(self._columns(~is_dead)).without(is_dead)

    def _columns(self, is_alive: npt.NDArray[np.bool_]) -> Sides:
        """All filters as exact columns, without the sources of those that are dead."""
        text_numbers = {at: position for position, at in enumerate(self._text_at.values())}
        sides = unpack_sides(self._sides[: self._used_sides * SIDE_BYTES // 8])
        for end in ("lo", "hi"):
            is_text, value = sides[f"{end}_kind"] >= TEXT, sides[f"{end}_value"]
            value[is_text] = [text_numbers[int(at)] for at in value[is_text]]
        sources = [
            b"" if plain or not alive else str(each).encode("utf-8")
            for plain, alive, each in zip(self._is_plain, is_alive, self.filters, strict=True)
        ]
        n_checks, n_boxes = self._used_checks, self.boxes
        programs = self._programs[: self._used_programs].tobytes()
        starts = [*self._checks[1 : 2 * n_checks : 2].tolist(), len(programs)]
        return Sides(
            offsets=self._first_side[: n_boxes + 1].astype(np.int64),
            **sides,
            owner=self._box_owner[:n_boxes].copy(),
            slot=self.owners[0 : 2 * self.count : 2] >> 1,
            verify=(self.owners[0 : 2 * self.count : 2] & VERIFY) != 0,
            texts=Texts.of([text.encode("utf-8") for text in self._text_at]),
            source=Texts.of(sources),
            checks=Checks(
                np.repeat(np.arange(n_boxes, dtype=np.int32), np.diff(self._check_at[: n_boxes + 1])),
                self._checks[0 : 2 * n_checks : 2].copy(),
                Texts.of([programs[a:b] for a, b in pairwise(starts)]),
            ),
        )

    def nbytes(self) -> int:
        """Bytes of all arrays; the filters themselves are not counted."""
        return sum(array.nbytes for array in self.record.arrays.values())
