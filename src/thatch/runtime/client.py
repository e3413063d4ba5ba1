"""The client of a network: it publishes, advertises, and subscribes to streams of events."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterable, Mapping
from itertools import islice
from typing import Any, NamedTuple, Self

from thatch.broker.event_codec import encode_event
from thatch.broker.event_frames import EventFrame, RefusedEvent, encode_frame, event_id
from thatch.broker.messages import Advertise, Publish, Subscribe, Unadvertise, Unsubscribe
from thatch.errors import (
    EventError,
    ParameterError,
    SubscriptionError,
    ThatchError,
    UnknownSubscriptionError,
    shown,
)
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.schema import Schema
from thatch.model.values import MAX_INTEGER
from thatch.runtime.broker_task import Asked, ClientConnection
from thatch.runtime.event_queue import EventQueue

__all__ = ["FRAME_EVENTS", "QUEUE_LIMIT", "Client", "PublishedEvents", "RefusedPlace", "Subscription"]

QUEUE_LIMIT = 1_000  # events of one subscription that may wait to be read
FRAME_EVENTS = 512  # that are published in one go


class RefusedPlace(NamedTuple):
    """An event that was not published: its place among those given, counted from 0, and why."""

    place: int
    reason: str


class PublishedEvents(NamedTuple):
    """What became of many events: how many were published, and which were refused."""

    published: int
    refused: tuple[RefusedPlace, ...]


class Client:
    """Publishes, advertises and subscribes at one broker. Made by `Network.connect`.

    What the broker refuses is raised: an `EventError` for a publication, a `SubscriptionError` otherwise.

    Parameters
    ----------
    name : how the broker knows it
    broker : where it is
    schema : declared types of attributes, for filters that are given as text
    connection : connects it to the broker
    """

    def __init__(self, name: str, broker: str, schema: Schema | None, connection: ClientConnection) -> None:
        self.name = name
        self.broker = broker
        self._schema = schema
        self._connection = connection
        self._number = 0
        self._published = 0  # the number of the last event

    def subscribe(
        self,
        filter: Filter | str | Mapping[str, Any],
        *,
        subscription: str | None = None,
        expires: float | None = None,
        limit: int = QUEUE_LIMIT,
    ) -> Subscription:
        """Subscribe to the events that satisfy a filter; read them from the subscription that this returns.

        Parameters
        ----------
        filter : text, a JSON pattern or a `thatch.Filter`
        subscription : its id, unique in the network; made up if not given
        expires : when it ends by itself, in seconds since 1970
        limit : how many events may wait to be read; beyond that the oldest are dropped and counted
        """
        self._check_open()
        parsed, queue = self._parse(filter), EventQueue(limit)
        identity = self._new_id() if subscription is None else subscription
        queues = self._connection.queues
        if identity in queues:
            raise SubscriptionError(f"Duplicate id {shown(identity)}")
        accepted = self._connection.submit(Subscribe(subscription=identity, filter=parsed, expires=expires))
        queues[identity] = queue

        def close_if_refused(done: Asked) -> None:
            error = None if done.cancelled() else done.exception()
            if error is not None or done.cancelled():
                if queues.get(identity) is queue:
                    del queues[identity]
                queue.close(error if isinstance(error, ThatchError) else None)

        accepted.add_done_callback(close_if_refused)
        return Subscription(self, self._connection, identity, parsed, queue, accepted)

    async def unsubscribe(self, subscription: str) -> None:
        """End a subscription."""
        queue = self._connection.queues.pop(subscription, None)
        if queue is None:
            if self._connection.is_closed:
                return
            raise UnknownSubscriptionError(subscription)
        queue.close()
        await self._connection.submit(Unsubscribe(subscription, self._new_id()))

    async def publish(self, event: Mapping[str, Any], *, number: int | None = None) -> str:
        """Publish an event; returns its id once the broker here has sent it on.

        Waits while the network is too busy.

        Parameters
        ----------
        number : of this event, above those of all earlier ones; a number that was used before is not published again
        """
        self._check_open()
        self._check_number(number)
        row = encode_event(event)  # the caller may change it from now on
        await self._connection.wait_for_capacity()
        taken = self._take_numbers(1, number)
        about = event_id(self.name, taken)
        for each in await self._submit(EventFrame(self.name, (taken,), (row,))):
            raise EventError(f"The broker refused to publish: {each.reason}", where=about)
        return about

    async def publish_all(
        self, events: Iterable[Mapping[str, Any]], *, first: int | None = None
    ) -> PublishedEvents:
        """Publish many events, some hundreds at a time, in their order; returns once the broker here has sent them on.

        An event that is refused does not hold up the others: the result names it by its place. Waits while the network
        is too busy.

        Parameters
        ----------
        first : the number of the first event, as for `publish`; the others follow
        """
        self._check_open()
        self._check_number(first)
        count, refused, rest = 0, [], iter(events)
        while some := list(islice(rest, FRAME_EVENTS)):
            frame, unreadable = encode_frame(self.name, 0, some)  # the caller may change them from now on
            await self._connection.wait_for_capacity()
            start = self._take_numbers(len(some), None if first is None else first + count)
            numbered = EventFrame(self.name, tuple(start + each for each in frame.numbers), frame.rows)
            answered = await self._submit(numbered) if frame.rows else ()
            found = [(each.number, each.reason) for each in unreadable]
            found += [(each.number - start, each.reason) for each in answered]
            refused += [RefusedPlace(count + place, reason) for place, reason in sorted(found)]
            count += len(some)
        return PublishedEvents(count - len(refused), tuple(refused))

    def _take_numbers(self, count: int, first: int | None) -> int:
        """The first of some numbers; nothing may be awaited until they are sent, or later ones would overtake them."""
        start = self._published + 1 if first is None else first
        self._published = max(self._published, start + count - 1)
        return start

    def _check_number(self, number: int | None) -> None:
        is_number = isinstance(number, int) and not isinstance(number, bool)
        if number is not None and not (is_number and 1 <= number <= MAX_INTEGER):
            raise ParameterError("a whole number from 1 on, of 64 bits", shown(number), "number")

    async def _submit(self, frame: EventFrame) -> tuple[RefusedEvent, ...]:
        """Publish a frame; the events that the broker refused."""
        answer = await self._connection.submit(Publish(frame))
        return () if answer is None else answer.refused

    async def advertise(
        self,
        filter: Filter | str | Mapping[str, Any],
        *,
        advertisement: str | None = None,
        closed: bool = False,
        expires: float | None = None,
    ) -> str:
        """Announce that events which satisfy a filter may be published here; returns the advertisement's id.

        Parameters
        ----------
        closed : whether the events carry only attributes that the filter names
        expires : when it ends by itself, in seconds since 1970
        """
        self._check_open()
        parsed = self._parse(filter)
        identity = self._new_id() if advertisement is None else advertisement
        message = Advertise(advertisement=identity, filter=parsed, closed=closed, expires=expires)
        await self._connection.submit(message)
        return identity

    async def unadvertise(self, advertisement: str) -> None:
        """Withdraw an advertisement."""
        self._check_open()
        await self._connection.submit(Unadvertise(advertisement))

    async def close(self) -> None:
        """Leave for good: all subscriptions and advertisements end."""
        if not self._connection.is_closed:
            await self._connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<Client {self.name!r} at {self.broker!r}>"

    def _check_open(self) -> None:
        if self._connection.is_closed:
            raise ParameterError(f"The client {shown(self.name)} has left: connect a new one")

    def _parse(self, filter: Filter | str | Mapping[str, Any]) -> Filter:
        return filter if isinstance(filter, Filter) else parse(filter, schema=self._schema)

    def _new_id(self) -> str:
        self._number += 1
        return f"{self.name}/{self._number}"


class Subscription:
    """Events that satisfy a filter, as they come. Made by `Client.subscribe`.

    `await` it to know that the broker has accepted it; iterate over it with `async for`, which ends when the
    subscription does. It ends with its `async with`, by `close`, or when nobody refers to it any more.

    What is read belongs to the reader: changing it changes nothing for others.
    """

    def __init__(
        self,
        client: Client,
        connection: ClientConnection,
        subscription: str,
        filter: Filter,
        queue: EventQueue,
        accepted: Asked,
    ) -> None:
        self.id = subscription
        self.filter = filter
        self._client = client
        self._connection = connection
        self._queue = queue
        self._accepted = accepted
        self._is_closed = False

    @property
    def dropped(self) -> int:
        """How many events were lost because they were not read in time."""
        return self._queue.dropped

    @property
    def waiting(self) -> int:
        """How many events can be read without waiting."""
        return len(self._queue)

    async def next(self) -> Mapping[str, Any]:
        """Wait for the next event; raises `StopAsyncIteration` if the subscription has ended."""
        return await self._queue.get()

    def put_back(self, event: Mapping[str, Any]) -> None:
        """Make an event the next one again, for another reader."""
        self._queue.put_back(event)

    async def close(self) -> None:
        """Unsubscribe; events that wait can still be read."""
        if self._is_closed:
            return
        self._is_closed = True
        if (
            self._connection.queues.get(self.id, self._queue) is self._queue
        ):  # else another one has its id now
            await self._client.unsubscribe(self.id)

    def __await__(self) -> Generator[Any, None, Self]:
        yield from asyncio.shield(self._accepted).__await__()
        return self

    async def __aenter__(self) -> Self:
        return await self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Mapping[str, Any]:
        return await self._queue.get()

    def __del__(self) -> None:
        if not getattr(self, "_is_closed", True):
            self._connection.abandon(self.id, self._queue)

    def __repr__(self) -> str:
        return f"<Subscription {self.id!r}: {self.filter}>"
