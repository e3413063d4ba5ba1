"""The network in this process for scripts without asyncio: the same, with a loop in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Self, TypeVar

from thatch.broker.settings import Routing, Timing
from thatch.errors import ParameterError
from thatch.model.filters import Filter
from thatch.model.schema import Schema
from thatch.model.topology import Topology
from thatch.runtime.client import Client, Subscription
from thatch.runtime.client.client import WAITING
from thatch.runtime.inprocess import Network
from thatch.runtime.routes import Route

__all__ = ["BlockingClient", "BlockingNetwork", "BlockingSubscription"]

T = TypeVar("T")


class BlockingNetwork:
    """A network of brokers in this process, to be entered with `with`.

    Parameters
    ----------
    topology, routing, timing, schema : as for `thatch.runtime.inprocess.network`

    Examples
    --------
    >>> with BlockingNetwork(Topology.line(3)) as net:
    ...     feed, desk = net.connect("b1", "feed"), net.connect("b3", "desk-7")
    ...     _ = feed.advertise("price > 0")
    ...     events = desk.subscribe("price < 150")
    ...     net.settled()
    ...     _ = feed.publish({"price": 120})
    ...     events.next(timeout=10)
    {'price': 120}
    """

    def __init__(
        self,
        topology: Topology | None = None,
        *,
        routing: Routing | None = None,
        timing: Timing | None = None,
        schema: Schema | None = None,
    ) -> None:
        self._made = (topology, routing, timing, schema)
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._network: Network | None = None
        self._leave: asyncio.Event | None = None
        self._error: BaseException | None = None

    def __enter__(self) -> Self:
        entered = threading.Event()
        self._thread = threading.Thread(
            target=self._live, args=(entered,), name="thatch network", daemon=True
        )
        self._thread.start()
        entered.wait()
        if self._network is None:
            self._end()
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None and self._leave is not None:
            with suppress(RuntimeError):  # the loop has ended by itself, with an error that is told now
                self._loop.call_soon_threadsafe(self._leave.set)
        self._end()

    @property
    def brokers(self) -> tuple[str, ...]:
        """The names of all brokers."""
        return self._entered().brokers

    def connect(self, broker: str, name: str) -> BlockingClient:
        """A new client at a broker."""
        return BlockingClient(self, self.wait(self._entered().connect(broker, name)))

    def settled(self) -> None:
        """Wait until nothing is under way."""
        self.wait(self._entered().settled())

    def switch(self, routing: Routing) -> None:
        """Let all brokers route in another way from now on."""
        self.wait(self._entered().switch(routing))

    def explain_route(self, event: Mapping[str, Any], broker: str) -> Route:
        """Where an event would go if it were published at a broker now, and why; print it."""
        net = self._entered()

        async def explain() -> Route:
            return net.explain_route(event, broker)

        return self.wait(explain())

    def wait(self, doing: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Let the loop do something, and wait for it."""
        if self._loop is None or not self._loop.is_running():
            doing.close()
            raise ParameterError("a network that was entered with `with`, and not left", "one that is not")
        asked: Future[T] = asyncio.run_coroutine_threadsafe(doing, self._loop)
        try:
            return asked.result(timeout)
        except TimeoutError:
            if asked.cancel():
                raise
            return asked.result()  # it came just now

    def _entered(self) -> Network:
        if self._network is None:
            raise ParameterError("a network that was entered with `with`, and not left", "one that is not")
        return self._network

    def _live(self, entered: threading.Event) -> None:
        try:
            asyncio.run(self._main(entered))
        except BaseException as error:  # noqa: BLE001 - told to who entered or leaves
            self._error = error
        finally:
            entered.set()

    async def _main(self, entered: threading.Event) -> None:
        topology, routing, timing, schema = self._made
        async with Network(topology, routing=routing, timing=timing, schema=schema) as net:
            self._loop, self._leave = asyncio.get_running_loop(), asyncio.Event()
            self._network = net
            entered.set()
            await self._leave.wait()

    def _end(self) -> None:
        """Wait for the thread; an error that ended it is raised here."""
        if self._thread is not None:
            self._thread.join()
        self._network = self._loop = self._thread = None
        error, self._error = self._error, None
        if error is not None:
            raise error


class BlockingClient:
    """A client whose calls return when they are done. Made by `BlockingNetwork.connect`."""

    def __init__(self, net: BlockingNetwork, client: Client) -> None:
        self._net = net
        self._client = client

    @property
    def name(self) -> str:
        """How the broker knows it."""
        return self._client.name

    @property
    def broker(self) -> str:
        """Where it is."""
        return self._client.broker

    def subscribe(
        self,
        filter: Filter | str | Mapping[str, Any],
        *,
        subscription: str | None = None,
        expires: float | None = None,
        limit: int = WAITING,
    ) -> BlockingSubscription:
        """Want the events that satisfy a filter; see `Client.subscribe`."""

        async def accepted() -> Subscription:
            return await self._client.subscribe(
                filter, subscription=subscription, expires=expires, limit=limit
            )

        return BlockingSubscription(self._net, self._net.wait(accepted()))

    def publish(self, event: Mapping[str, Any], *, publication: str | None = None) -> str:
        """Publish an event; see `Client.publish`."""
        return self._net.wait(self._client.publish(event, publication=publication))

    def advertise(
        self,
        filter: Filter | str | Mapping[str, Any],
        *,
        advertisement: str | None = None,
        closed: bool = False,
        expires: float | None = None,
    ) -> str:
        """Announce events; see `Client.advertise`."""
        return self._net.wait(
            self._client.advertise(filter, advertisement=advertisement, closed=closed, expires=expires)
        )

    def unadvertise(self, advertisement: str) -> None:
        """Withdraw an advertisement."""
        self._net.wait(self._client.unadvertise(advertisement))

    def close(self) -> None:
        """Leave for good."""
        self._net.wait(self._client.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class BlockingSubscription:
    """Events as they come: `for event in …`, or one by one with `next`. Made by `BlockingClient.subscribe`."""

    def __init__(self, net: BlockingNetwork, subscription: Subscription) -> None:
        self._net = net
        self._subscription = subscription

    @property
    def id(self) -> str:
        """The id of the subscription."""
        return self._subscription.id

    @property
    def filter(self) -> Filter:
        """What is wanted."""
        return self._subscription.filter

    @property
    def dropped(self) -> int:
        """How many events were lost because they were not read in time."""
        return self._subscription.dropped

    @property
    def waiting(self) -> int:
        """How many events can be read without waiting."""
        return self._subscription.waiting

    def next(self, timeout: float | None = None) -> Mapping[str, Any]:
        """The next event.

        Raises
        ------
        TimeoutError
            If none came in so many seconds.
        StopAsyncIteration
            If nothing more will come.
        """
        return self._net.wait(self._subscription.next(), timeout)

    def close(self) -> None:
        """Unsubscribe; what waits can still be read."""
        self._net.wait(self._subscription.close())

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        while True:
            try:
                event = self.next()
            except StopAsyncIteration:
                return
            yield event

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
