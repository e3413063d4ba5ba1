"""Events that wait to be read: a bounded queue between a broker and one reader."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import Any

from thatch.broker.event_codec import decode_event, encode_event
from thatch.errors import ParameterError, ThatchError, shown

__all__ = ["EventQueue"]


class EventQueue:
    """A queue of at most `limit` events, as bytes, whose writer never waits.

    Brokers do not wait for readers, because one slow reader would hold up the whole network. When the queue is full,
    the oldest event is dropped and counted. An event is decoded when it is read, so what is read is the reader's own.
    """

    def __init__(self, limit: int) -> None:
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise ParameterError("a limit of at least 1 event", shown(limit), "limit")
        self.dropped = 0
        self._limit = limit
        self._events: deque[bytes] = deque()
        self._readers: deque[asyncio.Future[None]] = deque()
        self._error: ThatchError | None = None
        self._is_closed = False

    def __len__(self) -> int:
        return len(self._events)

    def put(self, event: bytes) -> None:
        """Add an event, as `encode_event` makes it."""
        if self._is_closed:
            return
        if len(self._events) >= self._limit:
            self._events.popleft()
            self.dropped += 1
        self._events.append(event)
        if self._readers:
            self._wake()

    def put_back(self, event: Mapping[str, Any]) -> None:
        """Make an event the next one again: the reader that took it has gone."""
        self._events.appendleft(encode_event(event))
        self._wake()

    def close(self, error: ThatchError | None = None) -> None:
        """Accept no more events. Readers get the events that wait, then the error, if there is one."""
        self._is_closed = True
        self._error = self._error or error
        for reader in self._readers:
            if not reader.done():
                reader.set_result(None)

    async def get(self) -> Mapping[str, Any]:
        """Wait for the next event; raises `StopAsyncIteration` if the queue is closed and empty."""
        while not self._events:
            if self._error is not None:
                raise self._error
            if self._is_closed:
                raise StopAsyncIteration
            reader: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._readers.append(reader)
            try:
                await reader
            except asyncio.CancelledError:
                # This reader was woken for an event and will not read it: wake the next one.
                if reader.done() and not reader.cancelled():
                    self._wake()
                raise
            finally:
                if reader in self._readers:
                    self._readers.remove(reader)
        return decode_event(self._events.popleft())

    def _wake(self) -> None:
        while self._readers:
            reader = self._readers.popleft()
            if not reader.done():
                reader.set_result(None)
                return
