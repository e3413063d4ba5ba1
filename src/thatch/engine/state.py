"""What an engine holds: an index of filters and the ids of their subscriptions, changed by one thread at a time.

Readers take `published`, a view of the index and the ids that go with it, which a change replaces in one step; they
never wait. Who subscribes and when that expires is stored once, not per view: whoever reads it holds `changing`, a
lock that is only ever held for a moment. Whoever changes anything holds `writing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock, RLock
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from thatch.engine.ids import Ids
from thatch.engine.merger import BackgroundMerger
from thatch.engine.subscriptions import CheckedSubscription
from thatch.matching.growing import GrowingIndex
from thatch.matching.problem import IndexView, Slots
from thatch.model.events import Record
from thatch.model.filters import Filter

__all__ = ["EngineState", "Snapshot"]

_SPARSE = 4  # slots per subscription that is left, from which on they are renumbered
_MANY_NAMES = 16_384  # attributes beyond twice those at the last renumbering that are worth another

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The subscriptions at one moment, for a reader who takes long.

    `slots` is how many slots there were; `is_kept` says which of them have not expired, None if nobody asked.
    """

    view: IndexView
    ids: Ids
    slots: int
    is_kept: npt.NDArray[np.bool_] | None


class EngineState:
    """Subscriptions by id and by slot."""

    def __init__(self, index: GrowingIndex, ids: Ids) -> None:
        self._puts = 0
        self._take_over(index, ids)
        self.renew_locks()

    def _take_over(self, index: GrowingIndex, ids: Ids) -> None:
        self.index, self.ids = index, ids
        self._attributes = index.current.attributes
        self._publish()

    def _publish(self) -> None:
        self.published: tuple[IndexView, Ids] = (self.index.view, self.ids)

    def renew_locks(self) -> None:
        """Make new locks, at the start and in a forked process, where no other thread lives on."""
        self.writing = RLock()
        self.changing = Lock()
        self.merger = BackgroundMerger(self.writing, lambda: self.index, self._publish)
        self.index.current.abandon()

    # --- asking --------------------------------------------------------------------------------------------------

    def answer(self, record: Record, when: float | None, answer: Callable[[Ids, Slots], Answer]) -> Answer:
        """Make an answer from the slots that match an event and have not expired, with subscribers as they are now."""
        with self.changing:
            view, ids = self.published
            slots = view.match(record)
            return answer(ids, slots if when is None else slots[ids.expiry(slots) > when])

    def snapshot(self, when: float | None, events: int) -> Snapshot:
        """The subscriptions as they are now, and which of them have not expired by `when`, for so many events."""
        with self.changing:
            view, ids = self.published
            slots = ids.slots  # after the view: a slot is given before it is in one
            is_kept = None if when is None else ids.expiry(np.arange(slots)) > when
        return Snapshot(self.index.view_for(view, events), ids, slots, is_kept)

    # --- changing: the caller holds `writing` -----------------------------------------------------------------------

    def put(self, subscription: CheckedSubscription) -> None:
        """Add a subscription, or replace the one with its id."""
        if self._puts & 255 == 0:
            self._tidy()
        self._puts += 1
        identity, filter, subscriber, expires = subscription
        slot = self.ids.find(identity)
        if slot < 0:
            slot = self.ids.add(identity, subscriber, expires)
            try:
                self.index.add(slot, filter)
            except BaseException:
                self.ids.remove(slot)
                raise
            self._publish()
        else:
            self.index.current.replace(slot, filter)
            with self.changing:
                self.ids.change(slot, subscriber, expires)
                self._publish()
        if self.index.current.has_work:
            self.merger.poke()
            self.merger.wait_for_room()

    def put_all(self, many: Iterable[CheckedSubscription], texts: Mapping[str, str]) -> None:
        """Add many subscriptions at once: readers see none or all. `texts` are their filters as given, by id."""
        self._tidy()
        filters: dict[int, Filter] = {}
        sources: dict[int, str] = {}
        added: list[int] = []
        changed: list[tuple[int, str | None, float]] = []
        try:
            for identity, filter, subscriber, expires in many:
                slot = self.ids.find(identity)
                if slot >= 0:
                    changed.append((slot, subscriber, expires))
                else:
                    slot = self.ids.add(identity, subscriber, expires)
                    added.append(slot)
                filters[slot] = filter
                sources[slot] = texts[identity]
            if filters:
                self.index.extend(filters, removed=[slot for slot, _, _ in changed], sources=sources)
        except BaseException:
            for slot in added:
                self.ids.remove(slot)
            raise
        with self.changing:
            for slot, subscriber, expires in changed:
                self.ids.change(slot, subscriber, expires)
            self._publish()
        self.merger.poke()

    def drop(self, slots: list[int]) -> None:
        """Remove the subscriptions at these slots."""
        self.index.remove(*slots)
        self._publish()
        for slot in slots:
            self.ids.remove(slot)
        self.merger.poke()

    def _tidy(self) -> None:
        """Renumber slots and attributes when most of them are gone. Rare enough to cost little per insert."""
        is_sparse = self.ids.slots >= _SPARSE * max(len(self.ids), 1_024)
        if is_sparse or self.index.current.attributes > 2 * self._attributes + _MANY_NAMES:
            self.merger.wait()
            if not self.index.current.is_merging:
                self.renumber()

    def renumber(self) -> None:
        """Merge everything, and number the slots that are left from 0; nothing may be merging."""
        kept = self.ids.taken()
        new_slot = np.full(self.ids.slots, -1, np.int64)
        new_slot[kept] = np.arange(len(kept))
        ids, index = self.ids.take(kept), self.index.renumber(new_slot)
        with self.changing:
            self._take_over(index, ids)

    def tally(self, *, on: bool) -> None:
        """Count candidates and matches of every subscription from now on, or stop and forget the counts."""
        self.index.grow().tally(on=on)
        self._publish()
