"""A broker as an asyncio task, its timers, and the connections of its clients.

Client ── ClientConnection ── BrokerTask ── Broker        one connection a client, one task a broker
                                  └──────── LoopTimers
                     all of them share one LoopState: loop, clock, number of stimuli in flight
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias, assert_never

from thatch.broker.broker import Broker
from thatch.broker.effects import (
    CancelTimer,
    CloseLink,
    Confirm,
    DeadLetter,
    Deliver,
    Effect,
    Ignored,
    NeighbourFailed,
    Persist,
    Published,
    Refuse,
    SendPacket,
    SetTimer,
)
from thatch.broker.messages import Message, Publish, Unsubscribe
from thatch.broker.stimuli import (
    ClientDisconnected,
    MessageReceived,
    Packet,
    PacketReceived,
    Stimulus,
    TimerFired,
)
from thatch.errors import ParameterError, ThatchError
from thatch.runtime.event_queue import EventQueue

__all__ = ["Asked", "BrokerTask", "ClientConnection", "LoopState", "LoopTimers"]

Asked: TypeAlias = "asyncio.Future[Published | None]"  # what a client waits for

_MOST_IN_FLIGHT = 10_000  # stimuli and events in all inboxes; publishers wait while there are more

_log = logging.getLogger(__name__)


class LoopState:
    """What all tasks of one network share: the event loop, the clock, client names, and stimuli in flight."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None  # None unless the network runs
        self.client_names: set[str] = set()
        self._in_flight = 0
        self._one_handled = asyncio.Event()
        self._last = 0.0

    def running_loop(self) -> asyncio.AbstractEventLoop:
        """The event loop of a network that runs."""
        if self.loop is None:
            raise ParameterError("The network is not running: enter it with `async with` (or `with`) first")
        return self.loop

    def now(self) -> float:
        """The time in seconds since 1970; it never goes back, whatever the clock does."""
        self._last = max(self._last, time.time())
        return self._last

    def count_sent(self, stimulus: Stimulus) -> None:
        """Count a stimulus that entered an inbox."""
        self._in_flight += _weight(stimulus)

    def count_handled(self, stimulus: Stimulus) -> None:
        """Count a stimulus that a broker has handled."""
        self._in_flight -= _weight(stimulus)
        self._one_handled.set()

    async def wait_for_capacity(self, most: int | None = None) -> None:
        """Wait until fewer stimuli and events than `most` are in flight, if given, else until publishers may go on."""
        while self._in_flight >= (_MOST_IN_FLIGHT if most is None else most):
            self._one_handled.clear()
            await self._one_handled.wait()


class LoopTimers:
    """The timers of one broker on the event loop: at most one pending call for each, however often it is reset.

    When a timer is set for later, its pending call stays: it finds that it is too early and waits again. So a resend
    timer, which is set and cancelled at every message, costs two dictionary entries.
    """

    def __init__(self, fire: Callable[[str], None]) -> None:
        self._fire = fire
        self._due: dict[str, float] = {}
        self._calls: dict[str, tuple[float, asyncio.TimerHandle]] = {}

    def set(self, name: str, at: float) -> None:
        """Fire at a time, in seconds since 1970."""
        self._due[name] = at
        call = self._calls.get(name)
        if call is not None and call[0] <= at:
            return
        if call is not None:
            call[1].cancel()
        self._schedule(name, at)

    def cancel(self, name: str) -> None:
        """Do not fire."""
        self._due.pop(name, None)

    def clear(self) -> None:
        """Cancel all timers."""
        for _, handle in self._calls.values():
            handle.cancel()
        self._calls.clear()
        self._due.clear()

    def _schedule(self, name: str, at: float) -> None:
        delay = max(0.0, at - time.time())
        handle = asyncio.get_running_loop().call_later(delay, self._on_call, name)
        self._calls[name] = (at, handle)

    def _on_call(self, name: str) -> None:
        del self._calls[name]
        at = self._due.get(name)
        if at is None:
            return
        if at > time.time():
            self._schedule(name, at)
            return
        del self._due[name]
        self._fire(name)


class BrokerTask:
    """Runs one broker: handles what comes into its inbox, one stimulus after the other.

    Nothing is written to disk: a broker in this process ends with it.

    Parameters
    ----------
    state : what the tasks of the network share
    send : puts a packet from this broker into a neighbour's inbox
    close_link : ends the link to a neighbour
    """

    def __init__(
        self,
        broker: Broker,
        state: LoopState,
        send: Callable[[str, str, Packet], None],
        close_link: Callable[[str, str], None],
    ) -> None:
        self.broker = broker
        self.name = broker.name
        self.state = state
        self.connections: dict[str, ClientConnection] = {}
        self._send = send
        self._close_link = close_link
        self._timers = LoopTimers(self._fire)
        self._inbox: asyncio.Queue[tuple[Stimulus, Asked | None]] = asyncio.Queue()

    def put(self, stimulus: Stimulus, handled: Asked | None = None) -> None:
        """Hand a stimulus to the broker; `handled` is resolved once it is done."""
        self.state.count_sent(stimulus)
        self._inbox.put_nowait((stimulus, handled))

    def ask(self, stimulus: Stimulus) -> Asked:
        """Hand a stimulus to the broker; the future raises what the broker refuses, or has its answer to events."""
        handled = self.state.running_loop().create_future()
        self.put(stimulus, handled)
        return handled

    async def run(self) -> None:
        """Handle stimuli until cancelled."""
        try:
            while True:
                stimulus, handled = await self._inbox.get()
                try:
                    answer = self._step(stimulus)
                except BaseException:
                    _cancel(handled)
                    raise
                _resolve(handled, answer)
                self.state.count_handled(stimulus)
                await asyncio.sleep(0)  # let other tasks run even when the inbox is full
        finally:
            self._timers.clear()
            for connection in self.connections.values():
                connection.end()
            while not self._inbox.empty():
                _cancel(self._inbox.get_nowait()[1])

    def _step(self, stimulus: Stimulus) -> ThatchError | Published | None:
        """Handle one stimulus; returns what the client is told that sent it: an error, or what became of its events."""
        answer: ThatchError | Published | None = None
        for effect in self.broker.handle(stimulus):
            if isinstance(effect, Refuse) and isinstance(stimulus, MessageReceived):
                answer = effect.error_for(stimulus.message) or answer
            elif isinstance(effect, Published):
                answer = effect
            self._do(effect)
        return answer

    def _do(self, effect: Effect) -> None:
        match effect:
            case SendPacket():
                self._send(self.name, effect.neighbour, effect.packet)
            case Deliver():
                connection = self.connections.get(effect.client)
                if connection is not None:
                    connection.deliver(effect)
            case SetTimer():
                self._timers.set(effect.timer, effect.at)
            case CancelTimer():
                self._timers.cancel(effect.timer)
            case Ignored():
                _log.info(
                    "ignored broker=%s sender=%s count=%s reason=%s",
                    self.name,
                    effect.sender,
                    effect.count,
                    effect.reason,
                )
            case Refuse():
                _log.info("refused broker=%s client=%s reason=%s", self.name, effect.client, effect.reason)
            case DeadLetter():
                _log.warning(
                    "dead broker=%s client=%s events=%s reason=%s",
                    self.name,
                    effect.client,
                    len(effect.frame),
                    effect.reason,
                )
            case NeighbourFailed():
                _log.warning("failed broker=%s neighbour=%s", self.name, effect.neighbour)
            case CloseLink():
                _log.warning(
                    "closed broker=%s neighbour=%s reason=%s", self.name, effect.neighbour, effect.reason
                )
                self._close_link(self.name, effect.neighbour)
            case Persist() | Confirm() | Published():
                pass
            case _:
                assert_never(effect)

    def _fire(self, timer: str) -> None:
        if self.state.loop is not None:
            self.put(TimerFired(now=self.state.now(), timer=timer))


class ClientConnection:
    """Connects one client, by its name, to its broker, and holds the events that wait for it."""

    def __init__(self, task: BrokerTask, client: str) -> None:
        self.is_closed = False
        self.queues: dict[str, EventQueue] = {}  # by subscription
        self._task = task
        self._client = client

    def submit(self, message: Message) -> Asked:
        """Send a message to the broker; the future raises what the broker refuses, or has its answer to events."""
        now = self._task.state.now()
        return self._task.ask(MessageReceived(now=now, client=self._client, message=message))

    async def wait_for_capacity(self) -> None:
        """Wait until the network can take more events."""
        await self._task.state.wait_for_capacity()

    def deliver(self, delivered: Deliver) -> None:
        """Queue events for the subscriptions that want them."""
        queue_of = self.queues.get
        for row, wanting in zip(delivered.frame.rows, delivered.subscriptions, strict=True):
            for subscription in wanting:
                queue = queue_of(subscription)
                if queue is not None:
                    queue.put(row)

    def abandon(self, subscription: str, queue: EventQueue) -> None:
        """Unsubscribe because nobody holds the subscription any more; any thread may call this."""
        loop = self._task.state.loop
        if self.queues.get(subscription) is not queue:  # it has ended, and another one may have its id
            return
        del self.queues[subscription]
        if loop is not None:
            with suppress(RuntimeError):  # the loop was closed meanwhile
                loop.call_soon_threadsafe(self._unsubscribe, subscription)

    def _unsubscribe(self, subscription: str) -> None:
        if self._task.state.loop is not None:
            asked = self.submit(Unsubscribe(subscription, f"{subscription}/abandoned"))
            asked.add_done_callback(_retrieve_error)

    async def close(self) -> None:
        """End the client: the broker forgets all that it subscribed to and advertised."""
        self.end()
        state = self._task.state
        if state.loop is not None:
            left = self._task.ask(ClientDisconnected(now=state.now(), client=self._client, for_good=True))
            self._task.connections.pop(self._client, None)
            state.client_names.discard(self._client)
            await left

    def end(self) -> None:
        """Close all queues: the network has ended, or the client leaves."""
        self.is_closed = True
        for queue in list(self.queues.values()):  # another thread may abandon a subscription meanwhile
            queue.close()
        self.queues.clear()


def _weight(stimulus: Stimulus) -> int:
    """How much a stimulus counts: a frame as many as it has events, all else one."""
    message: Message | None = None
    if isinstance(stimulus, PacketReceived):
        message = stimulus.packet.message
    elif isinstance(stimulus, MessageReceived):
        message = stimulus.message
    return len(message.frame) if isinstance(message, Publish) else 1


def _resolve(handled: Asked | None, answer: ThatchError | Published | None) -> None:
    if handled is None or handled.done():  # nobody waits, or no longer
        return
    if isinstance(answer, ThatchError):
        handled.set_exception(answer)
    else:
        handled.set_result(answer)


def _cancel(handled: Asked | None) -> None:
    if handled is not None:
        handled.cancel()


def _retrieve_error(done: Asked) -> None:
    """Retrieve an error that nobody waits for, so that asyncio does not warn of it."""
    if not done.cancelled():
        done.exception()
