"""How literals are found in texts: tries of whole texts and beginnings, of ends, and tables of grams of needles."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.compiled.records import Int64s
from thatch.matching.arrays import starts_of
from thatch.matching.segments.columns import Texts
from thatch.matching.segments.parts import program
from thatch.matching.segments.rules.draft import RuleTable
from thatch.matching.segments.rules.lists import unpacked_numbers, unpacked_texts
from thatch.matching.segments.rules.literals import (
    CONTAINS,
    EQUAL,
    LONGEST_NEEDLE,
    NUMBER,
    NUMBER_LIST,
    PATTERN,
    PREFIX,
    SUFFIX,
    TEXT_LIST,
    needle_of,
)
from thatch.matching.segments.rules.records import (
    EDGE_WIDTH,
    NUMBER_WIDTH,
    TextRecord,
)
from thatch.model.residuals import WildcardCheck
from thatch.model.wildcards import wildcard

__all__ = ["find_literals"]

_MIX = np.uint64(0x9E3779B97F4A7C15)
_PAIR_BYTES = 8_192 + 32
_PLACE_BITS = 40  # above them the count

Arrays = dict[str, npt.NDArray[Any]]


def find_literals(table: RuleTable) -> Arrays:
    """The arrays of a `RuleRecord` that say how the literals of a table are found."""
    return _Finding(table).arrays()


class _Finding:
    """The literals of one table on their way into tries and gram tables."""

    def __init__(self, table: RuleTable) -> None:
        self._table = table
        self._kinds: list[int] = table.atom_kind.tolist()
        self._needles: list[bytes] = []
        self._programs = bytearray()
        self._program_at = np.full(len(self._kinds), -1, np.int64)
        self._nodes: list[list[int]] = []
        self._edges: list[tuple[int, int]] = []
        self._entries: list[tuple[int, int, int]] = []
        self._gram_bits: list[npt.NDArray[np.uint8]] = []
        self._pair_bits: list[npt.NDArray[np.uint8]] = []
        self._buckets: list[npt.NDArray[np.int32]] = []
        self._text_lists: list[tuple[int, int, int]] = []
        self._list_offsets: list[Int64s] = []
        self._list_blobs: list[npt.NDArray[np.uint8]] = []
        for atom, kind in enumerate(self._kinds):
            self._take_text(atom, kind & 7)
        self._texts_of_literals = Texts.of(self._needles)
        grams, places = self._rarest_grams(self._texts_of_literals)
        self._grams: list[int] = grams.tolist()
        self._places: list[int] = places.tolist()

    def arrays(self) -> Arrays:
        texts = self._texts()
        edges, edge_shift = _hash_table(self._edges, EDGE_WIDTH, [key for key, _ in self._edges])
        numbers, number_shift = self._numbers()
        lists = self._number_lists()
        needles = self._texts_of_literals
        return {
            **texts,
            "shifts": np.array([edge_shift, number_shift], np.int64),
            "needle_at": needles.offsets,
            "needles": _padded(needles.blob),
            "program_at": self._program_at,
            "programs": _padded(np.frombuffer(bytes(self._programs), np.uint8)),
            "nodes": np.array(self._nodes, np.int32).reshape(-1),
            "edges": edges,
            "numbers": numbers,
            "text_lists": np.array(self._text_lists, np.int64).reshape(-1),
            "list_offsets": np.concatenate([np.zeros(0, np.int64), *self._list_offsets]),
            "list_blob": np.concatenate([np.zeros(0, np.uint8), *self._list_blobs]),
            **lists,
            "entries": np.array(self._entries, np.int64).reshape(-1),
            "gram_bits": np.concatenate([np.zeros(0, np.uint8), *self._gram_bits]),
            "pair_bits": np.concatenate([np.zeros(0, np.uint8), *self._pair_bits]),
            "buckets": np.concatenate([np.zeros(0, np.int32), *self._buckets]),
        }

    def _take_text(self, atom: int, kind: int) -> None:
        """Keep the text by which a literal is found, and the program of a pattern."""
        text = b"" if kind in (TEXT_LIST, NUMBER_LIST) else self._table.atom_text[atom]
        if kind == PATTERN:
            pattern = wildcard(text.decode())
            code = program(WildcardCheck("", pattern))
            assert code is not None, "only such patterns are literals"
            self._program_at[atom] = len(self._programs)
            self._programs += code
            text = needle_of(pattern).encode()[:LONGEST_NEEDLE]
        self._needles.append(text)

    def _texts(self) -> Arrays:
        """A `TextRecord` for each attribute and way to read it that some literal needs."""
        table = self._table
        members: dict[tuple[int, int], list[int]] = defaultdict(list)
        for atom, (attribute, kind) in enumerate(
            zip(table.atom_attribute.tolist(), self._kinds, strict=True)
        ):
            if kind & 7 not in (NUMBER, NUMBER_LIST):
                members[attribute, kind >> 3].append(atom)
        text_of = np.full(2 * len(table.attributes), -1, np.int32)
        records = np.zeros((len(members), TextRecord.width), np.int64)
        for number, ((attribute, folded), atoms) in enumerate(members.items()):
            text_of[2 * attribute + folded] = number
            self._fill(TextRecord(records[number], attribute=attribute, is_folded=folded), atoms)
        return {"text_of": text_of, "texts": records.reshape(-1)}

    def _fill(self, record: TextRecord, atoms: list[int]) -> None:
        kinds = self._kinds
        front = [each for each in atoms if kinds[each] & 7 in (EQUAL, PREFIX)]
        back = [each for each in atoms if kinds[each] & 7 == SUFFIX]
        grams = [each for each in atoms if kinds[each] & 7 in (CONTAINS, PATTERN)]
        record.front = self._root([(self._needles[each], kinds[each] & 7 == EQUAL, each) for each in front])
        record.back = self._root([(self._needles[each][::-1], False, each) for each in back])
        record.has_grams, record.is_eager = bool(grams), 1
        if grams:
            self._file_grams(record, grams)
        lists = [each for each in atoms if kinds[each] & 7 == TEXT_LIST]
        record.list_at, record.n_lists = len(self._text_lists), len(lists)
        for each in lists:
            self._file_list(each)

    def _file_list(self, atom: int) -> None:
        """Keep a long list of texts."""
        offsets, blob = unpacked_texts(self._table.atom_text[atom])
        self._text_lists.append((atom, sum(map(len, self._list_offsets)), len(offsets) - 1))
        self._list_offsets.append(offsets + sum(map(len, self._list_blobs)))
        self._list_blobs.append(blob)

    # --- tries -----------------------------------------------------------------------------------------------------

    def _root(self, texts: list[tuple[bytes, bool, int]]) -> int:
        return self._trie(sorted(texts), 0) if texts else -1

    def _trie(self, texts: list[tuple[bytes, bool, int]], depth: int) -> int:
        """Add the trie of sorted texts that agree in their first `depth` bytes; the number of its root."""
        waiting: list[tuple[list[tuple[bytes, bool, int]], int, int]] = [(texts, depth, -1)]
        root = len(self._nodes)
        while waiting:  # a loop, as texts may be longer than Python's stack is deep
            texts, depth, key = waiting.pop()
            number = len(self._nodes)
            if key >= 0:
                self._edges.append((key, number))
            waiting += self._node(texts, depth, number)
        return root

    def _node(
        self, texts: list[tuple[bytes, bool, int]], depth: int, number: int
    ) -> list[tuple[list[tuple[bytes, bool, int]], int, int]]:
        """Add one node; what is to stand below it, each with its key among the edges."""
        (first, is_whole, atom), last = texts[0], texts[-1][0]
        node = [-1, -1, -1, 0, atom]
        self._nodes.append(node)
        if len(texts) == 1:
            node[1:3] = is_whole, atom
            return []
        shared = depth
        most = min(len(first), len(last))
        while shared < most and first[shared] == last[shared]:
            shared += 1
        node[3] = shared - depth
        below: dict[int, list[tuple[bytes, bool, int]]] = defaultdict(list)
        for each in texts:
            if len(each[0]) == shared:
                node[int(each[1])] = each[2]
            else:
                below[each[0][shared]].append(each)
        return [(each, shared + 1, number << 8 | byte) for byte, each in below.items()]

    # --- grams -------------------------------------------------------------------------------------------------------

    def _rarest_grams(self, needles: Texts) -> tuple[Int64s, Int64s]:
        """Of each literal of four bytes or more, the four that stand in the fewest literals, and where.

        What is common in literals is common in texts.
        """
        starts, sizes = needles.offsets[:-1], np.diff(needles.offsets)
        is_text = (self._table.atom_kind & 7) != NUMBER
        has_grams = np.flatnonzero(is_text & (sizes >= 4))
        grams, places = np.full(len(sizes), -1, np.int64), np.zeros(len(sizes), np.int64)
        if not len(has_grams):
            return grams, places
        counts = sizes[has_grams] - 3
        first = starts_of(counts)[:-1]
        place = np.arange(int(counts.sum())) - np.repeat(first, counts)
        at = np.repeat(starts[has_grams], counts) + place
        blob = _padded(needles.blob).astype(np.int64)
        words = blob[at] | blob[at + 1] << 8 | blob[at + 2] << 16 | blob[at + 3] << 24
        _, which, uses = np.unique(words, return_inverse=True, return_counts=True)
        found = np.minimum.reduceat(uses[which] << _PLACE_BITS | place, first) & ((1 << _PLACE_BITS) - 1)
        grams[has_grams], places[has_grams] = words[first + found], found
        return grams, places

    def _file_grams(self, record: TextRecord, atoms: list[int]) -> None:
        """File each needle under its rarest four bytes, or under all of a shorter one."""
        pairs = np.zeros(_PAIR_BYTES, np.uint8)
        rows: list[tuple[int, int, int]] = []
        for atom in atoms:
            text, gram = self._needles[atom], self._grams[atom]
            if gram >= 0:
                rows.append((gram, atom, self._places[atom]))
            elif len(text) > 1:
                pair = text[0] | text[1] << 8
                pairs[pair >> 3] |= 1 << (pair & 7)
                rows.append((pair | 1 << 32, atom, 0))
                record.has_pairs = 1
            else:
                pairs[8_192 + (text[0] >> 3)] |= 1 << (text[0] & 7)
                rows.append((text[0] | 2 << 32, atom, 0))
                record.has_bytes = 1
        keys = [key for key, _, _ in rows]
        shift, bucket_shift = 64 - max(9, (32 * len(keys)).bit_length()), 64 - max(2, len(keys).bit_length())
        bits = np.zeros(1 << (61 - shift), np.uint8)
        long = _mixed([key for key in keys if key < 1 << 32], shift)
        np.bitwise_or.at(bits, long >> 3, (1 << (long & 7)).astype(np.uint8))
        home = _mixed(keys, bucket_shift)
        order = np.argsort(home, kind="stable")
        buckets = np.searchsorted(home[order], np.arange((1 << (64 - bucket_shift)) + 1)) + len(self._entries)
        record.gram_at, record.gram_shift = sum(map(len, self._gram_bits)), shift
        record.pair_at = sum(map(len, self._pair_bits))
        record.bucket_at, record.bucket_shift = sum(map(len, self._buckets)), bucket_shift
        self._gram_bits.append(bits)
        if record.has_pairs or record.has_bytes:
            self._pair_bits.append(pairs)
        self._buckets.append(buckets.astype(np.int32))
        self._entries += [rows[each] for each in order.tolist()]

    # --- numbers -----------------------------------------------------------------------------------------------------

    def _numbers(self) -> tuple[Int64s, int]:
        table = self._table
        chosen = np.flatnonzero((table.atom_kind & 7) == NUMBER)
        bits = table.atom_number[chosen].view(np.int64)
        attributes = table.atom_attribute[chosen].astype(np.int64)
        rows = list(zip(attributes.tolist(), bits.tolist(), chosen.tolist(), strict=True))
        return _hash_table(rows, NUMBER_WIDTH, (bits ^ (attributes << 1)).tolist())

    def _number_lists(self) -> Arrays:
        """The long lists of numbers, by attribute."""
        chosen = [atom for atom, kind in enumerate(self._kinds) if kind & 7 == NUMBER_LIST]
        chosen.sort(key=lambda atom: int(self._table.atom_attribute[atom]))
        values = [unpacked_numbers(self._table.atom_text[atom]) for atom in chosen]
        first = starts_of([*map(len, values)])
        owners = self._table.atom_attribute[chosen]
        return {
            "number_list_at": np.searchsorted(owners, np.arange(len(self._table.attributes) + 1)).astype(
                np.int32
            ),
            "number_lists": np.array(
                [(atom, at, len(each)) for atom, at, each in zip(chosen, first[:-1], values, strict=True)],
                np.int64,
            ).reshape(-1),
            "list_numbers": np.concatenate([np.zeros(0), *values]),
        }


def _mixed(keys: list[int], shift: int) -> Int64s:
    """`hash_of` for many keys."""
    with np.errstate(over="ignore"):
        mixed = np.array(keys, np.int64).astype(np.uint64) * _MIX
    return (mixed >> np.uint64(shift)).astype(np.int64)


def _hash_table(rows: list[Any], width: int, keys: list[int]) -> tuple[Int64s, int]:
    """Rows of numbers by the hash of their keys, the next free slot taken where one is; -1 begins an empty slot."""
    bits = max(4, (2 * len(rows)).bit_length())
    table = np.full((1 << bits, width), -1, np.int64)
    taken = bytearray(1 << bits)
    mask = len(taken) - 1
    slots = _mixed(keys, 64 - bits).tolist()
    for number, slot in enumerate(slots):
        while taken[slot]:
            slot = (slot + 1) & mask
        taken[slot] = 1
        slots[number] = slot
    if rows:
        table[slots] = rows
    return table.reshape(-1), 64 - bits


def _padded(blob: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    return np.concatenate([blob, np.zeros(8, np.uint8)])
