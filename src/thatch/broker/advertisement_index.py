"""The advertisements of one client or neighbour, by index: which events they allow.

A flat event is allowed if an open advertisement matches it: that is found by the index alone. What a closed one matches,
and events with lists, are decided one by one (`overlap.allows`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from thatch.broker.overlap import allows
from thatch.errors import EventError
from thatch.matching.labelled import OWN, LabelledIndex, Reached
from thatch.matching.problem import Event
from thatch.model.filters import Filter
from thatch.model.schema import Schema

__all__ = ["AdvertisementIndex", "AllowedRows", "KnownOffer"]

_OPEN = 0  # the label of open advertisements; closed ones are answered themselves
_SPARE = 1_024  # slots that may be out of use beyond as many as are used
_LOWER = 2**32 - 1
_FLAT = frozenset({str, int, float, bool, type(None)})

Read = Callable[[int], Event]


class KnownOffer(Protocol):
    """An advertisement."""

    @property
    def id(self) -> str:
        """Its name."""

    @property
    def filter(self) -> Filter:
        """What it allows."""

    @property
    def closed(self) -> bool:
        """Whether its events carry only the attributes that it names."""


class AllowedRows(NamedTuple):
    """Which rows of a batch are allowed, and which are no events."""

    rows: list[int]
    refused: dict[int, EventError]


class AdvertisementIndex:
    """The advertisements of one hop."""

    def __init__(self) -> None:
        self._index: LabelledIndex | None = None
        self._by_slot: dict[int, KnownOffer] = {}
        self._slots: dict[str, int] = {}
        self._everything = 0  # how many allow every event
        self._next = 0

    # --- changing ------------------------------------------------------------------------------------------------

    def add(self, advertisement: KnownOffer) -> None:
        """Add an advertisement; its id must be free."""
        if self._index is None or self._next > 2 * len(self._by_slot) + _SPARE:
            self._renew(advertisement.filter.schema)
        assert self._index is not None
        slot, self._next = self._next, self._next + 1
        self._index.add(slot, advertisement.filter, OWN if advertisement.closed else _OPEN)
        self._by_slot[slot] = advertisement
        self._slots[advertisement.id] = slot
        self._everything += _is_everything(advertisement)

    def remove(self, advertisement: KnownOffer) -> None:
        """Remove an advertisement."""
        slot = self._slots.pop(advertisement.id)
        del self._by_slot[slot]
        self._everything -= _is_everything(advertisement)
        if not self._by_slot:
            self._index, self._next = None, 0
        else:
            assert self._index is not None
            self._index.remove(slot)

    def _renew(self, schema: Schema | None) -> None:
        """Make an index without the slots that are no longer used."""
        self._by_slot = dict(enumerate(self._by_slot.values()))
        self._slots = {each.id: slot for slot, each in self._by_slot.items()}
        self._next = len(self._by_slot)
        filters = {slot: each.filter for slot, each in self._by_slot.items()}
        labels = {slot: OWN if each.closed else _OPEN for slot, each in self._by_slot.items()}
        self._index = LabelledIndex(schema)
        self._index.extend(filters, labels)

    # --- asking --------------------------------------------------------------------------------------------------

    def allowed(self, rows: Sequence[bytes], read: Read) -> AllowedRows:
        """The rows of which some advertisement allows every flat event, as `overlap.allows` says it; rows that are no
        events may be among them.
        """
        if self._everything:
            return AllowedRows([*range(len(rows))], {})
        if self._index is None:
            return AllowedRows([], {})
        found = self._index.reached_by_row(rows, read, decide=self._decide)
        allowed = set(found.labels.get(_OPEN, ()))
        for pair in found.slots.tolist():
            row = pair >> 32
            if row not in allowed and allows(
                self._by_slot[pair & _LOWER].filter, read(row).record, closed=True
            ):
                allowed.add(row)
        return AllowedRows(sorted(allowed), found.refused)

    def expected(self, rows: Sequence[bytes], read: Read) -> AllowedRows:
        """The rows of which some advertisement matches some flat event; rows that are no events may be among them.

        The advertisement that allowed an event may have been covered by several others together, each of which holds some
        of its flat events: so this is all that can be asked of what a neighbour sends.
        """
        if self._everything:
            return AllowedRows([*range(len(rows))], {})
        if self._index is None:
            return AllowedRows([], {})
        found = self._index.reached_by_row(rows, read)
        reached = {row for wanted in found.labels.values() for row in wanted}
        reached.update((found.slots >> 32).tolist())
        return AllowedRows(sorted(reached), found.refused)

    def _decide(self, event: Event) -> Reached:
        """Whether an event is allowed that was not read as columns; what is allowed reaches the label of open ones."""
        assert self._index is not None
        if _FLAT.issuperset(map(type, event.plain.values())):
            return self._index.reached_by(event)
        record = event.record
        slots = self._index.match(record)
        is_allowed = any(
            allows(each.filter, record, closed=each.closed)
            for each in (self._by_slot[slot] for slot in slots)
        )
        return Reached([_OPEN] if is_allowed else [], [])


def _is_everything(advertisement: KnownOffer) -> bool:
    """Whether an advertisement is open and has an alternative without any condition."""
    filter = advertisement.filter
    return (
        not advertisement.closed
        and filter.has_conjunctions
        and any(not each.constraints and not each.residuals for each in filter.conjunctions)
    )
