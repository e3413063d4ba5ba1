"""MessagePack without a library, as plainly as it can be: what rows of events mean, and some that no encoder writes."""

from __future__ import annotations

import struct
from typing import Any

from thatch.errors import EventError

__all__ = ["packed", "unpacked"]


def packed(value: Any, *, wide: bool = False) -> bytes:
    """A value in MessagePack, in the shortest form or, with `wide`, in long ones."""
    if value is None or isinstance(value, bool):
        return bytes([0xC0 if value is None else 0xC2 + value])
    if isinstance(value, int):
        return _whole(value, wide=wide)
    if isinstance(value, float):
        return struct.pack(">Bd", 0xCB, value)
    if isinstance(value, str):
        content = value.encode("utf-8", "surrogatepass")
        if len(content) < 32 and not wide:
            return bytes([0xA0 + len(content)]) + content
        return (
            struct.pack(">BB", 0xD9, len(content))
            if len(content) < 256
            else struct.pack(">BH", 0xDA, len(content))
        ) + content
    if isinstance(value, list):
        return struct.pack(">BH", 0xDC, len(value)) + b"".join(packed(each, wide=wide) for each in value)
    body = b"".join(packed(name, wide=wide) + packed(each, wide=wide) for name, each in value.items())
    if len(value) < 16 and not wide:
        return bytes([0x80 + len(value)]) + body
    return struct.pack(">BH", 0xDE, len(value)) + body


def _whole(value: int, *, wide: bool) -> bytes:
    if not wide:
        if -32 <= value < 128:
            return struct.pack("b" if value < 0 else "B", value)
        for head, form, most in ((0xCC, ">BB", 8), (0xCD, ">BH", 16), (0xCE, ">BI", 32)):
            if 0 <= value < 1 << most:
                return struct.pack(form, head, value)
        for head, form, most in ((0xD0, ">Bb", 7), (0xD1, ">Bh", 15), (0xD2, ">Bi", 31)):
            if -(1 << most) <= value < 0:
                return struct.pack(form, head, value)
    return struct.pack(">BQ", 0xCF, value) if value >= 0 else struct.pack(">Bq", 0xD3, value)


def unpacked(row: bytes) -> dict[str, Any]:
    """The map that a row is; raises `EventError` if it is none."""
    try:
        value, end = _read(row, 0)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise EventError("a row", row.hex()) from error
    if end != len(row) or not isinstance(value, dict):
        raise EventError("a map and nothing behind it", row.hex())
    return value


_NUMBERS = {
    0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
}  # fmt: skip


def _read(row: bytes, at: int) -> tuple[Any, int]:
    """A value, and where it ends."""
    head, at = row[at], at + 1
    if head < 0x80 or head >= 0xE0:
        return head if head < 0x80 else head - 256, at
    if head in _NUMBERS:
        form = _NUMBERS[head]
        return struct.unpack_from(form, row, at)[0], at + struct.calcsize(form)
    if head in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[head], at
    size, at = _size(row, head, at)
    if head < 0x90 or head in (0xDE, 0xDF):
        fields: dict[str, Any] = {}
        for _ in range(size):
            name, at = _read(row, at)
            if not isinstance(name, str):
                raise EventError("names as text", row.hex())
            fields[name], at = _read(row, at)
        return fields, at
    if 0xA0 <= head < 0xC0 or 0xD9 <= head <= 0xDB:
        if at + size > len(row):
            raise EventError("the whole text", row.hex())
        return row[at : at + size].decode(), at + size
    values = []
    for _ in range(size):
        value, at = _read(row, at)
        values.append(value)
    return values, at


def _size(row: bytes, head: int, at: int) -> tuple[int, int]:
    """How long a text, list or map is, and where it begins."""
    if head < 0xC0:
        return head & (31 if head >= 0xA0 else 15), at
    forms = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I", 0xDC: ">H", 0xDD: ">I", 0xDE: ">H", 0xDF: ">I"}
    if head not in forms:
        raise EventError("a value that events may have", row.hex())
    return struct.unpack_from(forms[head], row, at)[0], at + struct.calcsize(forms[head])
