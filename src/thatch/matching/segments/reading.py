"""Read plain dicts in a kernel: names by a hash table, values by CPython's own functions."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.matching.segments.attributes import Attributes
from thatch.matching.segments.columns import Texts
from thatch.matching.segments.kernels.reading import GROW, OTHER, read_plain
from thatch.matching.segments.records import ReaderRecord
from thatch.model.derived import derive
from thatch.model.lines import RANK_NUMBER, RANK_TEXT, point
from thatch.model.values import is_text

__all__ = ["GROW", "OTHER", "PlainReader"]

_MIX = np.uint64(0x9E3779B97F4A7C15)
_LONGEST, _MOST_PARTS = 1_000, 100_000
_TRUE = True
_EXACT = 2**53
_RANK_NAN = 4
_PLAIN = frozenset({str, int, float, bool, type(None)})
_SHARED = ("row_info", "row_numbers", "words")


class PlainReader:
    """Reads events into the buffers of one encoder."""

    def __init__(self) -> None:
        self.record = ReaderRecord(
            text_type=id(str),
            int_type=id(int),
            float_type=id(float),
            bool_type=id(bool),
            list_type=id(list),
            none=id(None),
            true=id(_TRUE),
            longest=_LONGEST,
            most_parts=_MOST_PARTS,
        )
        self.record.own = self.record.table.ctypes.data
        self._table = self.record.table
        self._buffers: Mapping[str, npt.NDArray[Any]] | None = None
        self._attributes: Attributes | None = None
        self._known = -1
        self._derived: dict[
            str, tuple[tuple[str, int], ...]
        ] = {}  # what Python derives, by the name of a value
        self._given = 0  # rows of that in the last event

    def read(
        self, event: dict[str, Any], attributes: Attributes, buffers: Mapping[str, npt.NDArray[Any]]
    ) -> int:
        """Write the rows of an event; how many, OTHER or GROW."""
        self.prepare(attributes, buffers)
        if self._derived and (reason := self._give_derived(event, buffers)):
            return reason
        return int(read_plain(self._table, id(event)))

    def prepare(self, attributes: Attributes, buffers: Mapping[str, npt.NDArray[Any]]) -> None:
        """Get ready to read into these buffers."""
        if self._buffers is not buffers:
            for name in _SHARED:
                setattr(self.record, name, buffers[name])
            rows = len(buffers["row_numbers"])
            self.record.codes, self.record.lengths = np.zeros(rows, np.int32), np.zeros(rows, np.int32)
            self._buffers = buffers
        if self._known != len(attributes.keys) or self._attributes is not attributes:
            self._learn(attributes)

    @property
    def derived(self) -> tuple[str, ...]:
        """The names of values from which Python derives others; the kernel reads events that have none of them."""
        return tuple(self._derived)

    def _give_derived(self, event: dict[str, Any], buffers: Mapping[str, npt.NDArray[Any]]) -> int:
        """Write the rows of what is derived from values of the event; OTHER or GROW if that cannot be done."""
        record, words = self.record, buffers["words"]
        rows = texts = used = 0
        for name, keys in self._derived.items():
            if name not in event:
                continue
            value = event[name]
            if type(value) not in _PLAIN or rows + len(keys) + 2 * len(event) + 2 > len(record.codes):
                return OTHER
            if not (is_text(value) if type(value) is str else type(value) is not int or abs(value) <= _EXACT):
                return OTHER
            for key, number in keys:
                cut = derive(key, point(value))
                record.codes[rows] = 8 * number + cut[0]
                buffers["row_numbers"][rows] = nan if cut[0] == _RANK_NAN else 0.0
                if cut[0] == RANK_NUMBER:
                    if float(cut[1]) != cut[1]:
                        return OTHER
                    buffers["row_numbers"][rows] = cut[1]
                elif cut[0] == RANK_TEXT:
                    content = cut[1].encode()
                    if used + len(content) > len(words):
                        return GROW
                    words[used : used + len(content)] = np.frombuffer(content, np.uint8)
                    record.lengths[texts] = len(content)
                    texts, used = texts + 1, used + len(content)
                rows += 1
        if rows != self._given or rows:
            record.given, record.given_texts, record.given_used = rows, texts, used
            self._given = rows
        return 0

    def _learn(self, attributes: Attributes) -> None:
        """Index the names that filters use now; more may come while this is done."""
        known = len(attributes.keys)
        # Copies, which no other thread can come in between: writers and readers add names meanwhile.
        own = [name for name, code in attributes.by_name.copy().items() if code >= 0]
        names = list(dict.fromkeys([*own, *attributes.derived_by_name.copy()]))
        derived = attributes.derived_by_name.copy()
        self._derived, rows = {}, []
        self.record.given = self.record.given_texts = self.record.given_used = self._given = 0
        for name in names:
            texts = attributes.texts_by_name.get(name)
            if texts is None:
                rows.append((attributes.by_name.get(name, -1), -1))
                self._derived[name] = derived.get(name, ())
            else:
                rows.append((texts[0] - 6, texts[1] if len(texts) > 1 else -1))
        blob = Texts.of([name.encode() for name in names])
        self.record.names, self.record.shift = _hash_table([hash(name) for name in names])
        self.record.name_at, self.record.name_blob = blob.offsets, blob.blob
        self.record.anywhere = attributes.anywhere
        self.record.name_codes = np.array(rows, np.int64).reshape(-1)
        self._attributes, self._known = attributes, known


def _hash_table(hashes: list[int]) -> tuple[npt.NDArray[np.int64], int]:
    """Hashes with their places, and by how many bits a mixed hash is shifted to find its slot."""
    bits = max(4, (2 * len(hashes)).bit_length())
    table = np.full((1 << bits, 2), -1, np.int64)
    with np.errstate(over="ignore"):
        slots = (np.array(hashes, np.int64).astype(np.uint64) * _MIX) >> np.uint64(64 - bits)
    for place, (slot, hashed) in enumerate(zip(slots.tolist(), hashes, strict=True)):
        while table[slot, 1] >= 0:
            slot = (slot + 1) & (len(table) - 1)
        table[slot] = hashed, place
    return table.reshape(-1), 64 - bits
