"""Boxes in rank space: tables of cuts, and sides that name cells between them.

Segments keep their boxes in this exact form. It is made from columns of cuts, or by merging: tables are sorted already,
so a merge looks up the new rank of each cut and compares no two sides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.compiled.records import Doubles, Int32s, Int64s, Uint16s, Uint32s
from thatch.matching.arrays import starts_of
from thatch.matching.segments.building.tables import CutTables, sorted_distinct
from thatch.matching.segments.columns import Sides, Texts
from thatch.matching.segments.kernels.building import mark_used, merge_values, rank_sides, remap
from thatch.matching.segments.records import NUMBER, TEXT

__all__ = ["Ranked"]

Ints = Int32s


@dataclass(frozen=True, slots=True)
class Ranked:
    """Boxes with their sides as first and last cell. Owners and checks as in `Sides`, attributes numbered locally.

    `sourced` are the owners that have a source, `sources` their sources.
    """

    tables: CutTables
    offsets: Ints
    attribute: Uint16s
    low: Uint32s
    high: Uint32s
    owner: Ints
    slot: Int64s
    verify: npt.NDArray[np.bool_]
    sourced: Ints
    sources: Texts
    check_at: Ints
    check_attribute: Uint16s
    programs: Texts

    def __len__(self) -> int:
        return len(self.slot)

    @classmethod
    def of(cls, sides: Sides) -> Ranked:
        """The boxes of exact columns."""
        used = np.concatenate([sides.attribute, sides.checks.attribute])
        attributes, local = np.unique(used, return_inverse=True)
        own = local[: len(sides.attribute)]
        tables, low, high = _ranks(attributes.astype(np.int32), own, sides)
        sourced = np.flatnonzero(np.diff(sides.source.offsets)).astype(np.int32)
        check_at = np.zeros(0, np.int32)
        if len(sides.checks.box):
            check_at = starts_of(np.bincount(sides.checks.box, minlength=len(sides.offsets) - 1), np.int32)
        return cls(
            tables=tables,
            offsets=sides.offsets.astype(np.int32),
            attribute=own.astype(np.uint16),
            low=low,
            high=high,
            owner=sides.owner,
            slot=sides.slot,
            verify=sides.verify,
            sourced=sourced,
            sources=sides.source.take(sourced),
            check_at=check_at,
            check_attribute=local[len(sides.attribute) :].astype(np.uint16),
            programs=sides.checks.programs,
        )

    def without(self, dead: npt.NDArray[np.bool_]) -> Ranked:
        """The boxes of living owners; the tables stay as they are."""
        if not dead.any():
            return self
        keep_box = ~dead[self.owner]
        sizes = np.diff(self.offsets)
        keep_side = np.repeat(keep_box, sizes)
        numbers = np.cumsum(~dead, dtype=np.int32) - np.int32(1)
        keep_source = ~dead[self.sourced]
        changed: dict[str, Any] = {}
        if len(self.check_at):
            checks = np.diff(self.check_at)
            keep_check = np.repeat(keep_box, checks)
            changed = {
                "check_at": starts_of(checks[keep_box], np.int32),
                "check_attribute": self.check_attribute[keep_check],
                "programs": self.programs.take(np.flatnonzero(keep_check)),
            }
        return replace(
            self,
            offsets=starts_of(sizes[keep_box], np.int32),
            attribute=self.attribute[keep_side],
            low=self.low[keep_side],
            high=self.high[keep_side],
            owner=numbers[self.owner[keep_box]],
            slot=self.slot[~dead],
            verify=self.verify[~dead],
            sourced=numbers[self.sourced[keep_source]],
            sources=self.sources.take(np.flatnonzero(keep_source)),
            **changed,
        )

    @classmethod
    def merge(cls, parts: list[Ranked]) -> Ranked:
        """All boxes of several sets, with the cuts that they use and no others."""
        merge = _Merge(parts)
        owners = starts_of([len(part) for part in parts], np.int32)[:-1]
        has_checks = any(len(part.check_at) for part in parts)
        checks = [
            np.diff(part.check_at) if len(part.check_at) else np.zeros(len(part.owner)) for part in parts
        ]
        return cls(
            tables=merge.tables,
            offsets=starts_of(np.concatenate([np.diff(part.offsets) for part in parts]), np.int32),
            attribute=merge.attribute,
            low=merge.low,
            high=merge.high,
            owner=np.concatenate([part.owner + first for part, first in zip(parts, owners, strict=True)]),
            slot=np.concatenate([part.slot for part in parts]),
            verify=np.concatenate([part.verify for part in parts]),
            sourced=np.concatenate([part.sourced + first for part, first in zip(parts, owners, strict=True)]),
            sources=Texts.join([part.sources for part in parts]),
            check_at=starts_of(np.concatenate(checks), np.int32) if has_checks else np.zeros(0, np.int32),
            check_attribute=merge.check_attribute,
            programs=Texts.join([part.programs for part in parts]),
        )


class _Merge:
    """Merges the tables of several sets of boxes, and translates their sides."""

    def __init__(self, parts: list[Ranked]) -> None:
        self._parts = parts
        self._used = [self._uses(part) for part in parts]
        is_used = [np.zeros(len(part.tables.attributes), np.bool_) for part in parts]
        for part, flags in zip(parts, is_used, strict=True):
            flags[part.attribute] = True
            flags[part.check_attribute] = True
        kept = [part.tables.attributes[flags] for part, flags in zip(parts, is_used, strict=True)]
        self._attributes = np.unique(np.concatenate(kept)).astype(np.int32)
        # The merged number of every local attribute of every part, -1 if it is no longer used.
        self._locals = [
            np.where(flags, np.searchsorted(self._attributes, part.tables.attributes), -1)
            for part, flags in zip(parts, is_used, strict=True)
        ]
        number_at, numbers, number_index = self._numbers()
        text_at, texts, text_index = self._texts()
        self.tables = CutTables.of(self._attributes, number_at, numbers, text_at, texts)
        self._move(number_at, number_index, text_at, text_index)

    @staticmethod
    def _uses(part: Ranked) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        tables = part.tables
        numbers = np.zeros(len(tables.numbers), np.bool_)
        texts = np.zeros(len(tables.text_keys), np.bool_)
        mark_used(part.attribute, part.low, part.high, tables.number_at, tables.text_at, numbers, texts)
        return numbers, texts

    def _spans(self, name: str) -> tuple[Int64s, Int64s]:
        """For every part and merged attribute, where its values begin and end in the concatenated tables."""
        starts = np.zeros((len(self._parts), len(self._attributes)), np.int64)
        ends = np.zeros_like(starts)
        base = 0
        for number, (part, local) in enumerate(zip(self._parts, self._locals, strict=True)):
            at = getattr(part.tables, name)
            has = local >= 0
            starts[number, local[has]] = base + at[:-1][has]
            ends[number, local[has]] = base + at[1:][has]
            base += int(at[-1])
        return starts, ends

    def _numbers(self) -> tuple[Int64s, Doubles, Int64s]:
        """Where the numbers of each attribute begin, the numbers, and the new position of each old one."""
        values = np.concatenate([part.tables.numbers for part in self._parts])
        nothing = Texts(np.zeros(0, np.int64))
        at, chosen, index = self._merged("number_at", values, nothing, [each for each, _ in self._used])
        return at, values[chosen], index

    def _texts(self) -> tuple[Int64s, Texts, Int64s]:
        """The same for texts."""
        texts = Texts.join([part.tables.texts() for part in self._parts])
        keys = np.concatenate([part.tables.text_keys for part in self._parts])
        at, chosen, index = self._merged("text_at", keys, texts, [each for _, each in self._used])
        return at, texts.take(chosen), index

    def _merged(self, name: str, keys: Any, texts: Texts, used: list[Any]) -> tuple[Int64s, Int64s, Int64s]:
        starts, ends = self._spans(name)
        chosen, index = np.empty(len(keys), np.int64), np.full(len(keys), -1, np.int64)
        at = np.zeros(len(self._attributes) + 1, np.int64)
        merge_values(keys, texts.offsets, texts.blob, np.concatenate(used), starts, ends, chosen, at, index)
        return at, chosen[: at[-1]], index

    def _move(self, number_at: Any, number_index: Any, text_at: Any, text_index: Any) -> None:
        sides = sum(len(part.attribute) for part in self._parts)
        self.attribute = np.empty(sides, np.uint16)
        self.low, self.high = np.empty(sides, np.uint32), np.empty(sides, np.uint32)
        done = numbers = texts = 0
        for part, local in zip(self._parts, self._locals, strict=True):
            here = slice(done, done + len(part.attribute))
            tables = part.tables
            remap(
                (part.attribute, part.low, part.high), (tables.number_at, tables.text_at), local,
                (number_at, text_at), (number_index[numbers:], text_index[texts:]),
                (self.attribute[here], self.low[here], self.high[here]),
            )  # fmt: skip
            done += len(part.attribute)
            numbers += len(tables.numbers)
            texts += len(tables.text_keys)
        checks = [local[part.check_attribute] for part, local in zip(self._parts, self._locals, strict=True)]
        self.check_attribute = np.concatenate(checks).astype(np.uint16)


def _ranks(attributes: Ints, local: npt.NDArray[np.intp], sides: Sides) -> tuple[CutTables, Uint32s, Uint32s]:
    """The tables of exact columns, and for every side its first and last cell."""
    count = len(attributes)
    number_at, numbers = _numbers(local, sides, count)
    words, position = sorted_distinct(sides.texts)
    text_at, used_words = _words(local, sides, position, count)
    tables = CutTables.of(attributes, number_at, numbers, text_at, words.take(used_words))
    low, high = np.empty(len(local), np.uint32), np.empty(len(local), np.uint32)
    rank_sides(
        (local, sides.lo_kind, sides.lo_value, sides.hi_kind, sides.hi_value),
        (number_at, numbers, tables.grid_at, tables.grid, tables.grid_scale),
        (text_at, used_words, position),
        low,
        high,
    )
    return tables, low, high


def _numbers(local: npt.NDArray[np.intp], sides: Sides, count: int) -> tuple[Int64s, Doubles]:
    """The distinct numbers of every attribute in order, and where each attribute's begin."""
    ends = ((sides.lo_kind, sides.lo_value), (sides.hi_kind, sides.hi_value))
    numeric = [(kind >= NUMBER) & (kind < TEXT) for kind, _ in ends]
    # Of sixteen bits, which NumPy sorts in one pass.
    which = np.concatenate([local[each] for each in numeric]).astype(np.uint16)
    values = np.concatenate([value[each] for each, (_, value) in zip(numeric, ends, strict=True)])
    values = values[np.argsort(which, kind="stable")] + 0.0  # no negative zero
    starts = starts_of(np.bincount(which, minlength=count))
    is_new = np.ones(len(values), np.bool_)
    for start, end in pairwise(starts.tolist()):
        values[start:end].sort()
    is_new[1:] = values[1:] != values[:-1]
    is_new[starts[:-1][starts[:-1] < len(values)]] = True
    before = starts_of(is_new)
    return before[starts], values[is_new]


def _words(local: npt.NDArray[np.intp], sides: Sides, position: Int64s, count: int) -> tuple[Int64s, Int64s]:
    """The same for texts, given by their position among all texts."""
    pairs = [np.zeros(0, np.int64)]
    for kind, value in ((sides.lo_kind, sides.lo_value), (sides.hi_kind, sides.hi_value)):
        is_text = kind >= TEXT
        pairs.append(local[is_text] * (len(position) + 1) + position[value[is_text].astype(np.int64)])
    distinct = np.unique(np.concatenate(pairs))
    at = np.searchsorted(distinct, np.arange(count + 1) * (len(position) + 1)).astype(np.int64)
    return at, distinct % (len(position) + 1)
