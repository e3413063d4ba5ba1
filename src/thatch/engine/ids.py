"""What an engine knows of its subscriptions besides their filters, by slot: ids, subscribers and expiry.

A slot is given once. It is the number of the id in its table, and it orders answers. Columns that nobody uses do not
exist. Readers may look up names without a lock; everything else belongs to whoever holds the engine's lock.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.engine.details import PLAIN, Detail, pack_details, unpack_details
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
        self.details: dict[int, Detail] = {}  # of the few that have some
        self.soonest = NEVER  # nothing expires before this
        self._first = 0  # the first slot that the change under way has given
        self._changed: list[_Rows] = []  # rows as they were before it

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
        if slot < self._first:
            self._note([slot])
        if subscriber is not None and self._subscriber is None:
            self._subscriber = np.full(len(self._is_alive), _NOBODY, np.int32)
        if expires != NEVER and self._expires is None:
            self._expires = np.full(len(self._is_alive), NEVER)
        if self._subscriber is not None:
            self._subscriber[slot] = self._number_of(subscriber)
        self.soonest = min(self.soonest, expires)
        if self._expires is not None:
            self._expires[slot] = expires

    def describe(self, slot: int, detail: Detail) -> None:
        """Change the details of a subscription."""
        if slot < self._first:
            self._note([slot])
        if detail != PLAIN:
            self.details[slot] = detail
        else:
            self.details.pop(slot, None)

    def detail(self, slot: int) -> Detail:
        """The details of a subscription."""
        return self.details.get(slot, PLAIN)

    def indexed(self, slots: Iterable[int]) -> list[int]:
        """Those of these slots whose filters are in the index: not of disabled subscriptions."""
        return [slot for slot in slots if self.detail(slot).parked is None]

    def _number_of(self, subscriber: str | None) -> int:
        if subscriber is None:
            return _NOBODY
        number = self._subscribers.find(subscriber)
        return number if number >= 0 else self._subscribers.add(subscriber)

    def remove(self, *slots: int) -> None:
        """Remove subscriptions; their slots are not given again."""
        self._note(slots)
        for slot in slots:
            self.texts.remove(slot)
            self.details.pop(slot, None)
            self._is_alive[slot] = False
            self._count -= 1

    def _reach(self, slots: int) -> None:
        """Make the columns long enough."""
        room = len(self._is_alive)
        if slots <= room:
            return
        more = max(slots, room + (room >> 2), 64)
        if self._subscriber is not None:
            self._subscriber = _longer(self._subscriber, more, _NOBODY)
        if self._expires is not None:
            self._expires = _longer(self._expires, more, NEVER)
        self._is_alive = _longer(self._is_alive, more, value=False)  # last: its length says how long all are

    # --- a change that fails ---------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Remember from now on what `undo` needs."""
        self._first = self.slots
        self._changed = []

    def _note(self, slots: Sequence[int]) -> None:
        """Remember rows before they change."""
        rows = np.array(slots, np.int64)
        alive = self._is_alive[rows]
        who = None if self._subscriber is None else self._subscriber[rows]
        until = None if self._expires is None else self._expires[rows]
        details = {slot: self.detail(slot) for slot in slots} if self.details else {}
        self._changed.append(_Rows(rows, alive, who, until, details))

    def undo(self) -> None:
        """Make everything as it was at `begin`; slots that were given since stay empty. May be called again."""
        self.texts.settle()
        self._subscribers.settle()
        for slot in range(self._first, self.slots):
            self.texts.remove(slot)
            self._is_alive[slot] = False
            self.details.pop(slot, None)
        for rows, alive, who, until, details in reversed(self._changed):
            self._is_alive[rows] = alive
            if self._subscriber is not None:
                self._subscriber[rows] = _NOBODY if who is None else who
            if self._expires is not None:
                self._expires[rows] = NEVER if until is None else until
            for slot in rows[alive].tolist():
                self.texts.restore(slot)
                self.details.pop(slot, None)
            self.details |= {slot: each for slot, each in details.items() if each != PLAIN}
        self._count = int(np.count_nonzero(self._is_alive[: self.slots]))

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

    def look_for_soonest(self) -> None:
        """Work out anew when the first subscription expires, after some are gone."""
        self.soonest = float(self.expiry(self.taken()).min(initial=NEVER))

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
        places = {slot: place for place, slot in enumerate(slots.tolist())} if self.details else {}
        other.details = {places[slot]: each for slot, each in sorted(self.details.items())}
        if self._expires is not None:
            other._expires = self._expires[slots]
            other.look_for_soonest()
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
        return result | pack_details(self.details)

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
        ids.details = unpack_details(arrays)
        ids.look_for_soonest()
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
            "details": sum(map(_size_of, self.details.values())),
        }


class _Rows(NamedTuple):
    """Some rows as they were; None for a column that did not exist."""

    slots: npt.NDArray[np.int64]
    alive: npt.NDArray[np.bool_]
    subscriber: npt.NDArray[np.int32] | None
    expires: npt.NDArray[np.float64] | None
    details: dict[int, Detail]


def _longer(column: npt.NDArray[Any], length: int, value: Any) -> npt.NDArray[Any]:
    return np.concatenate([column, np.full(length - len(column), value, column.dtype)])


def _size_of(detail: Detail) -> int:
    """Bytes of details, with the row that holds them: an estimate."""
    texts = (detail.payload, detail.parked, *detail.tags)
    return 200 + sum(sys.getsizeof(text) for text in texts if text is not None)


def arrays_under(arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> dict[str, npt.NDArray[Any]]:
    """The arrays whose names have a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
