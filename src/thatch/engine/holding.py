"""The subscriptions that an engine holds: index and register together, changed by one thread at a time.

Readers look at `state`, the index's view and the register, which a change replaces in one step. While the index is
small it has no view; then, and where something is asked that is not in a view (subscribers, expiry), a reader takes
the lock `changing`, which is only ever held for a moment. Whoever changes holds `writing`; a merge needs it twice, for
a moment each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock, RLock
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.engine.merger import Merger
from thatch.engine.register import Register
from thatch.matching.growing import FEW, GrowingIndex
from thatch.model.events import Record
from thatch.model.filters import Filter

__all__ = ["Holding", "Made", "Places", "Seen"]

_SPARSE = 4  # places taken per subscription that is left, from which on they are numbered anew
_MANY_NAMES = 16_384  # attributes beyond twice those at the last numbering that are worth another

_MANY_EVENTS = 4_096  # in one table, from which on even few subscriptions are worth kernels

Places = npt.NDArray[np.int64]
Made = tuple[str, Filter, str | None, float]  # id, filter, subscriber, expiry


@dataclass(frozen=True, slots=True)
class Seen:
    """The subscriptions at one moment, for a reader who takes long: a view, or a copy of a small index.

    `places` is how many places had been given, `is_kept` tells which of them have not expired, None if nobody asked.
    """

    view: Any
    small: GrowingIndex | None
    register: Register
    places: int
    is_kept: npt.NDArray[np.bool_] | None


class Holding:
    """Subscriptions by id and by place."""

    def __init__(self, index: GrowingIndex, register: Register) -> None:
        self._puts = 0
        self._take_over(index, register)
        self.renew_locks()

    def _take_over(self, index: GrowingIndex, register: Register) -> None:
        self.index, self.register = index, register
        self._attributes = index.segments.attributes if index.segments is not None else 0
        self.state: tuple[Any, Register] = (index.segments and index.segments.view, register)

    def renew_locks(self) -> None:
        """Locks, and who uses them; new ones in a process that was forked, where no other thread lives on."""
        self.writing = RLock()
        self.changing = Lock()
        self.merger = Merger(self.writing, lambda: self.index, self._publish)
        if self.index.segments is not None:
            self.index.segments.abandon()

    def _publish(self) -> None:
        segments = self.index.segments
        self.state = (segments and segments.view, self.register)

    # --- asking --------------------------------------------------------------------------------------------------

    def answer(
        self,
        record: Record,
        when: float | None,
        answer: Callable[[Register, Places], Any],
        *,
        by_place: bool = True,
    ) -> Any:
        """What to say of the places that want an event, but for those expired.

        Parameters
        ----------
        by_place : the answer needs nothing of the register that may change, so that no lock is taken for it
        """
        view, register = self.state
        if view is not None and when is None and by_place:
            return answer(register, view.match(record))
        with self.changing:
            view, register = self.state
            places = view.match(record) if view is not None else np.array(self.index.match(record), np.int64)
            if when is not None:
                places = places[register.expiry(places) > when]
            return answer(register, places)

    def any(self, record: Record) -> bool:
        """Whether some subscription wants an event."""
        view, _ = self.state
        if view is not None:
            return bool(view.any(record))
        with self.changing:
            view, _ = self.state
            return bool(view.any(record) if view is not None else self.index.any(record))

    def seen(self, when: float | None, events: int) -> Seen:
        """The subscriptions as they are now, and which of them have not expired by `when`, for so many events."""
        with self.changing:
            view, register = self.state
            places = register.places  # after the view: a place is given before it is in one
            is_kept = None if when is None else register.expiry(np.arange(places)) > when
            small = self.index.copied() if view is None else None
        if small is not None and places and events >= _MANY_EVENTS:
            return Seen(small.grow({}).view, None, register, places, is_kept)
        return Seen(view, small, register, places, is_kept)

    # --- changing: the caller holds `writing` -----------------------------------------------------------------------

    def put(self, identity: str, filter: Filter, subscriber: str | None, expires: float) -> None:
        """Add a subscription, or put it in place of the one with its id."""
        if self._puts & 255 == 0:
            self._tidy()
        self._puts += 1
        place = self.register.find(identity)
        if self.index.segments is None:
            self._put_small(place, identity, filter, subscriber, expires)
        elif place < 0:
            self.index.add(self.register.add(identity, subscriber, expires), filter)
            self._publish()
        else:
            self.index.replace(place, filter)
            with self.changing:
                self.register.change(place, subscriber, expires)
                self._publish()
        if self.index.segments is not None and self.index.segments.has_work:
            self.merger.poke()
            self.merger.wait_for_room()

    def _put_small(
        self, place: int, identity: str, filter: Filter, subscriber: str | None, expires: float
    ) -> None:
        with self.changing:
            if place < 0:
                self.index.add(self.register.add(identity, subscriber, expires), filter)
            else:
                self.index.replace(place, filter)
                self.register.change(place, subscriber, expires)
            self._publish()

    def put_all(self, many: Iterable[Made], texts: Mapping[str, str]) -> None:
        """Add many subscriptions at once: readers see none or all of them. `texts` are their filters as given, by id."""
        self._tidy()
        filters: dict[int, Filter] = {}
        sources: dict[int, str] = {}
        changed: list[tuple[int, str | None, float]] = []
        for identity, filter, subscriber, expires in many:
            place = self.register.find(identity)
            if place >= 0:
                changed.append((place, subscriber, expires))
            else:
                place = self.register.add(identity, subscriber, expires)
            filters[place] = filter
            sources[place] = texts[identity]
        if not filters:
            return
        removed = [place for place, _, _ in changed]
        index = self.index
        if index.segments is not None:
            index.extend(filters, removed=removed, sources=sources)
        elif len(filters) >= FEW:  # takes long: readers go on with the small one
            index = index.grown(filters, removed=removed, sources=sources)
        with self.changing:
            if index.segments is None:
                index.extend(filters, removed=removed)
            self.index = index
            for place, subscriber, expires in changed:
                self.register.change(place, subscriber, expires)
            self._publish()
        self.merger.poke()

    def drop(self, places: list[int]) -> None:
        """Forget the subscriptions at these places."""
        if self.index.segments is None:
            with self.changing:
                self.index.remove_many(places)
        else:
            self.index.remove_many(places)
            self._publish()
        for place in places:
            self.register.remove(place)
        self.merger.poke()

    def _tidy(self) -> None:
        """Number places and attributes anew when most of them are gone. Rare enough to cost little an insert."""
        register, segments = self.register, self.index.segments
        is_sparse = register.places >= _SPARSE * max(len(register), 1_024)
        has_names = segments is not None and segments.attributes > 2 * self._attributes + _MANY_NAMES
        if is_sparse or has_names:
            self.merger.wait()
            if segments is None or not segments.is_merging:
                self.renumber()

    def renumber(self) -> None:
        """Merge everything, and number what is left anew; nothing may be merging."""
        places = self.register.taken()
        numbers = np.full(self.register.places, -1, np.int64)
        numbers[places] = np.arange(len(places))
        register, index = self.register.kept(places), self.index.renumbered(numbers)
        with self.changing:
            self._take_over(index, register)

    def tally(self, *, on: bool) -> None:
        """Count candidates and matches of every subscription from now on, or stop and forget."""
        index = self.index if self.index.segments is not None else self.index.grown({})
        index.grow({}).tally(on=on)
        with self.changing:
            self.index = index
            self._publish()
