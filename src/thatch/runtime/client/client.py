"""Client: somebody at a broker."""

from __future__ import annotations

from asyncio import Future
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Self

from thatch.broker.effects import Deliver
from thatch.broker.messages import Advertise, Publish, Subscribe, Unadvertise, Unsubscribe
from thatch.errors import ParameterError, SubscriptionError, ThatchError, UnknownSubscriptionError, shown
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.runtime.client.connection import Connection
from thatch.runtime.client.stream import Stream
from thatch.runtime.client.subscription import Subscription

__all__ = ["WAITING", "Client"]

WAITING = 1_000  # events that may wait to be read, of one subscription


class Client:
    """Publishes, advertises and subscribes at one broker.

    What the broker refuses is raised: an `EventError` for a publication, else a `SubscriptionError`.

    Parameters
    ----------
    name : how the broker knows it
    broker : where it is
    connection : its way there
    """

    def __init__(self, name: str, broker: str, connection: Connection) -> None:
        self.name = name
        self.broker = broker
        self._connection = connection
        self._streams: dict[str, Stream] = {}
        self._number = 0
        self._is_closed = False

    # --- reading ------------------------------------------------------------------------------------------------

    def subscribe(
        self,
        filter: Filter | str | Mapping[str, Any],
        *,
        subscription: str | None = None,
        expires: float | None = None,
        limit: int = WAITING,
    ) -> Subscription:
        """Want the events that satisfy a filter; read them from what this returns.

        Parameters
        ----------
        filter : text, a JSON pattern or a `thatch.Filter`
        subscription : its id, unique in the network; one is made up if it is not given
        expires : when it ends by itself, in seconds since 1970
        limit : events that may wait to be read; of more, the oldest are dropped and counted
        """
        self._check_open()
        parsed, stream = self._parsed(filter), Stream(limit)
        identity = self._new_id() if subscription is None else subscription
        if identity in self._streams:
            raise SubscriptionError("an id that is free", shown(identity))
        accepted = self._connection.submit(Subscribe(subscription=identity, filter=parsed, expires=expires))
        self._streams[identity] = stream

        def look(done: Future[None]) -> None:
            error = None if done.cancelled() else done.exception()
            if error is not None or done.cancelled():
                self._streams.pop(identity, None)
                stream.close(error if isinstance(error, ThatchError) else None)

        accepted.add_done_callback(look)
        return Subscription(self, identity, parsed, stream, accepted)

    async def unsubscribe(self, subscription: str) -> None:
        """End a subscription."""
        stream = self._streams.pop(subscription, None)
        if stream is None:
            if self._is_closed:
                return
            raise UnknownSubscriptionError(subscription)
        stream.close()
        await self._connection.submit(Unsubscribe(subscription, self._new_id()))

    def forget(self, subscription: str) -> None:
        """End a subscription that nobody holds any more; from any thread."""
        if self._streams.pop(subscription, None) is not None:
            self._connection.forget(subscription)

    def take(self, delivered: Deliver) -> None:
        """An event came for some of the subscriptions."""
        for subscription in delivered.subscriptions:
            stream = self._streams.get(subscription)
            if stream is not None:
                stream.put(delivered.event)

    # --- writing ------------------------------------------------------------------------------------------------

    async def publish(self, event: Mapping[str, Any], *, publication: str | None = None) -> str:
        """Publish an event; returns when the broker here has sent it on its way, with the id of the publication.

        Waits while the network has too much to do.
        """
        self._check_open()
        identity = self._new_id() if publication is None else publication
        await self._connection.room()
        await self._connection.submit(
            Publish(identity, deepcopy(event))
        )  # the caller may change it afterwards
        return identity

    async def advertise(
        self,
        filter: Filter | str | Mapping[str, Any],
        *,
        advertisement: str | None = None,
        closed: bool = False,
        expires: float | None = None,
    ) -> str:
        """Announce that events which satisfy a filter may be published here; the id of the advertisement.

        Parameters
        ----------
        closed : whether they carry no attributes but those that the filter names
        expires : when it ends by itself, in seconds since 1970
        """
        self._check_open()
        parsed = self._parsed(filter)
        identity = self._new_id() if advertisement is None else advertisement
        message = Advertise(advertisement=identity, filter=parsed, closed=closed, expires=expires)
        await self._connection.submit(message)
        return identity

    async def unadvertise(self, advertisement: str) -> None:
        """Withdraw an advertisement."""
        self._check_open()
        await self._connection.submit(Unadvertise(advertisement))

    # --- leaving ------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Leave for good: all subscriptions and advertisements end."""
        if not self._is_closed:
            self.end()
            await self._connection.close()

    def end(self) -> None:
        """Let all streams end; the network is gone, or this client is."""
        self._is_closed = True
        for stream in list(self._streams.values()):  # another thread may forget one meanwhile
            stream.close()
        self._streams.clear()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<Client {self.name!r} at {self.broker!r}>"

    def _check_open(self) -> None:
        if self._is_closed:
            raise ParameterError("a client that is connected", f"{shown(self.name)}, which has left")

    def _parsed(self, filter: Filter | str | Mapping[str, Any]) -> Filter:
        return filter if isinstance(filter, Filter) else parse(filter, schema=self._connection.schema)

    def _new_id(self) -> str:
        self._number += 1
        return f"{self.name}/{self._number}"
