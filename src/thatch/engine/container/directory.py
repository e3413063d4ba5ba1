"""The directory of a container: which arrays are where, written as JSON and believed in nothing when read."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, NoReturn, TypeGuard

import numpy as np
from numpy.typing import NDArray

from thatch.engine.container.checksums import checksum
from thatch.errors import IndexFileError, shown

__all__ = ["ALIGNMENT", "DTYPES", "EXPECTED", "MAJOR", "ArrayEntry", "align", "decode", "encode", "end_mark"]

EXPECTED = "a saved engine"
ALIGNMENT = 64  # a cache line, and the widest register
MAJOR, MINOR = 3, 0
DTYPES: dict[str, np.dtype[Any]] = {
    each: np.dtype(each)
    for each in ("|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f4", "<f8")
}

_MAGIC = b"THATCH\0"
_VERSION = struct.Struct("<7sB")
_PREAMBLE = struct.Struct("<7sBQQQ")  # magic, major and minor version, length and checksum of the directory
_END = struct.Struct("<Q")
_COVERED = _PREAMBLE.size - 8  # the part of the preamble that the directory's checksum covers too
_LARGEST = 1 << 26  # bytes of a directory: what JSON may make of it stays within reason
_ADDRESSABLE = 1 << 62  # bytes of an array, were its empty dimensions one long


@dataclass(frozen=True, slots=True)
class ArrayEntry:
    """One array; `offset` counts from the first array's place when written, from the file's when read."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int
    checksum: str

    @property
    def size(self) -> int:
        """Length in bytes."""
        return math.prod(self.shape) * self.dtype.itemsize


def align(length: int) -> int:
    """The next place for an array."""
    return -(-length // ALIGNMENT) * ALIGNMENT


def end_mark(before: int) -> bytes:
    """The last bytes of a file: its length; `before` is what comes before them."""
    return _END.pack(before + _END.size)


# --- writing ------------------------------------------------------------------------------------------------


def encode(header: Mapping[str, Any], entries: Sequence[ArrayEntry], length: int, where: str) -> bytes:
    """Preamble and directory, filled up to the first array's place; `length` is that of the padded arrays."""
    listed = [{**asdict(each), "dtype": each.dtype.str} for each in entries]
    try:
        facts = {"header": dict(header), "length": length, "arrays": listed}
        text = json.dumps(facts, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise IndexFileError("a header of JSON values", f"another ({error})", where) from error
    if len(text) > _LARGEST:
        raise IndexFileError(f"a directory of at most {_LARGEST:,} bytes", f"{len(text):,}", where)
    start = _PREAMBLE.pack(_MAGIC, MAJOR, MINOR, len(text), 0)[:_COVERED]
    content = start + _checksum(start + text) + text
    return content.ljust(align(len(content)), b"\0")


def _checksum(covered: bytes) -> bytes:
    return checksum(np.frombuffer(covered, np.uint8)).to_bytes(8, "little")


# --- reading ------------------------------------------------------------------------------------------------


def decode(content: NDArray[np.uint8], where: str) -> tuple[dict[str, Any], list[ArrayEntry]]:
    """The header and the entries of a whole container, each known to lie inside it, apart from the others."""
    text = _text(content, where)
    start = align(_PREAMBLE.size + len(text))
    facts = _parsed(text, where)
    header, length, listed = (facts.get(key) for key in ("header", "length", "arrays"))
    if not isinstance(header, dict) or not _is_count(length) or not isinstance(listed, list):
        _refuse("one whose directory lacks a header, length or arrays", where)
    _check_length(content, start + length, where)
    entries = [_entry(each, start, start + length, where) for each in listed]
    if len({each.name for each in entries}) < len(entries):
        _refuse("one with two arrays of one name", where)
    filled = sorted((each for each in entries if each.size), key=lambda each: each.offset)
    for one, other in pairwise(filled):
        if one.offset + one.size > other.offset:
            _refuse(f"one where array {shown(other.name)} lies over array {shown(one.name)}", where)
    return header, entries


def _text(content: NDArray[np.uint8], where: str) -> bytes:
    """The bytes of the directory, after everything before them and their checksum were found right."""
    preamble = content[: _PREAMBLE.size].tobytes()
    if not preamble:
        _refuse("an empty file", where)
    if preamble[: len(_MAGIC)] != _MAGIC[: len(preamble)]:
        _refuse("another kind of file", where)
    if len(preamble) >= _VERSION.size and preamble[len(_MAGIC)] != MAJOR:
        raise IndexFileError(f"{EXPECTED} of version {MAJOR}", f"version {preamble[len(_MAGIC)]}", where)
    if len(preamble) < _PREAMBLE.size:
        _refuse(f"one cut short at {len(content):,} bytes", where)
    length = _PREAMBLE.unpack(preamble)[3]
    if _PREAMBLE.size + length > len(content):
        _refuse(f"one cut short at {len(content):,} bytes, or damaged: its directory is not whole", where)
    if length > _LARGEST:
        raise IndexFileError(f"a directory of at most {_LARGEST:,} bytes", f"{length:,}", where)
    text = content[_PREAMBLE.size : _PREAMBLE.size + length].tobytes()
    if _checksum(preamble[:_COVERED] + text) != preamble[_COVERED:]:
        _refuse("a damaged one: the checksum of its directory is wrong", where)
    return text


def _parsed(text: bytes, where: str) -> dict[str, Any]:
    try:
        facts = json.loads(text.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise IndexFileError(EXPECTED, f"one whose directory is not JSON ({error})", where) from error
    if not isinstance(facts, dict):
        _refuse("one whose directory is not a JSON object", where)
    return facts


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _check_length(content: NDArray[np.uint8], before: int, where: str) -> None:
    """See that the file is as long as it was written."""
    whole = before + _END.size
    if len(content) < whole:
        _refuse(f"one cut short at {len(content):,} of {shown(whole)} bytes", where)
    if len(content) > whole:
        _refuse(f"one of {len(content):,} bytes that was written with {whole:,}", where)
    if content[before:].tobytes() != end_mark(before):
        _refuse("a damaged one: its end mark is wrong", where)


def _entry(facts: Any, start: int, end: int, where: str) -> ArrayEntry:
    """One array of the directory, whose place lies between `start` and `end`."""
    if not isinstance(facts, dict) or not isinstance(name := facts.get("name"), str):
        _refuse(f"one with an array that has no name: {shown(facts)}", where)
    called = f"array {shown(name)}"
    dtype, shape, offset, digits = (facts.get(key) for key in ("dtype", "shape", "offset", "checksum"))
    if not isinstance(dtype, str) or dtype not in DTYPES:
        _refuse(f"one where {called} has dtype {shown(dtype)}", where)
    if not isinstance(shape, list) or len(shape) not in {1, 2} or not all(map(_is_count, shape)):
        _refuse(f"one where {called} has shape {shown(shape)}", where)
    if math.prod(max(1, each) for each in shape) * DTYPES[dtype].itemsize > _ADDRESSABLE:
        _refuse(f"one where {called} has shape {shown(shape)}, too large for any memory", where)
    if not _is_count(offset) or offset % ALIGNMENT:
        _refuse(f"one where {called} has offset {shown(offset)}", where)
    if not isinstance(digits, str):
        _refuse(f"one where {called} has checksum {shown(digits)}", where)
    entry = ArrayEntry(name, DTYPES[dtype], tuple(shape), start + offset, digits)
    if entry.offset + entry.size > end:
        _refuse(f"one where {called} of {entry.size:,} bytes lies outside the file", where)
    return entry


def _is_count(value: object) -> TypeGuard[int]:
    return type(value) is int and value >= 0  # True is an int, but no count


def _refuse(got: str, where: str) -> NoReturn:
    raise IndexFileError(EXPECTED, got, where)
