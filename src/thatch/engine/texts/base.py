"""The arrays of a text table, and the arrays of others that become part of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from thatch.errors import IndexFileError, SubscriptionError, shown

__all__ = [
    "Base", "Bytes", "Ints", "Span", "Texts", "buckets_for", "capacity", "check_arrays", "encode", "text_chunks",
    "text_span", "with_room",
]  # fmt: skip

GROWTH = 1.25  # room that is made at once, so that folding copies an array only now and then
FEWEST_BUCKETS = 8  # of an empty table

Bytes: TypeAlias = NDArray[np.uint8]
Ints: TypeAlias = NDArray[np.int32]
Texts: TypeAlias = "pa.ChunkedArray | pa.Array | Sequence[str]"
Span: TypeAlias = tuple[NDArray[Any], NDArray[np.uint8]]


class Base:
    """Folded texts as readers see them: arrays cut to what is used, not writable, never changed but for the buckets."""

    __slots__ = ("blob", "buckets", "content", "count", "offsets")

    def __init__(self, blob: Bytes, offsets: Ints, buckets: Ints) -> None:
        self.blob, self.offsets, self.buckets = _read_only(blob), _read_only(offsets), _read_only(buckets)
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


def buckets_for(texts: int) -> int:
    """How many buckets are at most two thirds full with so many texts."""
    size = FEWEST_BUCKETS
    while 3 * texts > 2 * size:
        size *= 2
    return size


# --- saved arrays -----------------------------------------------------------------------------------------------------


def check_arrays(arrays: Mapping[str, NDArray[Any]]) -> tuple[int, Bytes, Ints, Ints]:
    """The seed, the blob cut to what is used, the offsets and the buckets, if they fit together."""
    seed = _check_array(arrays, "seed", np.uint64)
    blob = _check_array(arrays, "blob", np.uint8)
    offsets = _check_array(arrays, "offsets", np.int32)
    buckets = _check_array(arrays, "buckets", np.int32)
    if len(seed) != 1:
        raise IndexFileError("one seed", f"{len(seed)}", "array `seed`")
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] > len(blob) or (offsets[1:] < offsets[:-1]).any():
        raise IndexFileError(f"Offsets must rise from 0 to at most {len(blob):,}", where="array `offsets`")
    if len(buckets) == 0 or len(buckets) & (len(buckets) - 1):
        raise IndexFileError("a power of two of buckets", f"{len(buckets):,}", "array `buckets`")
    if buckets.min() < -1 or buckets.max() >= len(offsets):
        raise IndexFileError(f"Buckets must be -1 to {len(offsets) - 1:,}", where="array `buckets`")
    return int(seed[0]), blob[: offsets[-1]], offsets, buckets


def _check_array(arrays: Mapping[str, NDArray[Any]], name: str, kind: Any) -> NDArray[Any]:
    where = f"array `{name}`"
    if name not in arrays:
        raise IndexFileError("The table of texts lacks an array", where=where)
    array = arrays[name]
    if array.ndim != 1 or array.dtype != kind:
        got = f"{array.ndim} dimensions of {array.dtype}"
        raise IndexFileError(f"one dimension of {np.dtype(kind)}", got, where)
    # Kernels know plain arrays only; a mapped one is a class of its own.
    return np.require(array, requirements=["C", "A", "E"])


# --- texts that come in ----------------------------------------------------------------------------------------------


def encode(text: str) -> bytes:
    """The UTF-8 of a text; a lone surrogate has none."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise SubscriptionError("Unicode text", shown(text)) from error


def text_chunks(texts: Texts) -> list[pa.Array]:
    """Texts as Arrow arrays of strings, long or short, none of them null."""
    if isinstance(texts, pa.ChunkedArray):
        chunks = texts.chunks
    else:
        chunks = [texts if isinstance(texts, pa.Array) else _as_array(texts)]
    row, result = 0, []
    for chunk in chunks:
        chunk = _plain(chunk)
        if chunk.null_count:
            null = row + chunk.is_null().index(True).as_py()
            raise SubscriptionError("text", "null", f"row {null}")
        row += len(chunk)
        result.append(chunk)
    return [chunk for chunk in result if len(chunk)]


def _as_array(texts: Sequence[str]) -> pa.Array:
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise SubscriptionError("text", shown(text), f"row {row}")
    try:
        return pa.array(list(texts), pa.large_string())
    except UnicodeEncodeError as error:
        raise SubscriptionError("Unicode text", shown(error.object)) from error


def _plain(chunk: pa.Array) -> pa.Array:
    """An array of strings that holds what it seems to: buffers of others are not trusted."""
    try:
        chunk.validate(full=True)
        if pa.types.is_dictionary(chunk.type):
            chunk = chunk.dictionary_decode()
        if pa.types.is_string_view(chunk.type):
            chunk = chunk.cast(pa.large_string())
    except pa.ArrowInvalid as error:
        raise SubscriptionError("Unicode text", str(error)) from error
    if not (pa.types.is_string(chunk.type) or pa.types.is_large_string(chunk.type)):
        raise SubscriptionError("text", f"{chunk.type}")
    return chunk


def text_span(chunk: pa.Array) -> Span:
    """Where each text of an array begins, the end of the last, and the bytes from the first begin to that end."""
    _, offsets, content = chunk.buffers()
    kind = np.int64 if pa.types.is_large_string(chunk.type) else np.int32
    bounds = np.frombuffer(offsets, kind)[chunk.offset : chunk.offset + len(chunk) + 1]
    if content is None or content.size == 0:
        return bounds, np.zeros(0, np.uint8)
    return bounds, np.frombuffer(content, np.uint8)[bounds[0] : bounds[-1]]
