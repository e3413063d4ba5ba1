"""A subscription as its reader holds it."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping
from typing import Any, Protocol, Self

from thatch.model.filters import Filter
from thatch.runtime.client.stream import Stream

__all__ = ["Owner", "Subscription"]


class Owner(Protocol):
    """Whose subscription it is."""

    async def unsubscribe(self, subscription: str) -> None:
        """End a subscription."""

    def forget(self, subscription: str) -> None:
        """End a subscription that nobody holds any more; from any thread."""


class Subscription:
    """Events that satisfy a filter, as they come. Made by `Client.subscribe`.

    `await` it to know that the broker has accepted it; iterate over it with `async for`, which ends when the
    subscription does. It ends at the end of an `async with`, by `close`, or when nobody holds it any more.

    What is read is shared by all who get the event: look at it, do not change it.
    """

    def __init__(
        self, owner: Owner, subscription: str, filter: Filter, stream: Stream, accepted: asyncio.Future[None]
    ) -> None:
        self.id = subscription
        self.filter = filter
        self._owner = owner
        self._stream = stream
        self._accepted = accepted
        self._is_closed = False

    @property
    def dropped(self) -> int:
        """How many events were lost because they were not read in time."""
        return self._stream.dropped

    @property
    def waiting(self) -> int:
        """How many events can be read without waiting."""
        return len(self._stream)

    async def next(self) -> Mapping[str, Any]:
        """The next event; `StopAsyncIteration` if nothing more will come."""
        return await self._stream.get()

    async def close(self) -> None:
        """Unsubscribe; what waits can still be read."""
        if not self._is_closed:
            self._is_closed = True
            await self._owner.unsubscribe(self.id)

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
        return await self._stream.get()

    def __del__(self) -> None:
        if not getattr(self, "_is_closed", True):
            self._owner.forget(self.id)

    def __repr__(self) -> str:
        return f"<Subscription {self.id!r}: {self.filter}>"
