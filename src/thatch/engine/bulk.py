"""Boxes given as arrays of closed bounds, checked, and the engine's parts made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.engine.ids import Ids
from thatch.engine.texts.base import text_chunks
from thatch.errors import SubscriptionError, TableError, shown
from thatch.matching.arrays import starts_of
from thatch.matching.growing import GrowingIndex
from thatch.model.names import key_of
from thatch.model.values import check_id, is_text

__all__ = ["BoundsTable"]

_EXACT = 2**53

Doubles = npt.NDArray[np.float64]
Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BoundsTable:
    """One box per subscription: `offsets` has the sides of each, in order of their attributes."""

    ids: Any
    keys: list[str]
    offsets: Int64s
    attribute: npt.NDArray[np.int32]
    low: Doubles
    high: Doubles
    subscribers: list[str | None] | None

    @classmethod
    def of(
        cls, ids: Any, attributes: Any, low: Any, high: Any, offsets: Any, attribute: Any, subscribers: Any
    ) -> BoundsTable:
        """The bounds as a caller gives them; see `Engine.from_columns`."""
        keys = _keys(attributes)
        if not isinstance(ids, (pa.Array, pa.ChunkedArray)):
            ids = _listed(ids, "subscriptions")
        lows, highs = _numbers(low, "low"), _numbers(high, "high")
        if lows.shape != highs.shape:
            raise TableError("low and high of the same shape", f"{lows.shape} and {highs.shape}")
        if lows.ndim == 2:
            if offsets is not None or attribute is not None:
                raise TableError("Pass no offsets and attribute with a matrix of bounds")
            offset_array, numbers, lows, highs = _of_matrix(lows, highs, len(keys))
        else:
            offset_array = _integers(offsets, "offsets")
            numbers = _integers(attribute, "attribute")
        who = None if subscribers is None else _subscribers(subscribers, len(ids))
        bounds = cls(ids, keys, offset_array, numbers.astype(np.int32), lows + 0.0, highs + 0.0, who)
        bounds._check(numbers)
        return bounds

    def _check(self, numbers: Int64s) -> None:
        from thatch.matching.segments.parts import MOST_ATTRIBUTES  # loads the kernels

        offsets, count = self.offsets, len(self.ids)
        _check_ids(self.ids)
        if len(offsets) != count + 1:
            expected = f"{count + 1:,} offsets for {count:,} subscriptions"
            raise TableError(expected, f"{len(offsets):,}", "offsets")
        if offsets[0] != 0 or offsets[-1] != len(self.low) or (np.diff(offsets) < 0).any():
            raise TableError(f"Offsets must rise from 0 to {len(self.low):,}", where="offsets")
        if len(numbers) != len(self.low):
            raise TableError(f"{len(self.low):,} numbers of attributes", f"{len(numbers):,}", "attribute")
        outside = np.flatnonzero((numbers < 0) | (numbers >= len(self.keys)))
        if len(outside):
            side = outside[0]
            raise TableError(f"an attribute below {len(self.keys)}", str(numbers[side]), f"side {side}")
        bad = np.flatnonzero(~(self.low <= self.high) | (self.low == np.inf) | (self.high == -np.inf))
        if len(bad):
            side = bad[0]
            row = int(np.searchsorted(offsets, side, side="right")) - 1
            where = f"row {row}, attribute {shown(self.keys[numbers[side]])}"
            got = f"{self.low[side]} and {self.high[side]}"
            raise SubscriptionError("low <= high, so that some number can match", got, where)
        widest = int(np.diff(offsets).argmax()) if count else 0
        if count and offsets[widest + 1] - offsets[widest] > MOST_ATTRIBUTES:
            raise TableError(f"More than {MOST_ATTRIBUTES:,} attributes in one row", where=f"row {widest}")
        row_of = np.repeat(np.arange(count), np.diff(offsets))
        cell = row_of * len(self.keys) + numbers
        if (np.diff(cell) <= 0).any():  # not in order of the attributes, as most are
            cell = np.sort(cell)
        twice = np.flatnonzero(np.diff(cell) == 0)
        if len(twice):
            row = cell[twice[0]] // len(self.keys)
            raise TableError("An attribute may occur only once in a row", where=f"row {row}")

    def build(self, index: GrowingIndex) -> tuple[GrowingIndex, Ids]:
        """Put these subscriptions into an empty index; the index and their ids."""
        from thatch.matching.segments.draft import sides_of_bounds  # loads the kernels

        ids = Ids()
        repeated = ids.extend(self.ids, self.subscribers)
        if len(repeated):
            raise SubscriptionError("An id may be given only once", where=f"row {repeated[0]}")
        segments = index.grow()
        numbers = np.array([segments.number_of(key) for key in self.keys], np.int32)
        slots = np.arange(len(self.ids), dtype=np.int64)
        if len(slots):
            attribute = numbers[self.attribute]
            segments.extend_sides(sides_of_bounds(slots, self.offsets, attribute, self.low, self.high))
        return index, ids


def _check_ids(ids: Any) -> None:
    import pyarrow.compute as pc  # which an engine of few subscriptions does not need

    for chunk in text_chunks(ids):
        is_bad = pc.or_(pc.equal(pc.binary_length(chunk), 0), pc.match_substring(chunk, "\0"))
        bad = pc.index(is_bad, pa.scalar(value=True)).as_py()
        if bad >= 0:
            check_id(chunk[bad].as_py())


def _keys(attributes: Any) -> list[str]:
    names = _listed(attributes, "attributes")
    for name in names:
        if not isinstance(name, str) or not is_text(name):
            raise TableError("names of attributes as text", shown(name), "attributes")
    keys = [key_of(name) for name in names]
    if len(set(keys)) < len(keys):
        raise TableError("each attribute once", shown(names), "attributes")
    return keys


def _array(values: Any, where: str) -> npt.NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as error:
        raise TableError(f"Not an array: {error}", where=where) from error


def _listed(values: Any, where: str) -> list[Any]:
    try:
        return list(values)
    except TypeError as error:
        raise TableError("a list", shown(values), where) from error


def _numbers(values: Any, where: str) -> Doubles:
    array = _array(values, where)
    if array.dtype.kind not in "iuf" or array.ndim not in (1, 2):
        raise TableError("an array of numbers", f"{array.ndim} dimensions of {array.dtype}", where)
    doubles = array.astype(np.float64)
    if array.dtype.kind in "iu" and array.size:
        # NumPy compares integers with doubles as doubles; coming back to integers tells.
        largest = float(np.iinfo(array.dtype).max)  # rounded up, where a double does not equal it
        with np.errstate(invalid="ignore"):
            is_rounded = (doubles >= max(largest, _EXACT)) | (doubles.astype(array.dtype) != array)
        if is_rounded.any():
            raise TableError(
                "An integer equals no double: add its subscription with `subscribe`", where=where
            )
    return doubles


def _integers(values: Any, where: str) -> Int64s:
    if values is None:
        raise TableError(f"Pass `{where}`, or a matrix of bounds", where=where)
    array = _array(values, where)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        got = f"{array.ndim} dimensions of {array.dtype}"
        raise TableError("a one-dimensional array of integers", got, where)
    return array.astype(np.int64)


def _of_matrix(low: Doubles, high: Doubles, attributes: int) -> tuple[Int64s, Int64s, Doubles, Doubles]:
    """The sides of a matrix; NaN in both bounds is no side."""
    if low.shape[1] != attributes:
        raise TableError(f"{attributes} columns, one per attribute", str(low.shape[1]), "low")
    is_side = ~(np.isnan(low) & np.isnan(high))
    return starts_of(is_side.sum(axis=1)), np.nonzero(is_side)[1], low[is_side], high[is_side]


def _subscribers(subscribers: Any, count: int) -> list[str | None]:
    is_arrow = isinstance(subscribers, (pa.Array, pa.ChunkedArray))
    names = subscribers.to_pylist() if is_arrow else _listed(subscribers, "subscribers")
    if len(names) != count:
        raise TableError(f"{count:,} subscribers", f"{len(names):,}", "subscribers")
    for name in names:
        if name is not None:
            check_id(name, "subscriber")
    return names
