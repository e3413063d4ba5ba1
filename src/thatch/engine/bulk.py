"""Boxes given as arrays of closed bounds, checked, and the engine's parts made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.engine.ids import Ids
from thatch.errors import SubscriptionError, TableError, shown
from thatch.matching.growing import GrowingIndex
from thatch.model.names import key_of
from thatch.model.values import is_text

__all__ = ["BoundsTable"]

_EXACT = 2**53


@dataclass(frozen=True, slots=True)
class BoundsTable:
    """One box per subscription: `offsets` has the sides of each, in order of their attributes."""

    ids: Any
    keys: list[str]
    offsets: npt.NDArray[np.int64]
    attribute: npt.NDArray[np.int32]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    subscribers: list[str | None] | None

    @classmethod
    def of(
        cls,
        subscriptions: Any,
        attributes: Any,
        low: Any,
        high: Any,
        offsets: Any,
        attribute: Any,
        subscribers: Any,
    ) -> BoundsTable:
        """BoundsTable as a caller gives them; see `Engine.from_columns`."""
        keys = _keys(attributes)
        ids = (
            subscriptions
            if isinstance(subscriptions, (pa.Array, pa.ChunkedArray))
            else _listed(subscriptions, "subscriptions")
        )
        lows, highs = _numbers(low, "low"), _numbers(high, "high")
        if lows.shape != highs.shape:
            raise TableError("low and high of the same shape", f"{lows.shape} and {highs.shape}")
        if lows.ndim == 2:
            if offsets is not None or attribute is not None:
                raise TableError("offsets and attribute only with one entry a side", "a matrix of bounds")
            offset_array, numbers, lows, highs = _of_matrix(lows, highs, len(keys))
        else:
            offset_array = _integers(offsets, "offsets")
            numbers = _integers(attribute, "attribute")
        who = None if subscribers is None else _subscribers(subscribers, len(ids))
        bounds = cls(ids, keys, offset_array, numbers.astype(np.int32), lows + 0.0, highs + 0.0, who)
        bounds._check(numbers)
        return bounds

    def _check(self, numbers: npt.NDArray[np.int64]) -> None:
        from thatch.matching.segments.parts import MOST_ATTRIBUTES  # loads the kernels

        offsets, count = self.offsets, len(self.ids)
        if len(offsets) != count + 1:
            raise TableError(
                f"{count + 1:,} offsets for {count:,} subscriptions", f"{len(offsets):,}", "offsets"
            )
        if offsets[0] != 0 or offsets[-1] != len(self.low) or (np.diff(offsets) < 0).any():
            raise TableError(f"offsets that rise from 0 to {len(self.low):,}", "others", "offsets")
        if len(numbers) != len(self.low):
            raise TableError(f"{len(self.low):,} numbers of attributes", f"{len(numbers):,}", "attribute")
        outside = np.flatnonzero((numbers < 0) | (numbers >= len(self.keys)))
        if len(outside):
            raise TableError(
                f"numbers of attributes below {len(self.keys)}",
                str(numbers[outside[0]]),
                f"side {outside[0]}",
            )
        bad = np.flatnonzero(~(self.low <= self.high) | (self.low == np.inf) | (self.high == -np.inf))
        if len(bad):
            side = bad[0]
            row = int(np.searchsorted(offsets, side, side="right")) - 1
            raise SubscriptionError(
                "low <= high, so that some number can match",
                f"{self.low[side]} and {self.high[side]}",
                f"row {row}, attribute {shown(self.keys[numbers[side]])}",
            )
        widest = int(np.diff(offsets).argmax()) if count else 0
        if count and offsets[widest + 1] - offsets[widest] > MOST_ATTRIBUTES:
            raise TableError(f"at most {MOST_ATTRIBUTES:,} attributes a row", "more", f"row {widest}")
        row_of = np.repeat(np.arange(count), np.diff(offsets))
        cell = row_of * len(self.keys) + numbers
        if (np.diff(cell) <= 0).any():  # not in order of the attributes, as most are
            cell = np.sort(cell)
        twice = np.flatnonzero(np.diff(cell) == 0)
        if len(twice):
            raise TableError(
                "each attribute once a row", "one twice", f"row {cell[twice[0]] // len(self.keys)}"
            )

    def build(self, index: GrowingIndex) -> tuple[GrowingIndex, Ids]:
        """Put these subscriptions into an empty index; the index and their ids."""
        from thatch.matching.segments.draft import sides_of_bounds  # loads the kernels

        ids = Ids()
        repeated = ids.extend(self.ids, self.subscribers)
        if len(repeated):
            raise SubscriptionError("each id once", "one again", f"row {repeated[0]}")
        segments = index.grow()
        numbers = np.array([segments.number_of(key) for key in self.keys], np.int32)
        slots = np.arange(len(self.ids), dtype=np.int64)
        if len(slots):
            segments.extend_sides(
                sides_of_bounds(slots, self.offsets, numbers[self.attribute], self.low, self.high)
            )
        return index, ids


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
        raise TableError("an array", f"none: {error}", where) from error


def _listed(values: Any, where: str) -> list[Any]:
    try:
        return list(values)
    except TypeError as error:
        raise TableError("a list", shown(values), where) from error


def _numbers(values: Any, where: str) -> npt.NDArray[np.float64]:
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
            raise TableError("integers that a double equals; others go by subscribe", "another", where)
    return doubles


def _integers(values: Any, where: str) -> npt.NDArray[np.int64]:
    if values is None:
        raise TableError(f"`{where}` with one entry a side", "none", where)
    array = _array(values, where)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise TableError(
            "a one-dimensional array of integers", f"{array.ndim} dimensions of {array.dtype}", where
        )
    return array.astype(np.int64)


def _of_matrix(
    low: npt.NDArray[np.float64], high: npt.NDArray[np.float64], attributes: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The sides of a matrix; NaN in both bounds is no side."""
    if low.shape[1] != attributes:
        raise TableError(f"{attributes} columns, one an attribute", str(low.shape[1]), "low")
    is_side = ~(np.isnan(low) & np.isnan(high))
    offsets = np.zeros(len(low) + 1, np.int64)
    np.cumsum(is_side.sum(axis=1), out=offsets[1:])
    return offsets, np.nonzero(is_side)[1], low[is_side], high[is_side]


def _subscribers(subscribers: Any, count: int) -> list[str | None]:
    names = (
        subscribers.to_pylist()
        if isinstance(subscribers, (pa.Array, pa.ChunkedArray))
        else _listed(subscribers, "subscribers")
    )
    if len(names) != count:
        raise TableError(f"{count:,} subscribers", f"{len(names):,}", "subscribers")
    for name in names:
        if name is not None and (not isinstance(name, str) or not is_text(name)):
            raise SubscriptionError("a text as subscriber", shown(name))
    return names
