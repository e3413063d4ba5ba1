"""Events that wait to be read: a bounded queue between a broker and one reader."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from thatch.errors import EventError, ParameterError, ThatchError, shown
from thatch.model.events import MAX_DEPTH

__all__ = ["EventQueue", "copy_event"]

_FIXED = frozenset((str, int, float, bool, type(None)))  # need no copy


def copy_event(event: Any) -> Any:
    """A copy of an event that shares nothing that can be changed.

    Raises
    ------
    EventError
        If something in it cannot be copied.
    """
    try:
        return _copy(event, 0)
    except Exception as error:  # whatever a value of the caller's raises
        raise EventError("an event that can be copied", shown(event)) from error


def _copy(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind in _FIXED:
        return value
    if depth <= MAX_DEPTH:  # deeper ones, such as cycles, are refused by the broker
        if kind is dict:
            return {
                name: each if type(each) in _FIXED else _copy(each, depth + 1) for name, each in value.items()
            }
        if kind is list:
            return [each if type(each) in _FIXED else _copy(each, depth + 1) for each in value]
    return deepcopy(value)


class EventQueue:
    """A queue of at most `limit` events whose writer never waits.

    Brokers do not wait for readers, because one slow reader would hold up the whole network. When the queue is full,
    the oldest event is dropped and counted. What is read is the reader's own: brokers and other readers have the same
    event, so it is copied when it is read.
    """

    def __init__(self, limit: int) -> None:
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise ParameterError("a limit of at least 1 event", shown(limit), "limit")
        self.dropped = 0
        self._limit = limit
        self._events: deque[Mapping[str, Any]] = deque()
        self._readers: deque[asyncio.Future[None]] = deque()
        self._error: ThatchError | None = None
        self._is_closed = False

    def __len__(self) -> int:
        return len(self._events)

    def put(self, event: Mapping[str, Any]) -> None:
        """Add an event."""
        if self._is_closed:
            return
        if len(self._events) >= self._limit:
            self._events.popleft()
            self.dropped += 1
        self._events.append(event)
        self._wake()

    def put_back(self, event: Mapping[str, Any]) -> None:
        """Make an event the next one again: the reader that took it has gone."""
        self._events.appendleft(event)
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
        event: Mapping[str, Any] = copy_event(self._events[0])
        self._events.popleft()
        return event

    def _wake(self) -> None:
        while self._readers:
            reader = self._readers.popleft()
            if not reader.done():
                reader.set_result(None)
                return
