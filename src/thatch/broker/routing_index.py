"""One index of all subscriptions of a broker: which links and which subscriptions of clients want an event.

A link is answered once, however many subscriptions that came over it match: it is the label of their slots.
"""

from __future__ import annotations

from typing import Generic, NamedTuple, Protocol, TypeVar

from thatch.matching.labelled import OWN, LabelledIndex
from thatch.model.events import Record
from thatch.model.filters import Filter
from thatch.model.schema import Schema

__all__ = ["Entry", "RoutingIndex", "Wanted"]

_SPARE = 4_096  # slots that may be out of use beyond as many as are used


class Entry(Protocol):
    """A subscription."""

    filter: Filter
    slot: int  # where it is in the index


E = TypeVar("E", bound=Entry)
L = TypeVar("L")


class Wanted(NamedTuple, Generic[L, E]):
    """Who wants an event: links, and subscriptions of clients, oldest first."""

    links: list[L]
    subscriptions: list[E]


class RoutingIndex(Generic[L, E]):
    """Subscriptions that came over links, and those of clients.

    Parameters
    ----------
    schema : declared types of attributes
    """

    def __init__(self, schema: Schema | None = None) -> None:
        self.by_slot: dict[int, E] = {}
        self._schema = schema
        self._index = LabelledIndex(schema)
        self._next = 0
        self._label_of: dict[L, int] = {}
        self._links: list[L | None] = []  # by label
        self._sizes: list[int] = []  # how many subscriptions have a label
        self._free: list[int] = []  # labels

    def __len__(self) -> int:
        return len(self.by_slot)

    # --- changing ------------------------------------------------------------------------------------------------

    def add(self, subscription: E, link: L | None) -> None:
        """Add a subscription that came over a link, or from a client if that is None."""
        if self._next > 2 * len(self.by_slot) + _SPARE:
            self._renew()
        slot = subscription.slot = self._next
        self._next += 1
        self._index.add(slot, subscription.filter, self._take_label(link))
        self.by_slot[slot] = subscription

    def remove(self, subscription: E) -> None:
        """Remove a subscription."""
        slot, subscription.slot = subscription.slot, -1
        del self.by_slot[slot]
        label = self._index.label(slot)
        if label != OWN:
            self._drop_label(label)
        if self.by_slot:
            self._index.remove(slot)
        else:
            self._index, self._next = LabelledIndex(self._schema), 0

    def _take_label(self, link: L | None) -> int:
        if link is None:
            return OWN
        label = self._label_of.get(link)
        if label is None:
            if self._free:
                label = self._free.pop()
                self._links[label] = link
            else:
                label = len(self._links)
                self._links.append(link)
                self._sizes.append(0)
            self._label_of[link] = label
        self._sizes[label] += 1
        return label

    def _drop_label(self, label: int) -> None:
        self._sizes[label] -= 1
        if not self._sizes[label]:
            link = self._links[label]
            assert link is not None
            del self._label_of[link]
            self._links[label] = None
            self._free.append(label)

    def _renew(self) -> None:
        """Make an index without the slots that are no longer used."""
        labels = {slot: self._index.label(old) for slot, old in enumerate(self.by_slot)}
        self.by_slot = dict(enumerate(self.by_slot.values()))
        for slot, each in self.by_slot.items():
            each.slot = slot
        self._index, self._next = LabelledIndex(self._schema), len(self.by_slot)
        self._index.extend({slot: each.filter for slot, each in self.by_slot.items()}, labels)

    # --- asking --------------------------------------------------------------------------------------------------

    def wanted_by(self, record: Record) -> Wanted[L, E]:
        """Who wants an event."""
        labels, slots = self._index.reached(record)
        links = [link for label in labels if (link := self._links[label]) is not None]
        return Wanted(links, [self.by_slot[slot] for slot in slots])

    def match(self, record: Record) -> list[E]:
        """All subscriptions that want an event, of links and of clients, oldest first."""
        return [self.by_slot[slot] for slot in self._index.match(record)]

    def subscriptions_of(self, link: L | None) -> list[E]:
        """The subscriptions that came over a link, or those of clients."""
        label = OWN if link is None else self._label_of.get(link)
        return [each for slot, each in self.by_slot.items() if self._index.label(slot) == label]
