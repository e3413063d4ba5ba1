"""Lists that stand one after the other, and what is equal among them: in arrays, with kernels."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from thatch.compiled.records import Int64s
from thatch.matching.arrays import starts_of
from thatch.matching.segments.columns import Texts
from thatch.matching.segments.rules.kernels.numbering import copy_parts, number_rows

__all__ = ["lists_by", "numbered", "numbered_lists", "parts_of", "taken_lists", "taken_texts"]

# Odd, and not known to who writes filters, as Python's own hashes of texts.
_FACTOR = np.uint64(hash("rows") & (2**64 - 1) | 2**62 | 1)

Kind = TypeVar("Kind", bound=np.generic)


def numbered(
    first: Int64s, second: Int64s | None = None, texts: Texts | None = None
) -> tuple[Int64s, Int64s]:
    """A number for each row, from 0 on as rows first appear, and the first row of each number.

    Rows are equal if both numbers and the text are.
    """
    count = len(first)
    if second is None:
        second = np.zeros(count, np.int64)
    if texts is None:
        starts = ends = np.zeros(count, np.int64)
        content = np.zeros(0, np.uint8)
    else:
        starts, ends, content = texts.offsets[:-1], texts.offsets[1:], texts.blob
    table = np.full(1 << (2 * count + 1).bit_length(), -1, np.int32)
    numbers, rows = np.empty(count, np.int64), np.empty(count, np.int64)
    n_numbers = number_rows(first, second, starts, ends, content, _FACTOR, table, numbers, rows)
    return numbers, rows[:n_numbers]


def numbered_lists(at: Int64s, values: npt.NDArray[Any]) -> tuple[Int64s, Int64s]:
    """The same for lists of numbers, of which each begins where the one before ends."""
    width = values.dtype.itemsize
    content = np.ascontiguousarray(values).view(np.uint8)
    return numbered(np.diff(at), texts=Texts(at * width, content))


def parts_of(source: npt.NDArray[Kind], starts: Int64s, sizes: npt.ArrayLike) -> npt.NDArray[Kind]:
    """Parts of an array, one after the other."""
    width, out_starts = source.dtype.itemsize, starts_of(sizes)
    out = np.empty(int(out_starts[-1]), source.dtype)
    content = np.ascontiguousarray(source).view(np.uint8)
    copy_parts(content, np.asarray(starts, np.int64) * width, out_starts * width, out.view(np.uint8))
    return out


def taken_lists(
    at: Int64s, values: npt.NDArray[Kind], chosen: npt.NDArray[np.integer]
) -> tuple[Int64s, npt.NDArray[Kind]]:
    """The chosen ones of some lists: where each begins, and all of them."""
    sizes = np.diff(at)[chosen]
    return starts_of(sizes), parts_of(values, at[:-1][chosen], sizes)


def taken_texts(texts: Texts, chosen: npt.NDArray[np.integer]) -> Texts:
    """The chosen ones of some texts; without an array of the size of all their bytes."""
    return Texts(*taken_lists(texts.offsets, texts.blob, chosen))


def lists_by(
    owners: npt.NDArray[np.integer], values: npt.NDArray[np.integer], count: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The values of each of so many owners, in order: where they begin, and all of them."""
    order = np.argsort(owners, kind="stable")
    at = starts_of(np.bincount(owners, minlength=count), np.int32)
    return at, values[order].astype(np.int32)
