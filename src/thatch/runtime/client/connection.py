"""What a client speaks through: the contract between clients and the networks they are on."""

from __future__ import annotations

from asyncio import Future
from typing import Protocol

from thatch.broker.messages import Message
from thatch.model.schema import Schema

__all__ = ["Connection"]


class Connection(Protocol):
    """A client's way to its broker."""

    @property
    def schema(self) -> Schema | None:
        """Declared types of attributes, as the broker has them."""

    def submit(self, message: Message) -> Future[None]:
        """Say something; done when the broker has handled it, with a `ThatchError` if it refused."""

    async def room(self) -> None:
        """Wait until the network can take another publication."""

    async def close(self) -> None:
        """Leave for good: all that the client subscribed to and advertised ends."""

    def forget(self, subscription: str) -> None:
        """End a subscription that nobody holds any more; from any thread, also after the network is gone."""
