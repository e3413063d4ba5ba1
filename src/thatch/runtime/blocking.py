"""A network for scripts without asyncio: the same network, run by an event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import partial, wraps
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from thatch.broker.settings import Routing, Timing
from thatch.errors import ParameterError
from thatch.model.filters import Filter
from thatch.model.schema import Schema
from thatch.model.topology import Topology
from thatch.runtime.client import QUEUE_LIMIT, Client, Subscription
from thatch.runtime.network import Network
from thatch.runtime.routes import Route

__all__ = ["BlockingClient", "BlockingNetwork", "BlockingSubscription"]

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A", bound=Client | Subscription)
Runner = Callable[[Coroutine[Any, Any, Any], float | None], Any]


class _Blocking(Generic[A]):
    """Something asynchronous whose methods are called from another thread.

    Parameters
    ----------
    run : runs a coroutine on the loop and waits for it, at most for a number of seconds
    asynchronous : what is called
    """

    def __init__(self, run: Runner, asynchronous: A) -> None:
        self._run = run
        self._asynchronous = asynchronous

    def close(self) -> None:
        """End it: a client leaves for good, a subscription unsubscribes."""
        self._run(self._asynchronous.close(), None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _blocking(
    method: Callable[Concatenate[A, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[_Blocking[A], P], T]:
    """The method of the same name that waits for the result."""

    @wraps(method)
    def call(self: _Blocking[A], /, *args: P.args, **kwargs: P.kwargs) -> T:
        result: T = self._run(method(self._asynchronous, *args, **kwargs), None)
        return result

    return call


class BlockingNetwork:
    """A network of brokers in this process, to be entered with `with`; parameters as for `thatch.Network`.

    Examples
    --------
    >>> with BlockingNetwork(Topology.line(3)) as network:
    ...     feed, desk = network.connect("b1", "feed"), network.connect("b3", "desk-7")
    ...     _ = feed.advertise("price > 0")
    ...     events = desk.subscribe("price < 150")
    ...     network.settle()
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
        self._make = partial(Network, topology, routing=routing, timing=timing, schema=schema)
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._network: Network | None = None
        self._leave: asyncio.Event | None = None
        self._error: BaseException | None = None

    def __enter__(self) -> Self:
        entered = threading.Event()
        self._thread = threading.Thread(
            target=self._run_loop, args=(entered,), name="thatch network", daemon=True
        )
        self._thread.start()
        entered.wait()
        if self._network is None:
            self._join()
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None and self._leave is not None:
            with suppress(RuntimeError):  # the loop has ended with an error, which `_join` raises
                self._loop.call_soon_threadsafe(self._leave.set)
        self._join()

    @property
    def brokers(self) -> tuple[str, ...]:
        """The names of all brokers."""
        return self._entered().brokers

    def connect(self, broker: str, name: str) -> BlockingClient:
        """Connect a new client to a broker."""
        return BlockingClient(self._run, self._run(self._entered().connect(broker, name)))

    def settle(self) -> None:
        """Wait until nothing is under way."""
        self._run(self._entered().settle())

    def switch(self, routing: Routing) -> None:
        """Let all brokers route in another way from now on."""
        self._run(self._entered().switch(routing))

    def explain_route(self, event: Mapping[str, Any], broker: str) -> Route:
        """Say where an event would go if it were published at a broker now, and why; print the result."""
        network = self._entered()

        async def explain() -> Route:
            return network.explain_route(event, broker)

        return self._run(explain())

    def _run(self, coroutine: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Run a coroutine on the loop and wait for it."""
        if self._loop is None or not self._loop.is_running():
            coroutine.close()
            raise _not_running()
        asked: Future[T] = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return asked.result(timeout)
        except TimeoutError:
            if asked.cancel():
                raise
            return asked.result()  # it came just now
        except BaseException:  # such as Ctrl-C: nobody waits any more
            asked.cancel()
            raise

    def _entered(self) -> Network:
        if self._network is None:
            raise _not_running()
        return self._network

    def _run_loop(self, entered: threading.Event) -> None:
        try:
            asyncio.run(self._main(entered))
        except BaseException as error:  # noqa: BLE001 - raised in the thread that enters or leaves
            self._error = error
        finally:
            entered.set()

    async def _main(self, entered: threading.Event) -> None:
        async with self._make() as network:
            self._loop, self._leave = asyncio.get_running_loop(), asyncio.Event()
            self._network = network
            entered.set()
            await self._leave.wait()

    def _join(self) -> None:
        """Wait for the thread, and raise the error that ended it."""
        if self._thread is not None:
            self._thread.join()
        self._network = self._loop = self._thread = None
        error, self._error = self._error, None
        if error is not None:
            raise error


class BlockingClient(_Blocking[Client]):
    """A `Client` whose calls return when they are done. Made by `BlockingNetwork.connect`."""

    publish = _blocking(Client.publish)
    publish_all = _blocking(Client.publish_all)
    advertise = _blocking(Client.advertise)
    unadvertise = _blocking(Client.unadvertise)

    def __init__(self, run: Runner, client: Client) -> None:
        super().__init__(run, client)
        self.name = client.name
        self.broker = client.broker

    def subscribe(
        self,
        filter: Filter | str | Mapping[str, Any],
        *,
        subscription: str | None = None,
        expires: float | None = None,
        limit: int = QUEUE_LIMIT,
    ) -> BlockingSubscription:
        """Subscribe to the events that satisfy a filter; see `Client.subscribe`."""

        async def accepted() -> Subscription:
            return await self._asynchronous.subscribe(
                filter, subscription=subscription, expires=expires, limit=limit
            )

        return BlockingSubscription(self._run, self._run(accepted(), None))


class BlockingSubscription(_Blocking[Subscription]):
    """Events as they come: `for event in …`, or one by one with `next`. Made by `BlockingClient.subscribe`."""

    def __init__(self, run: Runner, subscription: Subscription) -> None:
        super().__init__(run, subscription)
        self.id = subscription.id
        self.filter = subscription.filter

    @property
    def dropped(self) -> int:
        """How many events were lost because they were not read in time."""
        return self._asynchronous.dropped

    @property
    def waiting(self) -> int:
        """How many events can be read without waiting."""
        return self._asynchronous.waiting

    def next(self, timeout: float | None = None) -> Mapping[str, Any]:
        """Wait for the next event; `TimeoutError` after `timeout` seconds, `StopAsyncIteration` at the end."""
        handover, subscription = _Handover(), self._asynchronous

        async def take() -> None:
            event = await subscription.next()
            if not handover.give(event):
                subscription.put_back(event)

        try:
            self._run(take(), timeout)
        except TimeoutError:
            event = handover.stop()
            if event is None:
                raise
            return event
        except BaseException:  # such as Ctrl-C, just as an event came: it waits for the next reader
            taken = handover.stop()
            if taken is not None:
                self._put_back(taken)
            raise
        event = handover.stop()
        assert event is not None, "an event, since nothing was raised"
        return event

    def _put_back(self, event: Mapping[str, Any]) -> None:
        async def put_back() -> None:
            self._asynchronous.put_back(event)

        with suppress(ParameterError):  # the network has ended
            self._run(put_back(), None)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        while True:
            try:
                event = self.next()
            except StopAsyncIteration:
                return
            yield event


class _Handover:
    """Hands one event from the loop to a thread that may have stopped waiting for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._event: Mapping[str, Any] | None = None
        self._is_over = False

    def give(self, event: Mapping[str, Any]) -> bool:
        """Hand over an event; False if nobody waits any more."""
        with self._lock:
            if not self._is_over:
                self._event = event
            return not self._is_over

    def stop(self) -> Mapping[str, Any] | None:
        """Stop waiting; returns the event that has come."""
        with self._lock:
            self._is_over = True
            return self._event


def _not_running() -> ParameterError:
    return ParameterError("The network is not running: enter it with `with` first")
