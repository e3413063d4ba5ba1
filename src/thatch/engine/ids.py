"""What an engine knows of its subscriptions besides their filters, by slot: ids, subscribers and expiry.

A slot is given once. It is the number of the id in its table, and it orders answers. Columns that nobody uses do not
exist. Readers may look up names without a lock; everything else belongs to whoever holds the engine's lock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.engine.texts import TextTable

__all__ = ["NEVER", "Ids", "arrays_under"]

NEVER = float("inf")
_NOBODY = -1
_SEED = hash("subscriptions")  # Python seeds it anew in every process, so nobody outside can know it


class Ids:
    """Ids by slot and slots by id, with subscribers and expiry."""

    def __init__(self) -> None:
        self.texts = TextTable(_SEED)
        self._subscribers = TextTable(_SEED)
        self._subscriber: npt.NDArray[np.int32] | None = None
        self._expires: npt.NDArray[np.float64] | None = None
        self._is_alive = np.zeros(64, np.bool_)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def slots(self) -> int:
        """How many slots were ever given."""
        return len(self.texts)

    def find(self, identity: str) -> int:
        """The slot of an id, -1 if it is unknown."""
        return self.texts.find(identity)

    def add(self, identity: str, subscriber: str | None, expires: float) -> int:
        """Add a subscription; its slot."""
        self._reach(self.slots + 1)  # first: readers may look up every slot that has an id
        slot = self.texts.add(identity)
        self._is_alive[slot] = True
        self._count += 1
        if (
            subscriber is not None
            or self._subscriber is not None
            or expires != NEVER
            or self._expires is not None
        ):
            self.change(slot, subscriber, expires)
        return slot

    def extend(self, identities: Any, subscribers: Sequence[str | None] | None) -> npt.NDArray[np.int64]:
        """Add many subscriptions, in the next slots; or none, and return the rows whose ids are known or repeated."""
        first, count = len(self.texts), len(identities)
        self._reach(first + count)
        repeated = self.texts.extend(identities)
        if len(repeated):
            return repeated
        self._is_alive[first : first + count] = True
        self._count += count
        if subscribers is not None:
            for row, subscriber in enumerate(subscribers):
                if subscriber is not None:
                    self.change(first + row, subscriber, NEVER)
        return repeated

    def change(self, slot: int, subscriber: str | None, expires: float) -> None:
        """Change the subscriber and the expiry of a subscription."""
        if subscriber is not None and self._subscriber is None:
            self._subscriber = np.full(len(self._is_alive), _NOBODY, np.int32)
        if expires != NEVER and self._expires is None:
            self._expires = np.full(len(self._is_alive), NEVER)
        if self._subscriber is not None:
            self._subscriber[slot] = self._number_of(subscriber)
        if self._expires is not None:
            self._expires[slot] = expires

    def _number_of(self, subscriber: str | None) -> int:
        if subscriber is None:
            return _NOBODY
        number = self._subscribers.find(subscriber)
        return number if number >= 0 else self._subscribers.add(subscriber)

    def remove(self, slot: int) -> None:
        """Remove a subscription; its slot is not given again."""
        self.texts.remove(slot)
        self._is_alive[slot] = False
        self._count -= 1

    def _reach(self, slots: int) -> None:
        """Make the columns long enough."""
        room = len(self._is_alive)
        if slots <= room:
            return
        more = max(slots, room + (room >> 2), 64) - room
        self._is_alive = np.concatenate([self._is_alive, np.zeros(more, np.bool_)])
        if self._subscriber is not None:
            self._subscriber = np.concatenate([self._subscriber, np.full(more, _NOBODY, np.int32)])
        if self._expires is not None:
            self._expires = np.concatenate([self._expires, np.full(more, NEVER)])

    # --- asking --------------------------------------------------------------------------------------------------

    def taken(self) -> npt.NDArray[np.int64]:
        """All slots that are taken, in order."""
        return np.flatnonzero(self._is_alive[: self.slots])

    def names(self, slots: npt.NDArray[np.int64]) -> list[str]:
        """The ids at these slots."""
        return self.texts.names(slots)

    def subscribers(self, slots: npt.NDArray[np.int64]) -> list[str | None]:
        """The subscribers at these slots, None where there is none."""
        if self._subscriber is None or not len(self._subscribers):
            return [None] * len(slots)
        numbers = self._subscriber[slots]
        known: list[str] = self._subscribers.names(np.maximum(numbers, 0).astype(np.int64))
        return [name if number >= 0 else None for name, number in zip(known, numbers, strict=True)]

    def expiry(self, slots: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """When the subscriptions at these slots expire."""
        return self._expires[slots] if self._expires is not None else np.full(len(slots), NEVER)

    def id_column(self) -> pa.StringArray:
        """The id of every slot, null where it is no longer taken."""
        texts = self.texts.arrow()
        if len(self) == len(texts):
            return texts
        slots = np.arange(len(texts))
        return texts.take(pa.array(slots, mask=~self._is_alive[: len(texts)]))

    def subscriber_column(self) -> pa.DictionaryArray:
        """The subscriber of every slot, null where there is none."""
        is_nobody = ~self._is_alive[: self.slots]
        numbers = np.zeros(self.slots, np.int32)
        if self._subscriber is None:
            is_nobody[:] = True
        else:
            numbers[:] = self._subscriber[: self.slots]
            is_nobody |= numbers == _NOBODY
        return pa.DictionaryArray.from_arrays(pa.array(numbers, mask=is_nobody), self._subscribers.arrow())

    # --- at rest ---------------------------------------------------------------------------------------------------

    def take(self, slots: npt.NDArray[np.int64]) -> Ids:
        """The subscriptions at these slots with new slots 0, 1, 2, ..."""
        other = Ids()
        other.texts = self.texts.take(slots)
        other._subscribers = self._subscribers
        other._is_alive = np.ones(len(slots), np.bool_)
        other._count = len(slots)
        if self._subscriber is not None:
            used, numbers = np.unique(self._subscriber[slots], return_inverse=True)
            is_somebody = used != _NOBODY
            other._subscribers = self._subscribers.take(used[is_somebody].astype(np.int64))
            other._subscriber = (numbers - (len(used) - is_somebody.sum())).astype(np.int32)
        if self._expires is not None:
            other._expires = self._expires[slots]
        return other

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All columns by name."""
        result = {f"ids/{name}": array for name, array in self.texts.arrays().items()}
        result["alive"] = self._is_alive[: self.slots]
        if self._subscriber is not None:
            result |= {f"subscribers/{name}": each for name, each in self._subscribers.arrays().items()}
            result["subscriber"] = self._subscriber[: self.slots]
        if self._expires is not None:
            result["expires"] = self._expires[: self.slots]
        return result

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Ids:
        """The ids of columns that `arrays` returned."""
        ids = cls()
        ids.texts = TextTable.from_arrays(arrays_under(arrays, "ids/"))
        ids._is_alive = arrays["alive"]
        ids._count = int(np.count_nonzero(ids._is_alive))
        if "subscriber" in arrays:
            ids._subscribers = TextTable.from_arrays(arrays_under(arrays, "subscribers/"))
            ids._subscriber = arrays["subscriber"]
        ids._expires = arrays.get("expires")
        return ids

    def sizes(self) -> dict[str, int]:
        """Bytes by part."""
        columns = (self._is_alive, self._subscriber, self._expires)
        ids, subscribers = self.texts.sizes(), self._subscribers.sizes()
        return {
            "ids": sum(size for part, size in ids.items() if part != "names"),
            "names": ids["names"],
            "subscribers": sum(subscribers.values()),
            "columns": sum(column.nbytes for column in columns if column is not None),
        }


def arrays_under(arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> dict[str, npt.NDArray[Any]]:
    """The arrays whose names have a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
