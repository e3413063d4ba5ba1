"""The arrays of a text table: how they are seen, checked, read and made longer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from thatch.errors import IndexFileError

__all__ = ["Base", "Bytes", "Ints", "capacity", "checked_arrays", "slots_for", "with_room"]

GROWTH = 1.25  # room that is made at once, so that folding copies an array only now and then
FEWEST_SLOTS = 8  # of an empty table

Bytes: TypeAlias = NDArray[np.uint8]
Ints: TypeAlias = NDArray[np.int32]


class Base:
    """Folded texts as readers see them: arrays cut to what is used, not writable, never changed but for the slots."""

    __slots__ = ("blob", "content", "count", "offsets", "slots")

    def __init__(self, blob: Bytes, offsets: Ints, slots: Ints) -> None:
        self.blob, self.offsets, self.slots = _read_only(blob), _read_only(offsets), _read_only(slots)
        self.content = self.blob.data
        self.count = len(offsets) - 1

    def texts(self, numbers: NDArray[np.int64]) -> list[str]:
        """The texts of numbers, each from 0 to below `count`."""
        content = self.content
        begins, ends = self.offsets[numbers].tolist(), self.offsets[numbers + 1].tolist()
        try:
            return [str(content[begin:end], "utf-8") for begin, end in zip(begins, ends, strict=True)]
        except UnicodeDecodeError as error:
            raise IndexFileError("UTF-8 text", str(error), "array `blob`") from error

    def text(self, number: int) -> str:
        """The text of a number from 0 to below `count`."""
        begin, end = self.offsets[number : number + 2].tolist()
        try:
            return str(self.content[begin:end], "utf-8")
        except UnicodeDecodeError as error:
            raise IndexFileError("UTF-8 text", str(error), "array `blob`") from error

    def arrow(self) -> pa.StringArray:
        """All texts, without a copy."""
        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.blob)]
        return pa.Array.from_buffers(pa.string(), self.count, buffers)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.setflags(write=False)
    return view


# --- room ------------------------------------------------------------------------------------------------------------


def capacity(old: int, wanted: int) -> int:
    """How long to make an array of `old` entries that needs `wanted`."""
    return max(wanted, int(old * GROWTH))


def with_room(array: NDArray[Any], used: int, wanted: int) -> NDArray[Any]:
    """The array, or a longer copy of what is used if `wanted` entries do not fit or must not be written."""
    if wanted <= len(array) and array.flags.writeable:
        return array
    longer = np.empty(capacity(len(array), wanted), array.dtype)
    longer[:used] = array[:used]
    return longer


def slots_for(texts: int) -> int:
    """How many slots are at most two thirds full with so many texts."""
    size = FEWEST_SLOTS
    while 3 * texts > 2 * size:
        size *= 2
    return size


# --- arrays of others ------------------------------------------------------------------------------------------------


def checked_arrays(arrays: Mapping[str, NDArray[Any]]) -> tuple[int, Bytes, Ints, Ints]:
    """The seed, the blob cut to what is used, the offsets and the slots, if they fit together."""
    seed = _checked(arrays, "seed", np.uint64)
    blob = _checked(arrays, "blob", np.uint8)
    offsets = _checked(arrays, "offsets", np.int32)
    slots = _checked(arrays, "slots", np.int32)
    if len(seed) != 1:
        raise IndexFileError("one seed", f"{len(seed)}", "array `seed`")
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] > len(blob) or (offsets[1:] < offsets[:-1]).any():
        expected = f"offsets that rise from 0 to at most {len(blob):,}"
        raise IndexFileError(expected, "others", "array `offsets`")
    if len(slots) == 0 or len(slots) & (len(slots) - 1):
        raise IndexFileError("a power of two of slots", f"{len(slots):,}", "array `slots`")
    if slots.min() < -1 or slots.max() >= len(offsets):
        raise IndexFileError(f"slots of -1 to {len(offsets) - 1:,}", "others", "array `slots`")
    return int(seed[0]), blob[: offsets[-1]], offsets, slots


def _checked(arrays: Mapping[str, NDArray[Any]], name: str, kind: Any) -> NDArray[Any]:
    where = f"array `{name}`"
    if name not in arrays:
        raise IndexFileError("a table of texts", "one without it", where)
    array = arrays[name]
    if array.ndim != 1 or array.dtype != kind:
        got = f"{array.ndim} dimensions of {array.dtype}"
        raise IndexFileError(f"one dimension of {np.dtype(kind)}", got, where)
    # Kernels know plain arrays only; a mapped one is a class of its own.
    return np.require(array, requirements=["C", "A", "E"])
