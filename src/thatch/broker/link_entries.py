"""What one link forwards: a class that is used twice for each link, for subscriptions and for advertisements.

```
BrokerLink ─┬─ sent_subscriptions:  LinkEntries ─┬─ ForwardingSet    decides which open entries are sent, and merges
            └─ sent_advertisements: LinkEntries  └─ Channel          carries the messages
```

`told` has the entries that the other end knows. All changes are make-before-break: what is new is sent before anything
is withdrawn.

An entry may be closed: an advertisement whose events carry only the attributes that it names. A closed filter holds less
than it says, so it neither covers others nor is covered by others; of equal ones only the first is sent.

A merger is a subscription of this broker itself. The forwarding set numbers its mergers from 1 on every link; in the
network each has a name that is made when it is sent and never used again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from thatch.broker.channel import Channel
from thatch.broker.facts import Facts
from thatch.broker.messages import Advertise, Message, Subscribe, Unadvertise, Unsubscribe
from thatch.broker.settings import Routing
from thatch.broker.step import BrokerStep
from thatch.model.filters import Filter
from thatch.model.schema import Schema
from thatch.reduction.forwarding.forwarding_set import Changes, ForwardingSet, MergerRecord
from thatch.reduction.forwarding.policies import Policy

__all__ = ["ADVERTISEMENTS", "MERGER", "SUBSCRIPTIONS", "EntryKind", "LinkEntries", "LinkEntry", "Offer"]

Offer = TypeVar("Offer", bound=Subscribe | Advertise)  # the message that makes an entry known

MERGER = "merger "  # begins the names of mergers, and no id that a client may give


class LinkEntry(Protocol):
    """A subscription or an advertisement."""

    @property
    def id(self) -> str: ...
    @property
    def filter(self) -> Filter: ...
    @property
    def closed(self) -> bool: ...


class BrokerState(Protocol):
    """What is asked of the broker's `RoutingTables`."""

    name: str
    routing: Routing
    schema: Schema | None
    facts: Facts

    def next_order(self) -> int: ...


class EntryKind(NamedTuple, Generic[Offer]):
    """How subscriptions and advertisements differ on a link."""

    key: str  # under which entries that were sent are persisted
    policy: Callable[[Routing], Policy]
    offer: Callable[[str, Filter, bool], Offer]  # of an id, a filter, and whether it is closed
    withdraw: Callable[[str, str], Message]  # of an id and the request to acknowledge


SUBSCRIPTIONS: EntryKind[Subscribe] = EntryKind(
    "forwarded",
    lambda routing: routing.policy,
    lambda about, filter, _: Subscribe(subscription=about, filter=filter),
    Unsubscribe,
)
ADVERTISEMENTS: EntryKind[Advertise] = EntryKind(
    "announced",
    lambda routing: routing.advertising,
    lambda about, filter, closed: Advertise(advertisement=about, filter=filter, closed=closed),
    lambda about, _: Unadvertise(about),
)


class LinkEntries(Generic[Offer]):
    """The entries of one kind that belong on a link, and which of them its other end was told."""

    __slots__ = ("_channel", "_closed", "_kind", "_names", "_open", "told")

    def __init__(self, kind: EntryKind[Offer], channel: Channel) -> None:
        self._kind = kind
        self._channel = channel
        self.told: dict[str, int] = {}  # ids that the other end knows, numbered in the order of telling
        self._clear()

    def _clear(self) -> None:
        """Drop the sets, since most links are idle."""
        self._open: ForwardingSet | None = None
        self._closed: _ClosedEntries | None = None
        self._names: dict[str, str] | None = None  # of mergers that were told, by their number

    def prepare(self, tables: BrokerState) -> None:
        """Make the forwarding set, if there is none."""
        if self._open is None:
            self._open = ForwardingSet(self._kind.policy(tables.routing), schema=tables.schema)
            self._names = {}

    # --- what is sent ------------------------------------------------------------------------------------------------

    def add(self, tables: BrokerState, step: BrokerStep, entry: LinkEntry) -> None:
        """Add an entry under an id that is free, and send what changes."""
        self.prepare(tables)
        self._send(tables, step, self._put(entry))

    def remove(
        self, tables: BrokerState, step: BrokerStep, about: str, *, acknowledged: bool = False
    ) -> tuple[str, ...]:
        """Remove an entry, if it is here, and send what changes.

        If `acknowledged`, withdrawals of the entry, and of mergers that it was part of, are to be acknowledged; returns
        the requests for that.
        """
        if self._closed is not None and about in self._closed.filters:
            changes = self._closed.remove(about)
        elif self._open is not None and about in self._open:
            changes = self._open.remove(about)
        else:
            return ()
        requests = self._send(tables, step, changes, asked_by=about if acknowledged else None)
        if not len(self):
            self._clear()
        return requests

    def merge_if_due(self, tables: BrokerState, step: BrokerStep, bandwidth: float | None = None) -> None:
        """Tell the set the time and how many events a second the link carries; send the mergers that it makes."""
        if self._open is not None:
            self._send(tables, step, self._open.merge_if_due(step.now, bandwidth))

    def next_merge_check(self, counted_at: float | None) -> float | None:
        """When merging may become due although nothing comes or goes, None for never."""
        return None if self._open is None else self._open.next_merge_check(counted_at)

    def rebuild(self, tables: BrokerState, entries: Sequence[LinkEntry]) -> None:
        """Decide all entries anew, in their order; `catch_up` sends the difference."""
        self._clear()
        if entries or self.told:
            self.prepare(tables)
            assert self._open is not None
            self._open.extend({each.id: each.filter for each in entries if not each.closed})
            self._put_closed(entries)

    def restore(
        self,
        tables: BrokerState,
        entries: Sequence[LinkEntry],
        told: dict[str, int],
        mergers: Mapping[str, MergerRecord],
    ) -> None:
        """Fill this after a restart so that it decides as before: what was told comes first, in that order.

        `told` are the ids that the other end knows; `mergers` are those among them, by name.
        """
        self.told = told
        if entries or told:
            self.prepare(tables)
            assert self._open is not None
            first = sorted(entries, key=lambda entry: (entry.id not in told, told.get(entry.id, 0)))
            open_ones = {each.id: each.filter for each in first if not each.closed}
            self._names = self._open.restore(open_ones, told, mergers)
            self._put_closed(first)

    def catch_up(self, tables: BrokerState, step: BrokerStep) -> None:
        """Send what the other end should know and does not, then withdraw what it knows and should not."""
        active = self.active()
        forward = tuple(each for each in active.items() if each[0] not in self.told)
        self._send(tables, step, Changes(forward, tuple(each for each in self.told if each not in active)))
        if not len(self):
            self._clear()

    def forget(self, step: BrokerStep) -> None:
        """Forget everything: the link is gone."""
        for about in self.told:
            self._persist(step, about, None)
        self.told.clear()
        self._clear()

    def _put(self, entry: LinkEntry) -> Changes:
        if entry.closed:
            if self._closed is None:
                self._closed = _ClosedEntries()
            return self._closed.add(entry.id, entry.filter)
        assert self._open is not None
        return self._open.add(entry.id, entry.filter)

    def _put_closed(self, entries: Sequence[LinkEntry]) -> None:
        for each in entries:
            if each.closed:
                self._put(each)

    def _send(
        self, tables: BrokerState, step: BrokerStep, changes: Changes, asked_by: str | None = None
    ) -> tuple[str, ...]:
        for about, filter in changes.forward:
            closed = self._closed is not None and about in self._closed.filters
            self._channel.send(step, self._kind.offer(self._tell(tables, step, about), filter, closed))
        requests = []
        for about in changes.withdraw:
            name = self._untell(tables, step, about)
            is_asked = asked_by is not None and (about == asked_by or about != name)  # itself, or a merger
            request = self._channel.next_request(tables.name) if is_asked else ""
            self._channel.send(step, self._kind.withdraw(name, request))
            if is_asked:
                requests.append(request)
        return tuple(requests)

    def _tell(self, tables: BrokerState, step: BrokerStep, about: str) -> str:
        """Record that the other end is told an entry; returns its name there."""
        merger = None if self._open is None or about in self else self._open.merger(about)
        if merger is not None:
            assert self._names is not None
            # Named after the message that tells it, whose name is unique.
            name = self._names[about] = MERGER + self._channel.next_request(tables.name)
            message = Subscribe(subscription=name, filter=merger.filter)
            degree = (merger.degree.imperfect, merger.degree.threshold)
            step.persist(("merger", self._channel.neighbour, name), (message, merger.parts, *degree))
            about = name
        self.told[about] = tables.next_order()
        step.persist((self._kind.key, self._channel.neighbour, about), self.told[about])
        tables.facts.append((step.cause, about, "forwarded", self._channel.neighbour))
        return about

    def _untell(self, tables: BrokerState, step: BrokerStep, about: str) -> str:
        """Record that an entry is withdrawn; returns its name at the other end."""
        name = about if self._names is None else self._names.pop(about, about)
        del self.told[name]
        self._persist(step, name, None)
        tables.facts.append((step.cause, name, "withdrawn", self._channel.neighbour))
        return name

    def _persist(self, step: BrokerStep, name: str, value: None) -> None:
        step.persist((self._kind.key, self._channel.neighbour, name), value)
        if name.startswith(MERGER):
            step.persist(("merger", self._channel.neighbour, name), value)

    # --- questions ---------------------------------------------------------------------------------------------------

    def active(self) -> dict[str, Filter]:
        """The entries that the other end must know; a merger that was not told yet under its number."""
        names, found = self._names or {}, {}
        if self._open is not None:
            found = {names.get(about, about): filter for about, filter in self._open.active.items()}
        if self._closed is not None:
            found.update({ids[0]: self._closed.filters[ids[0]] for ids in self._closed.ids.values()})
        return found

    def entries(self) -> list[tuple[str, Filter, bool]]:
        """The same with their ids, and whether each is closed."""
        closed = {} if self._closed is None else self._closed.filters
        return [(about, filter, about in closed) for about, filter in self.active().items()]

    def offers(self) -> list[Offer]:
        """The same as messages."""
        return [self._kind.offer(*each) for each in self.entries()]

    def proof(self, about: str) -> tuple[str, ...] | None:
        """The ids that make an entry redundant, None if they are not known."""
        if self._closed is not None and about in self._closed.filters:
            return (self._closed.equal_to(self._closed.filters[about])[0],)
        assert self._open is not None
        proof, names = self._open.proof(about), self._names or {}
        return None if proof is None else tuple(names.get(each, each) for each in proof)

    def __contains__(self, about: object) -> bool:
        return (self._open is not None and about in self._open) or (
            self._closed is not None and about in self._closed.filters
        )

    def __iter__(self) -> Iterator[str]:
        yield from self._open or ()
        yield from () if self._closed is None else self._closed.filters

    def __len__(self) -> int:
        return len(self._open or ()) + (0 if self._closed is None else len(self._closed.filters))


class _ClosedEntries:
    """Closed filters by id; of equal ones the first is told."""

    __slots__ = ("filters", "ids")

    def __init__(self) -> None:
        # By filter and the attributes that it names besides; of equal ones, the one that was told first.
        self.ids: dict[tuple[Filter, frozenset[str]], list[str]] = {}
        self.filters: dict[str, Filter] = {}

    def add(self, about: str, filter: Filter) -> Changes:
        same = self.equal_to(filter)
        same.append(about)
        self.filters[about] = filter
        return Changes(((about, filter),), ()) if len(same) == 1 else Changes()

    def equal_to(self, filter: Filter) -> list[str]:
        """The ids of equal filters; a list that grows with them."""
        return self.ids.setdefault((filter, filter.also_named), [])

    def remove(self, about: str) -> Changes:
        filter = self.filters.pop(about)
        same = self.equal_to(filter)
        was_first = same[0] == about
        same.remove(about)
        if not same:
            del self.ids[filter, filter.also_named]
        if not was_first:
            return Changes()
        return Changes(((same[0], filter),) if same else (), (about,))
