"""What an engine knows of its subscriptions besides their filters: ids, subscribers, expiry; by place.

A place is given once. It is the number of the id in its table, and it orders answers. Columns that nobody uses are not
there. Readers may look up names without a lock; everything else belongs to whoever holds the engine's lock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from thatch.engine.texts import TextTable

__all__ = ["NEVER", "Register"]

NEVER = float("inf")
_NOBODY = -1
_SEED = hash("subscriptions")  # Python draws its own seed for every process, which nobody outside can know


class Register:
    """Ids by place and places by id."""

    def __init__(self) -> None:
        self.ids = TextTable(_SEED)
        self._subscribers = TextTable(_SEED)
        self._subscriber: npt.NDArray[np.int32] | None = None
        self._expires: npt.NDArray[np.float64] | None = None
        self._is_alive = np.zeros(64, np.bool_)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def places(self) -> int:
        """How many places were given."""
        return len(self.ids)

    def find(self, identity: str) -> int:
        """The place of an id, -1 if it is not known."""
        return self.ids.find(identity)

    def add(self, identity: str, subscriber: str | None, expires: float) -> int:
        """The place of a new subscription."""
        self._reach(self.places + 1)  # first: a reader may look up every place that there is an id for
        place = self.ids.add(identity)
        self._is_alive[place] = True
        self._count += 1
        if (
            subscriber is not None
            or self._subscriber is not None
            or expires != NEVER
            or self._expires is not None
        ):
            self.change(place, subscriber, expires)
        return place

    def extend(self, identities: Any, subscribers: Sequence[str | None] | None) -> npt.NDArray[np.int64]:
        """Places for many new subscriptions, one after the other; or the rows whose ids are known or come again."""
        first, count = len(self.ids), len(identities)
        self._reach(first + count)
        repeated = self.ids.extend(identities)
        if len(repeated):
            return repeated
        self._is_alive[first : first + count] = True
        self._count += count
        if subscribers is not None:
            for row, subscriber in enumerate(subscribers):
                if subscriber is not None:
                    self.change(first + row, subscriber, NEVER)
        return repeated

    def change(self, place: int, subscriber: str | None, expires: float) -> None:
        """Give a subscription another subscriber and expiry."""
        if subscriber is not None and self._subscriber is None:
            self._subscriber = np.full(len(self._is_alive), _NOBODY, np.int32)
        if expires != NEVER and self._expires is None:
            self._expires = np.full(len(self._is_alive), NEVER)
        if self._subscriber is not None:
            self._subscriber[place] = self._number_of(subscriber)
        if self._expires is not None:
            self._expires[place] = expires

    def _number_of(self, subscriber: str | None) -> int:
        if subscriber is None:
            return _NOBODY
        number = self._subscribers.find(subscriber)
        return number if number >= 0 else self._subscribers.add(subscriber)

    def remove(self, place: int) -> None:
        """Forget a subscription; its place is not given again."""
        self.ids.remove(place)
        self._is_alive[place] = False
        self._count -= 1

    def _reach(self, places: int) -> None:
        """Make the columns long enough."""
        room = len(self._is_alive)
        if places <= room:
            return
        more = max(places, room + (room >> 2), 64) - room
        self._is_alive = np.concatenate([self._is_alive, np.zeros(more, np.bool_)])
        if self._subscriber is not None:
            self._subscriber = np.concatenate([self._subscriber, np.full(more, _NOBODY, np.int32)])
        if self._expires is not None:
            self._expires = np.concatenate([self._expires, np.full(more, NEVER)])

    # --- asking --------------------------------------------------------------------------------------------------

    def taken(self) -> npt.NDArray[np.int64]:
        """All places that are taken, in order."""
        return np.flatnonzero(self._is_alive[: self.places])

    def names(self, places: npt.NDArray[np.int64]) -> list[str]:
        """The ids at these places."""
        return self.ids.names(places)

    def subscribers(self, places: npt.NDArray[np.int64]) -> list[str | None]:
        """The subscribers at these places, None where there is none."""
        if self._subscriber is None or not len(self._subscribers):
            return [None] * len(places)
        numbers = self._subscriber[places]
        known: list[str] = self._subscribers.names(np.maximum(numbers, 0).astype(np.int64))
        return [name if number >= 0 else None for name, number in zip(known, numbers, strict=True)]

    def expiry(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """When the subscriptions at these places expire."""
        return self._expires[places] if self._expires is not None else np.full(len(places), NEVER)

    def id_column(self) -> pa.StringArray:
        """The ids of all places, null where one is no longer taken."""
        texts = self.ids.arrow()
        is_alive = self._is_alive[: len(texts)]
        return texts if len(self) == len(texts) else pc.if_else(pa.array(is_alive), texts, None)

    def subscriber_column(self) -> pa.DictionaryArray:
        """The subscribers of all places, null where there is none."""
        is_nobody = ~self._is_alive[: self.places]
        numbers = np.zeros(self.places, np.int32)
        if self._subscriber is None:
            is_nobody[:] = True
        else:
            numbers[:] = self._subscriber[: self.places]
            is_nobody |= numbers == _NOBODY
        return pa.DictionaryArray.from_arrays(pa.array(numbers, mask=is_nobody), self._subscribers.arrow())

    # --- at rest ---------------------------------------------------------------------------------------------------

    def kept(self, places: npt.NDArray[np.int64]) -> Register:
        """The subscriptions at these places with new places 0, 1, 2, ..."""
        other = Register()
        other.ids = self.ids.kept(places)
        other._subscribers = self._subscribers
        other._is_alive = np.ones(len(places), np.bool_)
        other._count = len(places)
        if self._subscriber is not None:
            used, numbers = np.unique(self._subscriber[places], return_inverse=True)
            is_somebody = used != _NOBODY
            other._subscribers = self._subscribers.kept(used[is_somebody].astype(np.int64))
            other._subscriber = (numbers - (len(used) - is_somebody.sum())).astype(np.int32)
        if self._expires is not None:
            other._expires = self._expires[places]
        return other

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All columns by name."""
        result = {f"ids/{name}": array for name, array in self.ids.arrays().items()}
        result["alive"] = self._is_alive[: self.places]
        if self._subscriber is not None:
            result |= {f"subscribers/{name}": each for name, each in self._subscribers.arrays().items()}
            result["subscriber"] = self._subscriber[: self.places]
        if self._expires is not None:
            result["expires"] = self._expires[: self.places]
        return result

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Register:
        """A register of columns that `arrays` gave."""
        register = cls()
        register.ids = TextTable.from_arrays(_under(arrays, "ids/"))
        register._is_alive = arrays["alive"]
        register._count = int(np.count_nonzero(register._is_alive))
        if "subscriber" in arrays:
            register._subscribers = TextTable.from_arrays(_under(arrays, "subscribers/"))
            register._subscriber = arrays["subscriber"]
        register._expires = arrays.get("expires")
        return register

    def sizes(self) -> dict[str, int]:
        """Bytes by part."""
        columns = (self._is_alive, self._subscriber, self._expires)
        ids, subscribers = self.ids.sizes(), self._subscribers.sizes()
        return {
            "ids": sum(size for part, size in ids.items() if part != "names"),
            "names": ids["names"],
            "subscribers": sum(subscribers.values()),
            "columns": sum(column.nbytes for column in columns if column is not None),
        }


def _under(arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> dict[str, npt.NDArray[Any]]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
