"""How literals are found in texts: tries of whole texts and beginnings, of ends, and tables of grams of needles."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.compiled.records import Int32s, Int64s
from thatch.matching.arrays import starts_of
from thatch.matching.segments.columns import Texts
from thatch.matching.segments.parts import program
from thatch.matching.segments.rules.draft import RuleTable
from thatch.matching.segments.rules.kernels.filing import (
    PAIR_BYTES,
    count_grams,
    file_grams,
    file_tries,
    pick_grams,
)
from thatch.matching.segments.rules.kernels.numbering import place_keys
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
from thatch.matching.segments.rules.numbering import taken_texts
from thatch.matching.segments.rules.records import (
    BYTES,
    ENTRY_WIDTH,
    LONG,
    NODE_WIDTH,
    PAIRS,
    TextRecord,
)
from thatch.model.residuals import WildcardCheck
from thatch.model.wildcards import wildcard

__all__ = ["find_literals"]

_MIX = np.uint64(0x9E3779B97F4A7C15)
_MOST_COUNTED = 22  # bits of the hashes by which grams are counted
_MOST_TRIPLES = 16  # needles of three bytes of a record that are filed under 256 grams each
_GRAM_SHIFT = 64 - 12  # of a hash of which twelve bits say which bits of a word are set, and more which word
_FRONT, _BACK, _GRAMS, _LISTS, _NONE = range(5)  # how a text is searched for a literal
_WAYS = np.zeros(8, np.int64)
for _kind, _way in (
    (EQUAL, _FRONT), (PREFIX, _FRONT), (SUFFIX, _BACK), (CONTAINS, _GRAMS), (PATTERN, _GRAMS), (TEXT_LIST, _LISTS),
    (NUMBER, _NONE), (NUMBER_LIST, _NONE),
):  # fmt: skip
    _WAYS[_kind] = _way

Arrays = dict[str, npt.NDArray[Any]]


def find_literals(table: RuleTable, seen: Int32s | None = None) -> Arrays:
    """The arrays of a `RuleRecord` that say how the literals of a table are found, given which grams texts had."""
    return _Finding(table, seen).arrays()


class _Finding:
    """The literals of one table on their way into tries and gram tables.

    A record is an attribute and a way to read its text that some literal needs; its literals stand together, by the way
    in which they are searched: number four times the record, plus the way, begins at that place of `_at`.
    """

    def __init__(self, table: RuleTable, seen: Int32s | None) -> None:
        self._table = table
        self._seen = np.zeros(2, np.int32) if seen is None else seen
        self._kinds = table.atom_kind & 7
        self._take_texts()
        ways = _WAYS[self._kinds]
        key = 2 * table.atom_attribute.astype(np.int64) + (table.atom_kind >> 3)
        atoms = np.flatnonzero(ways != _NONE)
        self._keys, record = np.unique(key[atoms], return_inverse=True)
        place = 4 * record + ways[atoms]
        self._atoms = atoms[np.argsort(place, kind="stable")]
        self._at = starts_of(np.bincount(place, minlength=4 * len(self._keys)))
        self._records = np.zeros((len(self._keys), TextRecord.width), np.int64)

    def arrays(self) -> Arrays:
        numbers, number_shift = self._numbers()
        tries, edge_shift = self._tries()
        attributes = 2 * len(self._table.attributes)
        text_of = np.full(attributes, -1, np.int32)
        text_of[self._keys] = np.arange(len(self._keys))
        records = self._records
        records[:, TextRecord.attribute], records[:, TextRecord.is_folded] = self._keys >> 1, self._keys & 1
        return {
            **tries,
            **self._grams(),
            **self._text_lists(),
            **self._number_lists(),
            "text_of": text_of,
            "texts": records.reshape(-1),
            "shifts": np.array([edge_shift, number_shift], np.int64),
            "needle_at": self._texts.offsets,
            "needles": self._texts.blob,
            "program_at": self._program_at,
            "programs": _padded(np.frombuffer(bytes(self._programs), np.uint8)),
            "numbers": numbers,
        }

    def _take_texts(self) -> None:
        """The text by which each literal is found, and the programs of patterns."""
        table, kinds = self._table, self._kinds
        self._programs = bytearray()
        self._program_at = np.full(len(kinds), -1, np.int64)
        chosen = np.flatnonzero((kinds == PATTERN) | (kinds == TEXT_LIST) | (kinds == NUMBER_LIST))
        others = [self._needle(atom) for atom in chosen.tolist()]
        place = np.arange(len(kinds))
        place[chosen] = len(kinds) + np.arange(len(chosen))
        texts = (
            taken_texts(Texts.join([table.atom_text, Texts.of(others)]), place) if others else table.atom_text
        )
        self._texts = Texts(texts.offsets, _padded(texts.blob))

    def _needle(self, atom: int) -> bytes:
        """What of a pattern is looked for, whose program is kept; nothing of a list."""
        if self._kinds[atom] != PATTERN:
            return b""
        pattern = wildcard(self._table.atom_text[atom].decode())
        code = program(WildcardCheck("", pattern))
        assert code is not None, "only such patterns are literals"
        self._program_at[atom] = len(self._programs)
        self._programs += code
        return needle_of(pattern).encode()[:LONGEST_NEEDLE]

    def _of_way(self, way: int) -> tuple[Int64s, Int64s]:
        """The literals of each record that are searched in one way: where they begin, and all of them."""
        places = 4 * np.arange(len(self._keys)) + way
        sizes = self._at[places + 1] - self._at[places]
        is_of_way = np.repeat(np.arange(len(self._at) - 1) & 3 == way, np.diff(self._at))
        return starts_of(sizes), self._atoms[is_of_way]

    # --- tries -----------------------------------------------------------------------------------------------------

    def _tries(self) -> tuple[Arrays, int]:
        """Tries of beginnings and of ends."""
        records = self._records
        (front_at, front), (back_at, back) = self._of_way(_FRONT), self._of_way(_BACK)
        order, count = np.concatenate([front, back]), len(self._keys)
        root_at = np.concatenate([front_at, back_at[1:] + len(front)])
        is_back = np.repeat([0, 1], count)
        nodes, edges = (
            np.empty(2 * NODE_WIDTH * len(order), np.int32),
            np.empty((2 * len(order), 2), np.int64),
        )
        roots, room = np.empty(2 * count, np.int64), np.empty(len(order), np.int64)
        stack = np.empty((len(order) + 1, 4), np.int64)
        is_whole = (self._kinds == EQUAL).astype(np.int32)
        texts = self._texts.offsets, self._texts.blob
        n_nodes, n_edges = file_tries(
            (root_at, is_back), order, texts, is_whole, room, stack, nodes, edges, roots
        )
        records[:, TextRecord.front], records[:, TextRecord.back] = roots[:count], roots[count:]
        table, shift = _hash_table(edges[:n_edges], edges[:n_edges, 0])
        return {"nodes": nodes[: NODE_WIDTH * n_nodes].copy(), "edges": table}, shift

    # --- grams -------------------------------------------------------------------------------------------------------

    def _grams(self) -> Arrays:
        """Each needle under the four bytes that are rarest in texts and then in literals, or under all of a shorter one."""
        needle_at, needles = self._of_way(_GRAMS)
        at, blob = self._texts.offsets, self._texts.blob
        shift = 64 - min(_MOST_COUNTED, max(8, int(at[-1]).bit_length()))
        counts = np.zeros(1 << (64 - shift), np.int32)
        grams, places = np.empty(len(needles), np.int64), np.empty(len(needles), np.int64)
        count_grams(at, blob, shift, counts)
        pick_grams(
            at, blob, (counts, shift), (self._seen, 65 - len(self._seen).bit_length()), needles, grams, places
        )
        owners = np.repeat(np.arange(len(needle_at) - 1), np.diff(needle_at))
        parts = self._parts_of_needles(owners, needles, grams)
        owners, needles, grams, places = _completed(parts, owners, needles, grams, places, at, blob)
        sizes = np.bincount(owners, minlength=len(needle_at) - 1)
        needle_at = starts_of(sizes)
        is_short = np.bincount(owners[grams < 0], minlength=len(sizes)) > 0
        has_long = np.bincount(owners[grams >= 0], minlength=len(sizes)) > 0
        gram_bits = np.array([max(3, size.bit_length()) for size in sizes.tolist()], np.int64)  # of words
        bucket_bits = np.array([max(2, size.bit_length()) for size in sizes.tolist()], np.int64)
        has_grams = sizes > 0
        gram_at = starts_of(np.where(has_grams, 1 << gram_bits, 0))
        pair_at = starts_of(np.where(is_short, PAIR_BYTES, 0))
        bucket_at = starts_of(np.where(has_grams, (1 << bucket_bits) + 1, 0))
        words, pairs = np.zeros(gram_at[-1], np.uint64), np.zeros(pair_at[-1], np.uint8)
        buckets, entries = np.zeros(bucket_at[-1], np.int32), np.empty(ENTRY_WIDTH * len(needles), np.int64)
        short = np.zeros(2 * len(sizes), np.int64)
        columns = needle_at, gram_at[:-1], _GRAM_SHIFT - gram_bits, pair_at[:-1], bucket_at, 64 - bucket_bits
        file_grams((needles, grams, places), (at, blob), columns, words, pairs, buckets, entries, short)
        records = self._records
        records[:, TextRecord.parts] = LONG * has_long + PAIRS * short[::2] + BYTES * short[1::2]
        records[:, TextRecord.eager] = records[:, TextRecord.parts]
        for name, values in (
            ("gram_at", gram_at[:-1]), ("gram_shift", _GRAM_SHIFT - gram_bits), ("pair_at", pair_at[:-1]),
            ("bucket_at", bucket_at[:-1]), ("bucket_shift", 64 - bucket_bits),
        ):  # fmt: skip
            records[:, TextRecord.fields[name].at] = values
        return {
            "gram_words": words,
            "pair_bits": pairs,
            "buckets": buckets,
            "entries": entries,
            "parts": self._parts,
        }

    def _parts_of_needles(self, owners: Int64s, needles: Int64s, grams: Int64s) -> npt.NDArray[np.uint8]:
        """LONG, PAIRS or BYTES of each needle. A few of three bytes are LONG, whatever byte comes behind them."""
        sizes = np.diff(self._texts.offsets)[needles]
        is_triple = sizes == 3
        triples = np.bincount(owners[is_triple], minlength=len(self._keys))[owners]
        is_long = (grams >= 0) | (is_triple & (triples <= _MOST_TRIPLES))
        parts = np.where(is_long, LONG, np.where(sizes > 1, PAIRS, BYTES)).astype(np.uint8)
        self._parts = np.zeros(len(self._kinds), np.uint8)
        self._parts[needles] = parts
        return parts

    # --- lists and numbers -------------------------------------------------------------------------------------------

    def _text_lists(self) -> Arrays:
        """The lists of texts, by record."""
        list_at, atoms = self._of_way(_LISTS)
        self._records[:, TextRecord.list_at] = list_at[:-1]
        self._records[:, TextRecord.n_lists] = np.diff(list_at)
        values = [unpacked_texts(self._table.atom_text[atom]) for atom in atoms.tolist()]
        first = starts_of([len(offsets) for _, offsets, _ in values])
        before = starts_of([len(blob) for *_, blob in values])
        rows = [
            (atom, start, len(offsets) - 1, form)
            for atom, start, (form, offsets, _) in zip(atoms.tolist(), first.tolist(), values, strict=False)
        ]
        moved = [offsets + start for (_, offsets, _), start in zip(values, before.tolist(), strict=False)]
        return {
            "text_lists": np.array(rows, np.int64).reshape(-1),
            "list_offsets": np.concatenate([np.zeros(0, np.int64), *moved]),
            "list_blob": np.concatenate([np.zeros(0, np.uint8), *(blob for *_, blob in values)]),
        }

    def _numbers(self) -> tuple[Int64s, int]:
        table = self._table
        chosen = np.flatnonzero(self._kinds == NUMBER)
        bits = table.atom_number[chosen].view(np.int64)
        attributes = table.atom_attribute[chosen].astype(np.int64)
        return _hash_table(np.stack([attributes, bits, chosen], 1), bits ^ (attributes << 1))

    def _number_lists(self) -> Arrays:
        """The long lists of numbers, by attribute."""
        chosen = np.flatnonzero(self._kinds == NUMBER_LIST)
        chosen = chosen[np.argsort(self._table.atom_attribute[chosen], kind="stable")]
        values = [unpacked_numbers(self._table.atom_text[atom]) for atom in chosen.tolist()]
        sizes = [*map(len, values)]
        first = starts_of(sizes)
        owners = self._table.atom_attribute[chosen]
        return {
            "number_list_at": np.searchsorted(owners, np.arange(len(self._table.attributes) + 1)).astype(
                np.int32
            ),
            "number_lists": np.stack([chosen, first[:-1], np.diff(first), np.zeros_like(chosen)], 1).reshape(
                -1
            ),
            "list_numbers": np.concatenate([np.zeros(0), *values]),
        }


def _completed(
    parts: npt.NDArray[np.uint8],
    owners: Int64s,
    needles: Int64s,
    grams: Int64s,
    places: Int64s,
    at: Int64s,
    blob: npt.NDArray[np.uint8],
) -> tuple[Int64s, Int64s, Int64s, Int64s]:
    """Owner, needle, gram and place of each gram, where LONG needles of three bytes have one for each byte behind them."""
    times = np.where((parts == LONG) & (grams < 0), 256, 1)
    owners, needles, grams, places = (np.repeat(each, times) for each in (owners, needles, grams, places))
    is_added = np.repeat(times, times) == 256
    start = at[needles[is_added]]
    three = sum(blob[start + byte].astype(np.int64) << 8 * byte for byte in range(3))
    grams[is_added] = three | np.tile(np.arange(256) << 24, int(np.count_nonzero(times == 256)))
    return owners, needles, grams, places


def _hash_table(rows: npt.NDArray[np.int64], keys: Int64s) -> tuple[Int64s, int]:
    """Rows of numbers by the hash of their keys, the next free slot taken where one is; -1 begins an empty slot."""
    bits = max(4, (2 * len(rows)).bit_length())
    with np.errstate(over="ignore"):
        homes = (keys.astype(np.uint64) * _MIX >> np.uint64(64 - bits)).astype(np.int64)
    slots = np.empty(len(rows), np.int64)
    place_keys(homes, np.zeros(1 << bits, np.uint8), slots)
    table = np.full((1 << bits, rows.shape[1]), -1, np.int64)
    table[slots] = rows
    return table.reshape(-1), 64 - bits


def _padded(blob: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    return np.concatenate([blob, np.zeros(8, np.uint8)])
