"""A broker as a task: it handles what comes into its inbox, one stimulus after the other."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import assert_never

from thatch.broker.broker import Broker
from thatch.broker.effects import (
    CancelTimer,
    CloseLink,
    Confirm,
    Deliver,
    Effect,
    Ignored,
    NeighbourFailed,
    Persist,
    Refuse,
    SendFrame,
    SetTimer,
)
from thatch.broker.stimuli import Frame, MessageReceived, Stimulus
from thatch.errors import ThatchError
from thatch.runtime.client import Client
from thatch.runtime.inprocess.timers import Timers
from thatch.runtime.refusals import about_of, refusal

__all__ = ["Station"]

_log = logging.getLogger(__name__)


class Station:
    """The task around one broker.

    Nothing is written to disk: what is in one process is gone with it.

    Parameters
    ----------
    send : puts a frame from this broker into a neighbour's inbox
    close : ends the link to a neighbour
    fire : called with the name of a timer that ran out
    """

    def __init__(
        self,
        broker: Broker,
        name: str,
        send: Callable[[str, str, Frame], None],
        close: Callable[[str, str], None],
        fire: Callable[[str], None],
    ) -> None:
        self.broker = broker
        self.name = name
        self.clients: dict[str, Client] = {}
        self.ignored: dict[str, int] = {}
        self._send = send
        self._close = close
        self._timers = Timers(fire)
        self._inbox: asyncio.Queue[tuple[Stimulus, asyncio.Future[None] | None]] = asyncio.Queue()

    def put(self, stimulus: Stimulus, handled: asyncio.Future[None] | None = None) -> None:
        """Let something happen to the broker; the future, if there is one, is done when it has been handled."""
        self._inbox.put_nowait((stimulus, handled))

    async def run(self, done: Callable[[], None]) -> None:
        """Handle what comes until cancelled; `done` is called after each."""
        try:
            while True:
                stimulus, handled = await self._inbox.get()
                try:
                    error = self._step(stimulus)
                except BaseException:
                    _cancel(handled)
                    raise
                _answer(handled, error)
                done()
                await asyncio.sleep(0)  # the others' turn, also when there is more to do
        finally:
            self._timers.clear()
            for client in self.clients.values():
                client.end()
            while not self._inbox.empty():
                _cancel(self._inbox.get_nowait()[1])

    def _step(self, stimulus: Stimulus) -> ThatchError | None:
        """Handle one stimulus; the error for who asked, if it was refused."""
        about = about_of(stimulus.message) if isinstance(stimulus, MessageReceived) else None
        error = None
        for effect in self.broker.handle(stimulus):
            if isinstance(effect, Refuse) and effect.about == about and isinstance(stimulus, MessageReceived):
                error = refusal(stimulus.message, effect.reason)
            else:
                self._do(effect)
        return error

    def _do(self, effect: Effect) -> None:
        match effect:
            case SendFrame():
                self._send(self.name, effect.neighbour, effect.frame)
            case Deliver():
                client = self.clients.get(effect.client)
                if client is not None:
                    client.take(effect)
            case SetTimer():
                self._timers.set(effect.timer, effect.at)
            case CancelTimer():
                self._timers.cancel(effect.timer)
            case Ignored():
                self.ignored[effect.reason] = self.ignored.get(effect.reason, 0) + 1
                _log.info("ignored broker=%s sender=%s reason=%s", self.name, effect.sender, effect.reason)
            case Refuse():
                _log.info("refused broker=%s client=%s reason=%s", self.name, effect.client, effect.reason)
            case NeighbourFailed():
                _log.warning("failed broker=%s neighbour=%s", self.name, effect.neighbour)
            case CloseLink():
                _log.warning(
                    "closed broker=%s neighbour=%s reason=%s", self.name, effect.neighbour, effect.reason
                )
                self._close(self.name, effect.neighbour)
            case Persist() | Confirm():
                pass
            case _:
                assert_never(effect)


def _answer(handled: asyncio.Future[None] | None, error: ThatchError | None) -> None:
    if handled is None or handled.done():  # nobody asked, or who asked has gone
        return
    if error is None:
        handled.set_result(None)
    else:
        handled.set_exception(error)


def _cancel(handled: asyncio.Future[None] | None) -> None:
    if handled is not None:
        handled.cancel()
