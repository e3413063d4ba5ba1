"""One index of all subscriptions of a broker: which links and which subscriptions of clients want an event.

A link is answered once, however many subscriptions that came over it match: it is the label of their slots. Labels of
clients are negative, so that their subscriptions are answered one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from thatch.broker.hop_numbers import HopNumbers
from thatch.broker.overlap import few_conjunctions
from thatch.errors import EventError
from thatch.matching.labelled import LabelledIndex
from thatch.matching.problem import Event
from thatch.model.events import Record
from thatch.model.filters import Filter
from thatch.model.schema import Schema

__all__ = ["Entry", "Routes", "RoutingIndex", "Wanted", "WantedRows"]

_SPARE = 4_096  # slots that may be out of use beyond as many as are used
_FEW_ROWS = 8  # below this, rows are routed one by one
_LOWER = 2**32 - 1


class Entry(Protocol):
    """A subscription."""

    filter: Filter
    slot: int  # where it is in the index


E = TypeVar("E", bound=Entry)
L = TypeVar("L")
C = TypeVar("C")


class Wanted(NamedTuple, Generic[L, E]):
    """Who wants an event: links, and subscriptions of clients, oldest first."""

    links: list[L]
    subscriptions: list[E]


class WantedRows(NamedTuple, Generic[E]):
    """The rows that a client wants, and for each the subscriptions that want it, oldest first."""

    rows: list[int]
    subscriptions: list[list[E]]


class Routes(NamedTuple, Generic[L, C, E]):
    """Who wants which events of a batch, each given by its row; and which rows are refused."""

    links: dict[L, list[int]]
    clients: dict[C, WantedRows[E]]
    refused: dict[int, EventError]


class RoutingIndex(Generic[L, C, E]):
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
        self._links: HopNumbers[L] = HopNumbers()
        self._clients: HopNumbers[C] = HopNumbers()

    def __len__(self) -> int:
        return len(self.by_slot)

    # --- changing ------------------------------------------------------------------------------------------------

    def add(self, subscription: E, *, link: L | None = None, client: C | None = None) -> None:
        """Add a subscription that came over a link or from a client."""
        if self._next > 2 * len(self.by_slot) + _SPARE:
            self._renew()
        if link is not None:
            label = self._links.take(link)
        else:
            assert client is not None
            label = -1 - self._clients.take(client)
        slot = subscription.slot = self._next
        self._next += 1
        self._index.add(slot, subscription.filter, label)
        self.by_slot[slot] = subscription

    def remove(self, subscription: E) -> None:
        """Remove a subscription."""
        slot, subscription.slot = subscription.slot, -1
        del self.by_slot[slot]
        label = self._index.label(slot)
        if label >= 0:
            self._links.give_back(label)
        else:
            self._clients.give_back(-1 - label)
        if self.by_slot:
            self._index.remove(slot)
        else:
            self._index, self._next = LabelledIndex(self._schema), 0

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
        return Wanted([self._links[label] for label in labels], [self.by_slot[slot] for slot in slots])

    def route(self, rows: Sequence[bytes], event: Callable[[int], Event]) -> Routes[L, C, E]:
        """Who wants which of many events, MessagePack maps.

        Parameters
        ----------
        event : reads one, given by its row; called for rows that kernels cannot decide
        """
        if len(rows) < _FEW_ROWS:
            return self._route_few(len(rows), event)
        labels, pairs, refused = self._index.reached_by_row(rows, event)
        links = {self._links[label]: wanted for label, wanted in labels.items()}
        return Routes(links, self._deliveries(pairs) if len(pairs) else {}, refused)

    def _route_few(self, rows: int, event: Callable[[int], Event]) -> Routes[L, C, E]:
        """The same one by one, which is quicker for a few."""
        routes: Routes[L, C, E] = Routes({}, {}, {})
        for row in range(rows):
            try:
                labels, slots = self._index.reached_by(event(row))
            except EventError as error:
                routes.refused[row] = error
                continue
            for label in labels:
                routes.links.setdefault(self._links[label], []).append(row)
            wanted: dict[int, list[E]] = {}
            for slot in slots:
                wanted.setdefault(self._index.label(slot), []).append(self.by_slot[slot])
            for label, subscriptions in wanted.items():
                deliveries = routes.clients.setdefault(self._clients[-1 - label], WantedRows([], []))
                deliveries.rows.append(row)
                deliveries.subscriptions.append(subscriptions)
        return routes

    def _deliveries(self, pairs: npt.NDArray[np.int64]) -> dict[C, WantedRows[E]]:
        """For each client what it wants: `pairs` of row and slot, by the client of the slot."""
        clients = -1 - self._index.labels(pairs & _LOWER)
        order = np.argsort(clients, kind="stable")
        clients, pairs = clients[order], pairs[order]
        rows = pairs >> 32
        is_first = np.concatenate([[True], clients[1:] != clients[:-1]])
        is_next = is_first | np.concatenate([[True], rows[1:] != rows[:-1]])
        starts = np.flatnonzero(is_next)  # of every row of every client
        subscriptions = list(map(self.by_slot.__getitem__, (pairs & _LOWER).tolist()))
        ends = [*starts.tolist(), len(pairs)]
        wanted = [subscriptions[start:end] for start, end in pairwise(ends)]
        every = rows[starts].tolist()
        cuts = [*np.flatnonzero(is_first[starts]).tolist(), len(starts)]
        found = {}
        for first, last in pairwise(cuts):
            client = self._clients[int(clients[starts[first]])]
            found[client] = WantedRows(every[first:last], wanted[first:last])
        return found

    def match(self, record: Record) -> list[E]:
        """All subscriptions that want an event, of links and of clients, oldest first."""
        return [self.by_slot[slot] for slot in self._index.match(record)]

    def subscriptions_of(self, *, link: L | None = None, client: C | None = None) -> list[E]:
        """The subscriptions that came over a link or from a client."""
        if link is not None:
            label = self._links.find(link)
        else:
            assert client is not None
            number = self._clients.find(client)
            label = None if number is None else -1 - number
        return [each for slot, each in self.by_slot.items() if self._index.label(slot) == label]

    def meeting(self, filter: Filter) -> list[E]:
        """All subscriptions that may want an event that satisfies a filter, and perhaps some more, oldest first."""
        return [self.by_slot[slot] for slot in self._index.meeting(few_conjunctions(filter))]
