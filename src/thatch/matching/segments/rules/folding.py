"""Case folding for kernels: what each code point becomes, in UTF-8, by tables of two steps."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from thatch.compiled.records import Int32s, Uint8s, Uint16s
from thatch.model.derived import fold

__all__ = ["MOST_GROWTH", "FoldTables", "fold_tables"]

MOST_GROWTH = 3  # times as many bytes as before, at most: one code point becomes up to three
_LAST = 0x20000  # no code point from here on is changed by folding


class FoldTables(NamedTuple):
    """A page of 256 code points has a number; page and code point give where the folded bytes stand, 0 for no change."""

    pages: Uint16s
    places: Int32s
    content: Uint8s  # at a place: the number of bytes, then the bytes


@cache
def fold_tables() -> FoldTables:
    """The tables; made once."""
    pages, places, content = np.zeros(_LAST >> 8, np.uint16), [np.zeros(256, np.int32)], bytearray(1)
    for code in range(128, _LAST):
        if 0xD800 <= code < 0xE000:
            continue
        folded = fold(chr(code))
        if folded == chr(code):
            continue
        if pages[code >> 8] == 0:
            pages[code >> 8] = len(places)
            places.append(np.zeros(256, np.int32))
        written = folded.encode()
        places[pages[code >> 8]][code & 255] = len(content)
        content += bytes([len(written)]) + written
    return FoldTables(pages, np.concatenate(places), np.frombuffer(bytes(content), np.uint8))
