"""Count deliveries by subscriber and hour; an event counts once a subscriber, however many subscriptions want it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.pipeline.columns import EVENT, SLOT

__all__ = ["Deliveries"]

_MOST = 1 << 23  # different pairs of event and subscriber that are held at once: 64 MB
_LARGE = 1 << 20  # pairs of subscriber and hour that are held before they go to Spark
_NO_HOUR = np.int64(-(2**31))

Keys = npt.NDArray[np.int64]
Pieces = Callable[[int, int], Iterable[pa.RecordBatch]]


class Deliveries:
    """Counts deliveries to so many `subscribers`; `who` has the number of the subscriber of each slot."""

    def __init__(self, who: npt.NDArray[np.int32], subscribers: int) -> None:
        self._who, self._subscribers = who, max(subscribers, 1)
        self._slice = 256
        self._keys: list[Keys] = []
        self._counts: list[Keys] = []
        self._held = 0

    def add(self, hours: pa.Array, pieces: Pieces) -> None:
        """Count the deliveries of a batch.

        Parameters
        ----------
        hours : of its events; null for an event without a time
        pieces : given a first event and a number of events, returns their matches
        """
        hour = hours.cast(pa.int64()).fill_null(_NO_HOUR).to_numpy(zero_copy_only=False)
        start = 0
        while start < len(hour):
            count = min(self._slice, len(hour) - start)
            keys = self._deliveries(pieces(start, count))
            if keys is None and count > 1:
                self._slice = count // 2
                continue
            if keys is not None:
                self._slice = min(2 * count, 8_192) if len(keys) < _MOST // 4 else self._slice
            else:  # more subscribers want this event than are held at once
                keys = self._deliveries(pieces(start, count), most=self._subscribers)
                assert keys is not None
            self._count(hour[start : start + count], keys)
            start += count

    def _deliveries(self, pieces: Iterable[pa.RecordBatch], most: int = _MOST) -> Keys | None:
        """Each pair of event and subscriber once, as one number; None if there are too many to hold."""
        kept, held = [np.zeros(0, np.int64)], 0
        for piece in pieces:
            events, slots = (piece.column(name).to_numpy() for name in (EVENT, SLOT))
            kept.append(np.unique(events * self._subscribers + self._who[slots]))
            held += len(kept[-1])
            if held > most:
                kept = [np.unique(np.concatenate(kept))]
                held = len(kept[0])
                if held > most:
                    return None
        return np.unique(np.concatenate(kept))

    def _count(self, hour: Keys, keys: Keys) -> None:
        event, who = np.divmod(keys, self._subscribers)
        # One number again, which sorts: the hour in the high bits, the subscriber in the low ones.
        key, count = np.unique(hour[event] * (1 << 32) + who, return_counts=True)
        self._keys.append(key)
        self._counts.append(count)
        self._held += len(key)
        if self._held > _LARGE:
            self._combine()

    def _combine(self) -> None:
        if not self._keys:
            return
        key, inverse = np.unique(np.concatenate(self._keys), return_inverse=True)
        total = np.zeros(len(key), np.int64)
        np.add.at(total, inverse, np.concatenate(self._counts))
        self._keys, self._counts, self._held = [key], [total], len(key)

    @property
    def is_large(self) -> bool:
        """Whether it is time to take the counts."""
        return self._held > _LARGE

    def take(self) -> tuple[pa.Array, pa.Array, pa.Array]:
        """Return subscribers, hours and counts so far, and start anew."""
        self._combine()
        if not self._keys:
            return pa.array([], pa.int64()), pa.array([], pa.int32()), pa.array([], pa.int64())
        (keys,), (counts,) = self._keys, self._counts
        self._keys, self._counts, self._held = [], [], 0
        hour = keys >> 32
        return (
            pa.array(keys & 0xFFFFFFFF),
            pa.array(hour.astype(np.int32), mask=hour == _NO_HOUR),
            pa.array(counts),
        )
