"""What an engine holds: an index of filters and the ids of their subscriptions, changed by one thread at a time.

Readers take `published`, a view of the index and the ids that go with it, which a change replaces in one step; they
never wait. Who subscribes and when that expires is stored once, not per view: whoever reads it holds `changing`, a
lock that is only ever held for a moment. Whoever changes anything holds `writing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock, RLock
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from thatch.engine.details import PLAIN, Detail
from thatch.engine.ids import Ids
from thatch.engine.merger import BackgroundMerger
from thatch.engine.subscriptions import STOPWATCH, CheckedSubscription
from thatch.matching.growing import GrowingIndex
from thatch.matching.problem import IndexView, Slots
from thatch.model.events import Record
from thatch.model.filters import Filter

if TYPE_CHECKING:
    from thatch.matching.necessary import NecessaryIndex
    from thatch.matching.segments import SegmentIndex

__all__ = ["EngineState", "Snapshot"]

_SPARSE = 4  # slots per subscription that is left, from which on they are renumbered
_MANY_NAMES = 16_384  # attributes beyond twice those at the last renumbering that are worth another

Answer = TypeVar("Answer")
_Published = tuple[IndexView, Ids]
_Before = tuple[_Published, GrowingIndex, "NecessaryIndex | SegmentIndex"]  # what a change began with


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The subscriptions at one moment, for a reader who takes long.

    `slots` is how many slots there were; `is_kept` says which of them have not expired, None if none has.
    """

    view: IndexView
    ids: Ids
    slots: int
    is_kept: npt.NDArray[np.bool_] | None


class EngineState:
    """Subscriptions by id and by slot."""

    def __init__(self, index: GrowingIndex, ids: Ids) -> None:
        self._puts = 0
        self._changing_took = 0.0  # seconds
        self.index, self.ids = index, ids
        self._attributes = index.current.attributes
        self._before: _Before | None = None
        self._publish()
        self.renew_locks()

    def _publish(self) -> None:
        self.published: _Published = (self.index.view, self.ids)

    def renew_locks(self) -> None:
        """Make new locks, at the start and in a forked process, where no other thread lives on."""
        self.writing = RLock()
        self.changing = Lock()
        self.merger = BackgroundMerger(self.writing, lambda: self.index, self.change)
        self.index.current.abandon()

    # --- asking --------------------------------------------------------------------------------------------------

    def answer(self, record: Record, when: float, answer: Callable[[Ids, Slots], Answer]) -> Answer:
        """Make an answer from the slots that match an event and have not expired, with subscribers as they are now."""
        with self.changing:
            view, ids = self.published
            slots = view.match(record)
            return answer(ids, slots if when < ids.soonest else slots[ids.expiry(slots) > when])

    def snapshot(self, when: float, events: int) -> Snapshot:
        """The subscriptions as they are now, and which of them have not expired by `when`, for so many events."""
        with self.changing:
            view, ids = self.published
            slots = ids.slots  # after the view: a slot is given before it is in one
            is_kept = None if when < ids.soonest else ids.expiry(np.arange(slots)) > when
        return Snapshot(self.index.view_for(view, events), ids, slots, is_kept)

    # --- changing: the caller holds `writing` -----------------------------------------------------------------------

    def change(self, make: Callable[[], object], finish: Callable[[], object] | None = None) -> None:
        """Change everything or nothing, whatever raises: the one place that holds this rule.

        Readers see what is published, so the change is made when that is replaced, which is the last step. If it does
        not come to that, the index goes back to the view that readers have, and the ids to what they noted.

        Parameters
        ----------
        make : changes what no reader looks at
        finish : changes what readers do look at, if they hold `changing`
        """
        start = STOPWATCH()
        self.repair()
        self.ids.begin()
        self._before = self.published, self.index, self.index.current
        try:
            make()
            if self.index.current.has_work:
                self.merger.poke()  # the merging thread waits for `writing`
            with self.changing:
                if finish is not None:
                    finish()
                self._publish()
        except BaseException:
            self.repair()
            raise
        finally:
            self._changing_took += STOPWATCH() - start

    @property
    def build_ms(self) -> int:
        """How many milliseconds all changes and merges took so far."""
        return round(1_000 * (self._changing_took + self.merger.took))

    def repair(self) -> None:
        """Undo a change that was not published. Should that be interrupted, the next change does it again."""
        if self._before is None or self._before[0] is not self.published:
            return
        published, self.index, current = self._before
        view, self.ids = published
        self.index.revert(current, view)
        self.ids.undo()
        self._before = None

    def put(self, subscription: CheckedSubscription) -> None:
        """Add a subscription, or replace the one with its id."""
        if self._puts & 255 == 0:
            self._tidy()
        self._puts += 1
        self.merger.wait_for_room()
        identity, filter, subscriber, expires, detail = subscription
        slot = self.ids.find(identity)
        if slot >= 0:
            is_indexed = self.ids.detail(slot).parked is None
            self.change(
                lambda: (self.index.current.replace if is_indexed else self.index.add)(slot, filter),
                lambda: self._describe(slot, subscriber, expires, detail),
            )
        elif detail is PLAIN:
            self.change(lambda: self.index.add(self.ids.add(identity, subscriber, expires), filter))
        else:
            self.change(lambda: self._add(subscription))

    def put_all(self, many: Iterable[CheckedSubscription], texts: Mapping[str, str]) -> None:
        """Add many subscriptions at once: readers see none or all. `texts` are their filters as given, by id."""
        self._tidy()
        changed: list[tuple[int, str | None, float, Detail]] = []

        def make() -> None:
            filters: dict[int, Filter] = {}
            sources: dict[int, str] = {}
            for identity, filter, subscriber, expires, detail in many:
                slot = self.ids.find(identity)
                if slot >= 0:
                    changed.append((slot, subscriber, expires, detail))
                else:
                    slot = self.ids.add(identity, subscriber, expires)
                    if detail is not PLAIN:
                        self.ids.describe(slot, detail)
                if detail.parked is None:
                    filters[slot] = filter
                    if identity in texts:
                        sources[slot] = texts[identity]
            removed = self.ids.indexed(each[0] for each in changed)
            if filters or removed:
                self.index.extend(filters, removed=removed, sources=sources)

        def finish() -> None:
            for each in changed:
                self._describe(*each)

        self.change(make, finish)

    def _add(self, subscription: CheckedSubscription) -> None:
        """Add a subscription that has details."""
        slot = self.ids.add(subscription.identity, subscription.subscriber, subscription.expires)
        self.ids.describe(slot, subscription.detail)
        self.index.add(slot, subscription.filter)

    def _describe(self, slot: int, subscriber: str | None, expires: float, detail: Detail) -> None:
        self.ids.change(slot, subscriber, expires)
        self.ids.describe(slot, detail)

    def enable(self, slot: int, filter: Filter) -> None:
        """Match a subscription again that was disabled."""
        detail = self.ids.detail(slot)._replace(parked=None)
        self.change(lambda: self.index.add(slot, filter), lambda: self.ids.describe(slot, detail))

    def disable(self, slot: int) -> None:
        """Take the filter of a subscription out of the index, and keep its text."""
        detail = self.ids.detail(slot)._replace(parked=str(self.index.current.filter(slot)))
        self.change(lambda: self.index.remove(slot), lambda: self.ids.describe(slot, detail))

    def drop(self, slots: list[int]) -> None:
        """Remove the subscriptions at these slots."""
        indexed = self.ids.indexed(slots) if self.ids.details else slots
        self.change(lambda: self.index.remove(*indexed), lambda: self.ids.remove(*slots))

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

        def make() -> None:
            ids, index = self.ids.take(kept), self.index.renumber(new_slot)
            self.index, self.ids = index, ids
            self._attributes = index.current.attributes

        self.change(make)

    def tally(self, *, on: bool) -> None:
        """Count candidates and matches of every subscription from now on, or stop and forget the counts."""
        self.change(lambda: self.index.grow().tally(on=on))
