"""What a broker refuses, as the error that its client gets."""

from __future__ import annotations

from thatch.broker.messages import Message, Publish, Subscribe, Unsubscribe
from thatch.errors import EventError, SubscriptionError, ThatchError

__all__ = ["about_of", "refusal"]


def about_of(message: Message) -> str | None:
    """The id that a refusal of a client's message would name."""
    if isinstance(message, Publish):
        return message.publication
    if isinstance(message, (Subscribe, Unsubscribe)):
        return message.subscription
    return getattr(message, "advertisement", None)


def refusal(message: Message, reason: str) -> ThatchError:
    """The error for a message that a broker refused."""
    if isinstance(message, Publish):
        return EventError("a publication that the broker accepts", reason, message.publication)
    what = type(message).__name__.lower()
    return SubscriptionError(f"what the broker accepts ({what})", reason, about_of(message) or "")
