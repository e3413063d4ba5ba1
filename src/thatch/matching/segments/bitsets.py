"""Bitsets: for segments whose sides let most events through, so that no order of the boxes saves much reading.

An event then reads one bit for each box and attribute instead of two codes. A segment gets them if statistics say that
this is quicker, and as many as fit into a limited memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import fields as fields_of
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.compiled.records import Doubles, Int32s, Int64s, Uint64s
from thatch.matching.arrays import starts_of
from thatch.matching.segments.building.shares import Shares
from thatch.matching.segments.building.tables import CutTables
from thatch.matching.segments.kernels.bitsets import count_edges, file_edges, keep_bits
from thatch.matching.segments.records import MIXED_SIDES, BitsetAttribute, BitsetLayout, GroupRecord

__all__ = ["Bitsets", "blocks_of_an_event", "is_worth_bitsets"]

MOST_BYTES = 256  # a box
_FEWEST = 8_192  # boxes
_MOST_KEPT = 128  # times that the bits of an attribute are kept
_FEWEST_KEPT = 8

# Nanoseconds, from measurements: a block that a search reads, a key of it, a mixed side; a word of bits, an edge.
_PER_BLOCK, _PER_KEY, _PER_MIXED = 12.0, 5.0, 9.0
_PER_FAR_KEY = 20.0  # that comes from memory, as those of large segments do
_NEAR = 1 << 23  # bytes of codes
_PER_WORD, _PER_EDGE = 0.8, 1.3
_GAIN, _LEAST = 1.5, 2_000.0  # times quicker, and nanoseconds of an event without, to be worth the memory


@dataclass(frozen=True, slots=True)
class Bitsets:
    """The bits of a segment's boxes; all arrays are empty where it has none.

    `starts` tells for every cell of every attribute how many edges lie before it, `boxes` the box of each edge, and
    `layout` how long a row of `bits` is, after how many edges one is kept, and where each attribute's things begin.
    """

    layout: Int64s
    starts: Int32s
    boxes: Int32s
    bits: Uint64s

    @classmethod
    def none(cls) -> Bitsets:
        """No bitsets."""
        boxes = np.zeros(0, np.int32)
        return cls(np.zeros(0, np.int64), boxes, boxes, np.zeros(0, np.uint64))

    @classmethod
    def of(cls, tables: CutTables, columns: Mapping[str, npt.NDArray[Any]]) -> Bitsets:
        """The bitsets of a segment's columns; none if they would take too much memory."""
        offsets, attribute = columns["box_offsets"], columns["side_attribute"]
        sides = attribute, columns["side_lo"], columns["side_hi"]
        cell_at = starts_of(tables.cells())
        counts = np.zeros(int(cell_at[-1]), np.int32)
        count_edges(*sides, cell_at, counts)
        starts = starts_of(counts, np.int32)
        edges = np.diff(starts[cell_at].astype(np.int64))
        words = -(-(len(offsets) - 1) // 64)
        stride = _stride(edges, words, MOST_BYTES * (len(offsets) - 1) - starts.nbytes - 4 * int(starts[-1]))
        if not stride:
            return cls.none()
        kept = edges // stride + 1
        rows = np.zeros((len(edges), BitsetAttribute.width), np.int64)
        rows[:, BitsetAttribute.cells_at] = cell_at[:-1]
        rows[:, BitsetAttribute.edges_at] = starts[cell_at[:-1]]
        rows[:, BitsetAttribute.n_edges] = edges
        rows[:, BitsetAttribute.kept_at] = np.cumsum(kept) - kept
        header = BitsetLayout(n_words=words, stride=stride)
        layout = np.concatenate([header.table, rows.ravel()])
        edge_boxes, bits = np.empty(int(starts[-1]), np.int32), np.zeros(int(kept.sum()) * words, np.uint64)
        file_edges(offsets, *sides, cell_at, starts[1:].copy(), edge_boxes)
        keep_bits(offsets, attribute, layout, edge_boxes, bits)
        return cls(layout, starts, edge_boxes, bits)

    def __len__(self) -> int:
        """How many attributes there are bits of."""
        return max(len(self.layout) - BitsetLayout.width, 0) // BitsetAttribute.width

    @property
    def nanoseconds(self) -> float:
        """How long an event is expected to take."""
        header = BitsetLayout(self.layout)
        return _sweeping(len(self), header.n_words, header.stride)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All columns by name."""
        return {f"bitset_{each.name}": getattr(self, each.name) for each in fields_of(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Bitsets:
        """The bitsets that `arrays` returned; none for files without them."""
        if "bitset_layout" not in arrays:
            return cls.none()
        return cls(**{each.name: arrays[f"bitset_{each.name}"] for each in fields_of(cls)})

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for array in self.arrays().values())


def _stride(edges: Int64s, words: int, room: int) -> int:
    """How many edges lie between kept rows, so that all rows fit the room; 0 if too few would."""
    rows = min(room // (8 * words), _MOST_KEPT * len(edges)) - len(edges)
    if rows < (_FEWEST_KEPT - 1) * len(edges):
        return 0
    return max(64, -(-int(edges.sum()) // rows))


def _sweeping(attributes: int, words: int, stride: int) -> float:
    """Nanoseconds for an event, which on average is a quarter of a stride away from a kept row."""
    return attributes * (words * _PER_WORD + stride / 4 * _PER_EDGE)


def is_worth_bitsets(
    tables: CutTables, columns: Mapping[str, npt.NDArray[Any]], shares: Shares | None = None
) -> bool:
    """Whether statistics say that bitsets match events of single values faster.

    Where `shares` do not say where events lie, the sides themselves stand for the events.
    """
    boxes, attributes = len(columns["box_offsets"]) - 1, len(tables.attributes)
    if boxes < _FEWEST or not attributes:
        return False
    stride = 2 * len(columns["side_attribute"]) // (_MOST_KEPT * attributes)
    swept = _sweeping(attributes, boxes // 64, stride)
    groups = columns["groups"]
    keys = groups[:, GroupRecord.n_keys]
    per_key = _PER_KEY if columns["codes"].nbytes <= _NEAR else _PER_FAR_KEY
    mixed = (groups[:, GroupRecord.mixed_at] >= 0) * MIXED_SIDES
    per_block = _PER_BLOCK + keys * per_key + mixed * _PER_MIXED
    wanted = max(_GAIN * swept, _LEAST)
    if float((groups[:, GroupRecord.n_blocks] * per_block).sum()) < wanted:
        return False  # even if every block were read
    return float((blocks_of_an_event(tables, columns, shares) * per_block).sum()) > wanted


def blocks_of_an_event(
    tables: CutTables, columns: Mapping[str, npt.NDArray[Any]], shares: Shares | None = None
) -> Doubles:
    """How many blocks of each group a search is expected to read, if attributes are independent."""
    below = cache(partial(_below, tables, columns, shares))
    groups, codes = columns["groups"], columns["codes"]
    expected = np.zeros(len(groups))
    for number, row in enumerate(groups):
        group = GroupRecord(row)
        keys, blocks = int(group.n_keys), int(group.n_blocks)
        if not keys:
            expected[number] = blocks
            continue
        zones = -(-blocks // 64)
        first = int(group.zones_at)
        hulls = codes[first : first + zones * keys * 128].reshape(zones, keys, 2, 64).astype(np.int64)
        chance = np.ones((zones, 64))
        for key in range(keys):
            cuts = below(int(group.keys[key]))
            low, high = hulls[:, key, 0], np.minimum(hulls[:, key, 1] + 1, len(cuts) - 1)
            chance *= np.maximum(cuts[high] - cuts[np.minimum(low, len(cuts) - 1)], 0.0)
        expected[number] = chance.ravel()[:blocks].sum()
    return expected


def _below(
    tables: CutTables, columns: Mapping[str, npt.NDArray[Any]], shares: Shares | None, local: int
) -> Doubles:
    """The share of events below every cut of an attribute: as known, or as sides begin and cells lie."""
    if shares is not None and shares.is_known[local]:
        return shares.below(local)
    cells = int(tables.cells()[local])
    begins = columns["side_lo"][columns["side_attribute"] == local]
    sums = starts_of(np.bincount(begins, minlength=cells))
    result: Doubles = 0.5 * sums / max(len(begins), 1) + 0.5 * np.arange(cells + 1) / cells
    return result
