"""Cuts as bytes that sort as the cuts do, so that Arrow can rank millions of them without a Python object for each.

    (r,)            the rank, one byte
    (5, v, side)    5, the greatest double that is not above v (8 bytes), what v exceeds it by (2 bytes), the side
    (6, s, side)    6, the UTF-8 bytes of s with 00 written as 00 ff, then 00 and the side

Doubles are written so that their bytes rise with them: negative ones with every bit flipped, the others with the sign
bit. An integer of 64 bits exceeds the double below it by less than 1,024. Bytes of UTF-8 sort as code points do, and no
text can end in 00 and a side, so that none is read as the beginning of another.
"""

from __future__ import annotations

import struct
from math import inf, nextafter

from thatch.model.lines import RANK_TEXT, Cut

__all__ = ["encoded"]

_DOUBLE = struct.Struct(">d")
_BITS = struct.Struct(">Q")
_NUMBER = struct.Struct(">BQHB")
_SIGN = 1 << 63
_ALL = (1 << 64) - 1
_EXACT = 2**53  # integers up to here are doubles
_TEXT = bytes([RANK_TEXT])
_ENDS = (b"\0\0", b"\0\1")


def encoded(cut: Cut) -> bytes:
    """The bytes of a cut; `encoded(a) < encoded(b)` exactly if `a < b`."""
    if len(cut) == 1:
        return bytes(cut)
    rank, value, side = cut
    if rank == RANK_TEXT:
        text: bytes = value.encode()
        return _TEXT + text.replace(b"\0", b"\0\xff") + _ENDS[side]
    double, rest = float(value), 0
    if isinstance(value, int) and not -_EXACT <= value <= _EXACT:
        if double > value:
            double = nextafter(double, -inf)
        rest = value - int(double)
    (bits,) = _BITS.unpack(_DOUBLE.pack(double + 0.0))  # -0.0 is 0.0
    return _NUMBER.pack(rank, bits ^ (_ALL if bits & _SIGN else _SIGN), rest, side)
