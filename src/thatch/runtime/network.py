"""A network of brokers in this process, an asyncio task each."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from thatch.broker.broker import Broker
from thatch.broker.settings import Routing, Timing
from thatch.broker.stimuli import (
    ClientConnected,
    ClientDisconnected,
    LinkDown,
    LinkUp,
    Packet,
    PacketReceived,
    RoutingSwitched,
)
from thatch.errors import ParameterError, shown
from thatch.model.schema import Schema
from thatch.model.topology import Topology
from thatch.model.values import is_id
from thatch.runtime.broker_task import BrokerTask, ClientConnection, LoopState
from thatch.runtime.client import Client
from thatch.runtime.routes import Route, explain_route

__all__ = ["Network"]


class Network:
    """A network of brokers in this process, to be entered with `async with`.

    Parameters
    ----------
    topology : brokers and links; a single broker `b1` if not given
    routing, timing, schema : the same for all brokers

    Examples
    --------
    >>> import asyncio
    >>> async def main():
    ...     async with Network(Topology.line(3)) as network:
    ...         feed = await network.connect("b1", name="feed")
    ...         desk = await network.connect("b3", name="desk-7")
    ...         await feed.advertise("price > 0")
    ...         async with desk.subscribe("price < 150") as events:
    ...             await network.settle()
    ...             await feed.publish({"price": 120})
    ...             return await events.next()
    >>> asyncio.run(main())
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
        self.topology = Topology(("b1",)) if topology is None else topology
        self.routing = Routing() if routing is None else routing
        self.timing = Timing() if timing is None else timing
        self.schema = schema
        self._brokers: dict[str, BrokerTask] = {}
        self._links: set[tuple[str, str]] = set()  # each in both directions
        self._tasks: list[asyncio.Task[None]] = []
        self._group = asyncio.TaskGroup()
        self._state = LoopState()

    async def __aenter__(self) -> Self:
        state = self._state
        state.loop = asyncio.get_running_loop()
        await self._group.__aenter__()
        for name in self.topology.brokers:
            # A topology has no cycles: that is checked when it is made.
            broker = Broker(name, self.routing, self.timing, self.schema, trusts_topology=True)
            self._brokers[name] = BrokerTask(broker, state, self._send, self._close_link)
        for task in self._brokers.values():
            self._tasks.append(self._group.create_task(task.run(), name=f"broker {task.name}"))
        for link in self.topology.links:
            for one, other in (link.ends, link.ends[::-1]):
                self._links.add((one, other))
                self._brokers[one].put(LinkUp(now=state.now(), neighbour=other))
        try:
            await self.settle()
        except BaseException as error:
            await self.__aexit__(type(error), error, error.__traceback__)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._state.loop = None
        for task in self._tasks:
            task.cancel()
        # The group would wrap an error of the caller; but it must see a cancellation, which may be its own.
        is_cancelled = kind is not None and issubclass(kind, asyncio.CancelledError)
        await self._group.__aexit__(*((kind, error, trace) if is_cancelled else (None, None, None)))

    @property
    def brokers(self) -> tuple[str, ...]:
        """The names of all brokers."""
        return self.topology.brokers

    def broker(self, name: str) -> Broker:
        """The core of a broker, to be read only."""
        return self._task(name).broker

    async def connect(self, broker: str, name: str) -> Client:
        """Connect a new client to a broker.

        Raises
        ------
        ParameterError
            If there is no such broker, or the name of the client is taken.
        """
        task = self._task(broker)
        if not is_id(name):
            raise ParameterError("a client's name: text that is not empty and has no NUL", shown(name))
        if name in self._state.client_names:
            raise ParameterError(f"There is a client {shown(name)} already: choose another name")
        self._state.client_names.add(name)
        connection = task.connections[name] = ClientConnection(task, name)
        connected = task.ask(ClientConnected(now=self._state.now(), client=name))
        try:
            await asyncio.shield(connected)
        except BaseException:
            # Whoever asked is gone: the name is free again.
            task.connections.pop(name, None)
            self._state.client_names.discard(name)
            if self._state.loop is not None:
                task.put(ClientDisconnected(now=self._state.now(), client=name, for_good=True))
            raise
        return Client(name, broker, self.schema, connection)

    async def settle(self) -> None:
        """Wait until nothing is under way: every message has arrived wherever it had to go."""
        await self._state.wait_for_capacity(1)

    async def switch(self, routing: Routing) -> None:
        """Let all brokers route in another way from now on."""
        self.routing = routing
        for name in self.brokers:
            await self._task(name).ask(RoutingSwitched(now=self._state.now(), routing=routing))

    def explain_route(self, event: Mapping[str, Any], broker: str) -> Route:
        """Say where an event would go if it were published at a broker now, and why; print the result."""
        self._task(broker)
        return explain_route({name: task.broker for name, task in self._brokers.items()}, event, broker)

    def _send(self, source: str, target: str, packet: Packet) -> None:
        if self._state.loop is not None and (source, target) in self._links:
            now = self._state.now()
            self._brokers[target].put(PacketReceived(now=now, neighbour=source, packet=packet))

    def _close_link(self, one: str, other: str) -> None:
        if (one, other) in self._links:
            self._links -= {(one, other), (other, one)}
            self._brokers[other].put(LinkDown(now=self._state.now(), neighbour=one, for_good=True))

    def _task(self, name: str) -> BrokerTask:
        self._state.running_loop()
        if name not in self._brokers:
            raise ParameterError("the name of a broker", shown(name))
        return self._brokers[name]
