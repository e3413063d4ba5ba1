"""Types of arrays, and the distinct rows of one."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ArrayLike", "Bools", "Floats", "Ints", "distinct_rows"]

ArrayLike = npt.ArrayLike
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_SEED = 0x9E3779B97F4A7C15  # odd, bits well mixed


def distinct_rows(rows: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    """Number the distinct rows in the order of their first appearance.

    Returns
    -------
    The position at which each distinct row first appears, and for each row the number of the distinct row that it equals.

    Notes
    -----
    Rows are compared by a hash of their bits, which sorts several times as fast as the rows themselves. If two different
    rows share a hash, the rows are sorted after all.
    """
    if len(rows) == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    words = _words(rows)
    hashes = np.zeros(len(words), np.uint64)
    for column in range(words.shape[1]):
        hashes = (hashes ^ words[:, column]) * np.uint64(_SEED)
        hashes ^= hashes >> np.uint64(29)
    _, first, number = np.unique(hashes, return_index=True, return_inverse=True)
    if (words != words[first[number]]).any():
        _, first, number = np.unique(words, axis=0, return_index=True, return_inverse=True)
        number = number.reshape(-1)
    rank = np.empty(len(first), np.int64)
    order = np.argsort(first)
    rank[order] = np.arange(len(first))
    return first[order].astype(np.int64), rank[number]


def _words(rows: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """The rows as 64-bit words; equal numbers have equal words."""
    if rows.dtype == np.uint8:
        padded = np.zeros((len(rows), -(-rows.shape[1] // 8) * 8), np.uint8)
        padded[:, : rows.shape[1]] = rows
        return padded.view(np.uint64)
    if rows.dtype.kind == "f":
        rows = rows + 0.0  # −0.0 equals 0.0
    return np.ascontiguousarray(rows).view(np.uint64).reshape(len(rows), -1)
