"""The network: stations, links between their inboxes, and clients."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from thatch.broker.broker import Broker
from thatch.broker.messages import Message, Unsubscribe
from thatch.broker.settings import Routing, Timing
from thatch.broker.stimuli import (
    ClientConnected,
    ClientDisconnected,
    Frame,
    FrameReceived,
    LinkDown,
    LinkUp,
    MessageReceived,
    RoutingSwitched,
    Stimulus,
    TimerFired,
)
from thatch.errors import ParameterError, shown
from thatch.model.schema import Schema
from thatch.model.topology import Topology
from thatch.runtime.client import Client
from thatch.runtime.inprocess.station import Station
from thatch.runtime.routes import Route, explain_route

__all__ = ["Network", "network"]

_MOST_UNDER_WAY = 10_000  # stimuli in all inboxes; beyond that, who publishes waits


def network(
    topology: Topology | None = None,
    *,
    routing: Routing | None = None,
    timing: Timing | None = None,
    schema: Schema | None = None,
) -> Network:
    """A network of brokers in this process, to be entered with `async with`.

    Parameters
    ----------
    topology : brokers and links; a single broker `b1` if not given
    routing, timing, schema : as every broker has them

    Examples
    --------
    >>> import asyncio
    >>> async def main():
    ...     async with network(Topology.line(3)) as net:
    ...         feed = await net.connect("b1", name="feed")
    ...         desk = await net.connect("b3", name="desk-7")
    ...         await feed.advertise("price > 0")
    ...         async with desk.subscribe("price < 150") as events:
    ...             await net.settled()
    ...             await feed.publish({"price": 120})
    ...             return await events.next()
    >>> asyncio.run(main())
    {'price': 120}
    """
    return Network(topology, routing=routing, timing=timing, schema=schema)


class Network:
    """Brokers that run as tasks of the event loop in which this was entered. Made by `network`."""

    def __init__(
        self,
        topology: Topology | None = None,
        *,
        routing: Routing | None = None,
        timing: Timing | None = None,
        schema: Schema | None = None,
    ) -> None:
        self.topology = Topology(("b1",)) if topology is None else topology
        self.routing = Routing() if routing is None else routing
        self.timing = Timing() if timing is None else timing
        self.schema = schema
        self._stations: dict[str, Station] = {}
        self._links: set[tuple[str, str]] = set()  # each in both directions
        self._clients: set[str] = set()
        self._tasks: list[asyncio.Task[None]] = []
        self._group = asyncio.TaskGroup()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._under_way = 0
        self._changed = asyncio.Event()  # less is under way than was
        self._last = 0.0

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        await self._group.__aenter__()
        for name in self.topology.brokers:
            # A topology has been found to be free of cycles when it was made.
            broker = Broker(name, self.routing, self.timing, self.schema, trusts_topology=True)
            self._stations[name] = Station(broker, name, self._send, self._close, self._firing(name))
        for station in self._stations.values():
            task = self._group.create_task(station.run(self._done), name=f"broker {station.name}")
            self._tasks.append(task)
        for link in self.topology.links:
            for one, other in (link.ends, link.ends[::-1]):
                self._links.add((one, other))
                self._put(one, LinkUp(now=self._now(), neighbour=other))
        try:
            await self.settled()
        except BaseException as error:
            await self.__aexit__(type(error), error, error.__traceback__)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop = None
        for task in self._tasks:
            task.cancel()
        # The group would wrap an error of the caller's own; that it may have cancelled the caller it must know.
        is_cancelled = kind is not None and issubclass(kind, asyncio.CancelledError)
        await self._group.__aexit__(*((kind, error, trace) if is_cancelled else (None, None, None)))

    @property
    def brokers(self) -> tuple[str, ...]:
        """The names of all brokers."""
        return self.topology.brokers

    def broker(self, name: str) -> Broker:
        """The core of a broker: to be looked at, not to be told anything."""
        return self._station(name).broker

    async def connect(self, broker: str, name: str) -> Client:
        """A new client at a broker.

        Raises
        ------
        ParameterError
            If there is no such broker, or the name of the client is taken.
        """
        station = self._station(broker)
        if not isinstance(name, str) or not name:
            raise ParameterError("a client's name: text that is not empty", shown(name))
        if name in self._clients:
            raise ParameterError("a client's name that is free", shown(name))
        self._clients.add(name)
        client = station.clients[name] = Client(name, broker, _Connection(self, broker, name))
        await self._ask(broker, ClientConnected(now=self._now(), client=name))
        return client

    async def settled(self) -> None:
        """Wait until nothing is under way: every message has arrived wherever it had to go."""
        while self._under_way:
            await self._less()

    async def switch(self, routing: Routing) -> None:
        """Let all brokers route in another way from now on."""
        self.routing = routing
        for name in self.brokers:
            await self._ask(name, RoutingSwitched(now=self._now(), routing=routing))

    def explain_route(self, event: Mapping[str, Any], broker: str) -> Route:
        """Where an event would go if it were published at a broker now, and why; print it."""
        self._station(broker)
        return explain_route({name: each.broker for name, each in self._stations.items()}, event, broker)

    # --- for connections ----------------------------------------------------------------------------------------

    def hear(self, broker: str, client: str, message: Message) -> asyncio.Future[None]:
        """A client says something to its broker."""
        return self._ask(broker, MessageReceived(now=self._now(), client=client, message=message))

    async def part(self, broker: str, client: str) -> None:
        """A client leaves for good."""
        if self._loop is None:
            return
        await self._ask(broker, ClientDisconnected(now=self._now(), client=client, for_good=True))
        self._stations[broker].clients.pop(client, None)
        self._clients.discard(client)

    async def room(self) -> None:
        """Wait until less is under way than the most."""
        while self._under_way >= _MOST_UNDER_WAY:
            await self._less()

    def forget(self, broker: str, client: str, subscription: str) -> None:
        """End a subscription from any thread; nothing if the network is gone."""
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the loop was closed meanwhile
                loop.call_soon_threadsafe(self._forget, broker, client, subscription)

    # --- inside -------------------------------------------------------------------------------------------------

    def _forget(self, broker: str, client: str, subscription: str) -> None:
        if self._loop is not None:
            told = self.hear(broker, client, Unsubscribe(subscription, f"{subscription}/forgotten"))
            told.add_done_callback(_look)

    def _ask(self, broker: str, stimulus: Stimulus) -> asyncio.Future[None]:
        """Let something happen to a broker; done when it has been handled."""
        handled = self._running().create_future()
        self._put(broker, stimulus, handled)
        return handled

    def _put(self, broker: str, stimulus: Stimulus, handled: asyncio.Future[None] | None = None) -> None:
        self._under_way += 1
        self._stations[broker].put(stimulus, handled)

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            raise ParameterError(
                "a network that was entered with `async with`, and not left", "one that is not"
            )
        return self._loop

    def _send(self, source: str, target: str, frame: Frame) -> None:
        if self._loop is not None and (source, target) in self._links:
            self._put(target, FrameReceived(now=self._now(), neighbour=source, frame=frame))

    def _close(self, one: str, other: str) -> None:
        if (one, other) in self._links:
            self._links -= {(one, other), (other, one)}
            self._put(other, LinkDown(now=self._now(), neighbour=one, for_good=True))

    def _firing(self, broker: str) -> Any:
        def fire(timer: str) -> None:
            if self._loop is not None:
                self._put(broker, TimerFired(now=self._now(), timer=timer))

        return fire

    def _done(self) -> None:
        self._under_way -= 1
        self._changed.set()

    async def _less(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def _now(self) -> float:
        """The time; it never goes back, whatever the clock does."""
        self._last = max(self._last, time.time())
        return self._last

    def _station(self, name: str) -> Station:
        self._running()
        if name not in self._stations:
            raise ParameterError("the name of a broker", shown(name))
        return self._stations[name]


class _Connection:
    """A client's way to its broker in this process."""

    def __init__(self, net: Network, broker: str, client: str) -> None:
        self._network = net
        self._broker = broker
        self._client = client

    @property
    def schema(self) -> Schema | None:
        return self._network.schema

    def submit(self, message: Message) -> asyncio.Future[None]:
        return self._network.hear(self._broker, self._client, message)

    async def room(self) -> None:
        await self._network.room()

    async def close(self) -> None:
        await self._network.part(self._broker, self._client)

    def forget(self, subscription: str) -> None:
        self._network.forget(self._broker, self._client, subscription)


def _look(done: asyncio.Future[None]) -> None:
    """Take note of an error that nobody asks for."""
    if not done.cancelled():
        done.exception()
