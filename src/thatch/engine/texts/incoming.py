"""Texts that come in, as Arrow arrays of strings whose buffers can be read and trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from thatch.errors import SubscriptionError, shown

__all__ = ["Span", "Texts", "encoded", "text_chunks", "text_span"]

Texts: TypeAlias = "pa.ChunkedArray | pa.Array | Sequence[str]"
Span: TypeAlias = tuple[NDArray[Any], NDArray[np.uint8]]


def encoded(text: str) -> bytes:
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
