"""A container: one file of named NumPy arrays, mapped when it is opened.

    7 bytes    THATCH and a zero
    1 byte     major version, 3 (1 and 2 were other layouts)
    8 bytes    minor version; all numbers are little endian
    8 bytes    length of the directory
    8 bytes    checksum of the 24 bytes before and the directory
    directory  JSON: header (facts of the owner), length (bytes from the first array to the end mark), arrays:
               a list of name, dtype, shape, offset (from the first array's place), checksum (16 hex digits)
    arrays     in C order, each at a multiple of 64 bytes, zeros between them
    8 bytes    end mark: the length of the file

Arrays have one or two dimensions (a single number belongs in the header) and one of the plain little-endian
types: bool, integers of 8 to 64 bits, floats of 32 and 64 bits. `checksums.py` defines the checksum.

A minor version may add keys to the directory and to its entries, which older readers ignore. What a reader
must not ignore makes a new major version, as does every change of what is drawn above: the preamble, the
meaning of a key, the alignment, the types, the checksum, the end mark. So all minor versions of a major
version read each other's files.

Everything is verified before `read` returns, except the zeros between arrays. Mapped arrays show the file
itself: if somebody changes or cuts it in place afterwards, they show that or end the process. Do not: `write`
never does, it puts a new file in the place of the old one, and arrays mapped before keep the old one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thatch.engine.container.checksums import checksum
from thatch.engine.container.directory import (
    ALIGNMENT,
    DTYPES,
    EXPECTED,
    ArrayEntry,
    align,
    decode,
    encode,
    end_mark,
)
from thatch.engine.container.disk import map_file
from thatch.errors import IndexFileError, shown
from thatch.outputs import new_file

__all__ = ["dumps", "loads", "read", "write"]

# From this many bytes on, the checksums are compiled. NumPy verifies this much in some 11 ms; to load Numba
# for it would take 400, and engines of few subscriptions never do.
LARGE = 1 << 24


def write(
    path: Path, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], *, overwrite: bool = False
) -> None:
    """Write a container, whole or not at all.

    Parameters
    ----------
    path : its place
    header : facts of the owner, as JSON has them
    arrays : by name, any text; nobody may change them meanwhile
    overwrite : whether to replace a file that is there

    Raises
    ------
    IndexFileError
        If the header is not JSON, or an array is of another kind.
    OutputError
        If the file may not or cannot be written; see `thatch.outputs`.
    """
    start = _start(header, arrays, str(path))
    with new_file(path, overwrite=overwrite) as file:
        for part in _parts(start, arrays):
            file.write(part)


def read(path: Path, *, writable: bool = False) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays of a container, all verified.

    The arrays are views of a mapping that lives as long as any of them, even if the file is replaced or
    removed.

    Parameters
    ----------
    path : its place
    writable : whether the arrays may be changed; changes never reach the file

    Raises
    ------
    IndexFileError
        If the file is missing, damaged, foreign or of another major version.
    """
    return _verified(map_file(path, writable=writable), str(path))


def dumps(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """What `write` would write, in memory."""
    return b"".join(_parts(_start(header, arrays, ""), arrays))


def loads(content: bytes, *, writable: bool = False) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What `read` would read, from memory; the arrays lie in a copy of the content."""
    room = np.empty(len(content) + ALIGNMENT, np.uint8)
    first = -room.ctypes.data % ALIGNMENT  # arrays are aligned as in a mapping, wherever `content` lies
    room[first : first + len(content)] = np.frombuffer(content, np.uint8)
    room.flags.writeable = writable
    return _verified(room[first : first + len(content)], "")


def _start(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], where: str) -> bytes:
    """Everything before the first array."""
    for name, array in arrays.items():
        _check(name, array, where)
    compiled = sum(each.nbytes for each in arrays.values()) >= LARGE
    entries: list[ArrayEntry] = []
    length = 0
    for name, array in arrays.items():
        digits = f"{checksum(_bytes_of(array), compiled=compiled):016x}"
        entries.append(ArrayEntry(name, array.dtype, array.shape, length, digits))
        length += align(array.nbytes)
    return encode(header, entries, length, where)


def _check(name: str, array: NDArray[Any], where: str) -> None:
    if not isinstance(name, str):
        raise IndexFileError("text as the name of an array", shown(name), where)
    if not isinstance(array, np.ndarray) or array.dtype.str not in DTYPES:
        kind = array.dtype if isinstance(array, np.ndarray) else f"type {type(array).__name__}"
        raise IndexFileError(f"an array of one of {', '.join(DTYPES)}", f"{shown(name)} of {kind}", where)
    if array.ndim not in {1, 2}:
        raise IndexFileError("an array of one or two dimensions", f"{shown(name)} of {array.ndim}", where)


def _parts(start: bytes, arrays: Mapping[str, NDArray[Any]]) -> Iterator[bytes | memoryview]:
    """The content from start to end; an array is copied, by itself, only if it is not contiguous."""
    yield start
    length = len(start)
    for array in arrays.values():
        yield _bytes_of(array).data
        yield bytes(align(array.nbytes) - array.nbytes)
        length += align(array.nbytes)
    yield end_mark(length)


def _bytes_of(array: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _verified(content: NDArray[np.uint8], where: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    header, entries = decode(content, where)
    arrays: dict[str, NDArray[Any]] = {}
    for each in entries:
        part = content[each.offset : each.offset + each.size]
        if f"{checksum(part, compiled=len(content) >= LARGE):016x}" != each.checksum:
            got = f"a damaged one: the checksum of array {shown(each.name)} is wrong"
            raise IndexFileError(EXPECTED, got, where)
        arrays[each.name] = part.view(each.dtype).reshape(each.shape)
    return header, arrays
