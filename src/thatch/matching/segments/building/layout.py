"""The layout of a segment: groups of boxes, the order of boxes in each, and the columns that follow from it.

Where very many boxes constrain the same attributes, all of these are keys, and the boxes are ordered by all of them at
once. Every other box is filed under its most selective attribute and ordered by it. A box that requires no attribute to
be present is filed under none, and tested for every event.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thatch.compiled.records import Int32s, Int64s, Uint16s, Uint32s
from thatch.matching.arrays import starts_of
from thatch.matching.segments.building.ranked import Ranked
from thatch.matching.segments.building.shares import Shares, Spreads
from thatch.matching.segments.building.tables import CutTables, sorted_distinct
from thatch.matching.segments.kernels.building import emit_blocks, kd_order, order_sides
from thatch.matching.segments.kernels.prefilter import fill_words, needed_letters
from thatch.matching.segments.records import ALIVE, MIXED_SIDES, SOME_LEFT, SOME_UNIONS, GroupRecord

__all__ = ["SegmentLayout", "selectivity"]

_MANY = 16_384  # boxes with the same attributes that make a group of their own
_MOST_KEYS = 16
_TIE = 1e-4  # weight of the estimate from sides alone, where a profile is known


def selectivity(
    tables: CutTables, attribute: Uint16s, low: Uint32s, high: Uint32s, shares: Shares | None = None
) -> npt.NDArray[np.float32]:
    """Estimate the share of events that a side lets through, from its cells and from how many sides begin there.

    Without a profile the sides themselves stand for the events: a value that many ask for is one that often comes.
    With one this decides only between sides that let through the same. A side that admits missing lets everything
    through that has not the attribute.
    """
    cells = tables.cells()
    starts = starts_of(cells + 1)
    begins = np.bincount(starts[attribute] + low, minlength=int(starts[-1]))
    before = starts_of(begins)
    inside = before[starts[attribute] + high + 1] - before[starts[attribute] + low]
    total = np.maximum(np.bincount(attribute, minlength=len(cells)), 1)
    share = 0.5 * inside / total[attribute] + 0.5 * (high.astype(np.int64) - low + 1) / cells[attribute]
    if shares is not None:
        known = shares.between(attribute, low, high) + _TIE * share
        share = np.where(shares.is_known[attribute], known, share)
    return np.where(low == 0, 2.0, share).astype(np.float32)


class SegmentLayout:
    """Groups of boxes, and the order of boxes in each.

    All of it goes by the hulls of unions: there is one side for every attribute of a box, and `spans` tells where the
    alternatives begin that it stands for.
    """

    def __init__(self, ranked: Ranked, spreads: Spreads | None = None) -> None:
        self._ranked = ranked
        self.tables = ranked.tables
        self.offsets, self.spans = _hulls(ranked)
        self.attribute = ranked.attribute[self.spans[:-1]]
        self.low, self.high = ranked.low[self.spans[:-1]], ranked.high[self.spans[1:] - 1]
        self.order = np.empty(len(self.attribute), np.int32)
        self.shares = None if spreads is None else Shares.of(ranked.tables, spreads)
        lets = selectivity(ranked.tables, self.attribute, self.low, self.high, self.shares)
        order_sides(self.offsets, lets, self.order)
        self.groups: list[tuple[list[int], Int32s]] = []
        self._make_groups()

    def _make_groups(self) -> None:
        boxes = len(self.offsets) - 1
        attributes = len(self.tables.attributes)
        first = np.full(boxes, attributes, np.int64)
        is_filled = np.diff(self.offsets) > 0
        best = self.order[self.offsets[:-1][is_filled]]
        # The most selective side cannot admit missing unless all do.
        first[is_filled] = np.where(self.low[best] > 0, self.attribute[best], attributes)
        for keys, members in self._shared_signatures(first < attributes):
            self.groups.append((keys, self._kd_ordered(keys, members)))
            first[members] = -1
        rest = np.argsort(first, kind="stable")
        rest = rest[np.searchsorted(first[rest], 0) :]
        filed = first[rest]
        for local in np.unique(filed):
            filed_here = rest[slice(*np.searchsorted(filed, [local, local + 1]))]
            keys = [int(local)] if local < attributes else []
            self.groups.append((keys, self._line_ordered(keys, filed_here.astype(np.int32))))
        self.groups.sort(key=lambda each: each[0][0] if each[0] else attributes)

    def _shared_signatures(self, allowed: npt.NDArray[np.bool_]) -> list[tuple[list[int], Int32s]]:
        """Groups of very many boxes that constrain the same attributes and require all of them to be present."""
        offsets = self.offsets
        boxes = len(offsets) - 1
        if boxes < _MANY:
            return []
        owner = np.repeat(np.arange(boxes), np.diff(offsets))
        rng = np.random.default_rng(0)  # a hash function, the same for every build
        weight = rng.integers(1, 2**62, len(self.tables.attributes), dtype=np.int64).astype(np.uint64)
        signature = np.zeros(boxes, np.uint64)
        np.add.at(signature, owner, weight[self.attribute])
        demands = np.ones(boxes, np.bool_)
        demands[owner[self.low == 0]] = False
        usable = allowed & demands & (np.diff(offsets) <= _MOST_KEYS)
        _, inverse, counts = np.unique(signature[usable], return_inverse=True, return_counts=True)
        candidates = np.flatnonzero(usable)
        return [self._same(candidates[inverse == number]) for number in np.flatnonzero(counts >= _MANY)]

    def _same(self, members: Int64s) -> tuple[list[int], Int32s]:
        """The attributes of the first of these boxes, and all boxes that really have the same (hashes may collide)."""
        offsets = self.offsets
        count = int(offsets[members[0] + 1] - offsets[members[0]])
        members = members[offsets[members + 1] - offsets[members] == count]
        rows = np.sort(self.attribute[offsets[members][:, None] + np.arange(count)], axis=1)
        is_same = (rows == rows[0]).all(axis=1)
        return rows[0].tolist(), members[is_same].astype(np.int32)

    def _kd_ordered(self, keys: list[int], members: Int32s) -> Int32s:
        centres = np.empty((len(keys), len(members)), np.float32)
        widths = np.empty_like(centres)
        cells = self.tables.cells()
        sides = self.offsets[members][:, None] + np.arange(len(keys))
        by_attribute = np.take_along_axis(sides, np.argsort(self.attribute[sides], axis=1), axis=1)
        for position, key in enumerate(keys):
            column = by_attribute[:, position]
            if self.shares is not None and self.shares.is_known[key]:
                below = self.shares.below(key)
                first, last = below[self.low[column]], below[self.high[column].astype(np.int64) + 1]
                centres[position], widths[position] = (first + last) / 2, last - first
                continue
            centres[position] = (self.low[column].astype(np.float64) + self.high[column]) / (2 * cells[key])
            widths[position] = (self.high[column].astype(np.float64) - self.low[column] + 1) / cells[key]
        order = np.arange(len(members), dtype=np.int32)
        kd_order(centres, widths, order)
        return members[order]

    def _line_ordered(self, keys: list[int], members: Int32s) -> Int32s:
        if not keys:
            return members
        best = self.order[self.offsets[members]]
        # Boxes that share their second side, too, lie side by side, which makes masks faster.
        has_second = np.diff(self.offsets)[members] > 1
        second = np.where(has_second, self.order[self.offsets[members] + has_second], 0)
        which = np.where(has_second, self.attribute[second].astype(np.int32), -1)
        order = np.lexsort((self.high[second], self.low[second], which, self.high[best], self.low[best]))
        return members[order]

    def columns(self) -> dict[str, Any]:
        """The columns of the segment, with boxes and owners in the order of their blocks.

        So boxes that are read together lie together, and a box needs no pointer to its columns.
        """
        ranked = self._ranked
        boxes = np.concatenate([np.zeros(0, np.int32), *(members for _, members in self.groups)])
        offsets, moved = _moved(self.offsets, boxes)
        box_offsets, moved_sides = _moved(ranked.offsets, boxes)
        owners, renumbered = _by_first_appearance(ranked.owner[boxes], len(ranked))
        low, high = ranked.low[moved_sides], ranked.high[moved_sides]
        attribute = ranked.attribute[moved_sides]
        # `order` holds numbers of hulls, which move with their box
        shifted = np.repeat(self.offsets[:-1][boxes] - offsets[:-1], np.diff(offsets))
        hulls = _Hulls(
            offsets=offsets,
            attribute=self.attribute[moved],
            order=(self.order[moved] - shifted).astype(np.int32),
            spans=starts_of(np.diff(self.spans)[moved], np.int32),
        )
        shift = self.tables.shifts[attribute]
        codes16 = ((low >> shift).astype(np.uint16), (high >> shift).astype(np.uint16))
        checks = self._checks(boxes)
        claims = (2 * ranked.slot[owners] + ranked.verify[owners]).astype(np.uint32)
        return {
            "box_offsets": box_offsets,
            "side_attribute": attribute,
            "side_lo": low,
            "side_hi": high,
            "box_owner": renumbered,
            "claims": claims,
            "died": np.full(len(ranked), ALIVE, np.int64),
            "by_slot": np.argsort(claims, kind="stable").astype(np.int32),
            **self._sources(owners),
            **checks,
            **self._emit(hulls, codes16, checks),
        }

    def _sources(self, owners: Int64s) -> dict[str, Any]:
        """Owners that have a source, in order, and the sources."""
        ranked = self._ranked
        number = np.empty(len(ranked), np.int32)
        number[owners] = np.arange(len(ranked), dtype=np.int32)
        sourced = number[ranked.sourced]
        order = np.argsort(sourced)
        sources = ranked.sources.take(order)
        return {"sourced": sourced[order], "source_offsets": sources.offsets, "source_blob": sources.blob}

    def _checks(self, boxes: Int32s) -> dict[str, Any]:
        ranked = self._ranked
        if not len(ranked.check_at):
            nothing = np.zeros(0, np.int32)
            return {
                "check_at": nothing,
                "check_number": nothing,
                "check_attribute": nothing.astype(np.uint16),
                "check_start": np.zeros(1, np.int64),
                "programs": nothing.astype(np.uint8),
            }
        check_at, moved = _moved(ranked.check_at, boxes)
        words, position = sorted_distinct(ranked.programs)
        width = max(len(words), 1)
        said = ranked.check_attribute.astype(np.int64) * width + position
        distinct, number = np.unique(said, return_inverse=True)
        programs = words.take(distinct % width)
        return {
            "check_at": check_at,
            "check_number": number[moved].astype(np.int32),
            "check_attribute": (distinct // width).astype(np.uint16),
            "check_start": programs.offsets,
            "programs": programs.blob,
        }

    def _emit(
        self, hulls: _Hulls, codes16: tuple[Uint16s, Uint16s], checks: dict[str, Any]
    ) -> dict[str, Any]:
        """The arrays that searches read first."""
        attributes = len(self.tables.attributes)
        groups, codes_size, mixed_size = self._rows()
        codes, mixed = np.zeros(codes_size + 64, np.uint16), np.zeros(mixed_size + 64, np.uint16)
        codes[:codes_size].reshape(-1, 2, 64)[:, 0] = 65535  # an empty lane lies outside every event
        mixed[:mixed_size].reshape(-1, 3, 64)[:, 2] = 65535  # an empty side lets everything through
        left_at = np.zeros(len(hulls.offsets), np.int32)
        left = np.zeros(3 * (len(codes16[0]) + len(checks["check_number"]) + 1), np.uint16)
        is_union = np.diff(hulls.spans) > 1
        count = 0
        for row, (_, members) in zip(groups, self.groups, strict=True):
            group, before = GroupRecord(row), count
            first = group.first_box
            count = emit_blocks(
                row, tuple(hulls), codes16, (checks["check_at"], checks["check_number"]),
                codes, mixed, left_at, left, count,
            )  # fmt: skip
            group.left_kinds = SOME_LEFT if count > before else 0
            if is_union[hulls.offsets[first] : hulls.offsets[first + len(members)]].any():
                group.left_kinds |= SOME_UNIONS
        firsts = np.array([keys[0] if keys else attributes for keys, _ in self.groups], np.int64)
        return {
            "group_at": np.searchsorted(firsts, np.arange(attributes + 2)).astype(np.int32),
            "groups": groups,
            "codes": codes,
            "mixed": mixed,
            "left_at": left_at,
            "left": left[: 3 * max(count, 1)].copy(),
            "prefilter": _prefilter(left_at, left, checks, has_unions=bool(is_union.any())),
        }

    def _rows(self) -> tuple[Int64s, int, int]:
        """A row per group, and how many codes and mixed sides there are in all."""
        width = GroupRecord.width + max((len(keys) for keys, _ in self.groups), default=0)
        groups = np.zeros((len(self.groups), width), np.int64)
        codes = mixed = first = 0
        for row, (keys, members) in zip(groups, self.groups, strict=True):
            blocks = -(-len(members) // 64)
            zones = -(-blocks // 64)
            zones_at = codes + blocks * len(keys) * 128
            upper_zones_at = zones_at + zones * len(keys) * 128
            group = GroupRecord(
                row,
                n_keys=len(keys),
                n_blocks=blocks,
                n_boxes=len(members),
                codes_at=codes,
                zones_at=zones_at,
                upper_zones_at=upper_zones_at,
                first_box=first,
                mixed_at=mixed if len(keys) < 2 else -1,
            )
            group.keys[: len(keys)] = keys
            codes = upper_zones_at + -(-zones // 64) * len(keys) * 128
            mixed += blocks * MIXED_SIDES * 192 if len(keys) < 2 else 0
            first += len(members)
        return groups, codes, mixed


def _prefilter(left_at: Int32s, left: Uint16s, checks: dict[str, Any], *, has_unions: bool) -> Int64s:
    """The prefilter's word of every box; none where there are neither unions nor checks."""
    needs = np.zeros(len(checks["check_attribute"]), np.int64)
    if not len(needs) and not has_unions:
        return np.zeros(0, np.int64)
    words = np.empty(len(left_at) - 1, np.int64)
    needed_letters(checks["check_start"], checks["programs"], needs)
    fill_words(left_at, left, needs, checks["check_attribute"], words)
    return words


class _Hulls(NamedTuple):
    """The hulls of the boxes' sides in the order of their blocks, and where the sides of each begin."""

    offsets: Int32s  # where the hulls of each box begin
    attribute: Uint16s
    order: Int32s  # of each box, the most selective first
    spans: Int32s


def _hulls(ranked: Ranked) -> tuple[Int32s, Int32s]:
    """Where the hulls of each box begin, and where the sides of each hull do."""
    attribute, offsets = ranked.attribute, ranked.offsets
    is_first = np.ones(len(attribute) + 1, np.bool_)
    is_first[1:-1] = attribute[1:] != attribute[:-1]
    is_first[offsets] = True
    before = np.cumsum(is_first, dtype=np.int32) - np.int32(1)
    return before[offsets], np.flatnonzero(is_first).astype(np.int32)


def _moved(offsets: Int32s, rows: Int32s) -> tuple[Int32s, Int64s]:
    """Offsets of rows put in another order, and where each of their entries was before."""
    sizes = np.diff(offsets)[rows]
    starts = starts_of(sizes, np.int32)
    return starts, np.repeat(offsets[:-1][rows] - starts[:-1], sizes) + np.arange(starts[-1])


def _by_first_appearance(owner: Int32s, count: int) -> tuple[Int64s, Int32s]:
    """Owners in the order in which their first box comes, and each box's owner in that numbering.

    The latter is empty where every owner has one box, which then has the same number.
    """
    if len(owner) == count:
        return owner.astype(np.int64), np.zeros(0, np.int32)
    _, firsts = np.unique(owner, return_index=True)
    owners = owner[np.sort(firsts)].astype(np.int64)
    numbers = np.empty(count, np.int32)
    numbers[owners] = np.arange(count, dtype=np.int32)
    return owners, numbers[owner]
