"""How many bytes a frame would have: estimated from texts and counts, since nothing is written here."""

from __future__ import annotations

import json
from typing import Any

from thatch.broker.messages import (
    Advertise,
    BucketRequest,
    Digest,
    Entries,
    Joined,
    Message,
    Publish,
    Subscribe,
)
from thatch.broker.stimuli import Frame
from thatch.model.filters import Filter

__all__ = ["Sizes"]

_FRAME = 32  # sessions, numbers and lengths
_NUMBER = 8


class Sizes:
    """Sizes of frames; texts of filters and events are measured once each."""

    def __init__(self) -> None:
        self._filters: dict[Filter, int] = {}
        self._events: dict[str, int] = {}

    def frame(self, frame: Frame) -> int:
        """The bytes of a frame."""
        return _FRAME + (0 if frame.message is None else self.message(frame.message))

    def message(self, message: Message) -> int:
        """The bytes of a message."""
        match message:
            case Subscribe():
                return len(message.subscription) + _NUMBER + self._filter(message.filter)
            case Advertise():
                return len(message.advertisement) + _NUMBER + 1 + self._filter(message.filter)
            case Publish():
                return len(message.publication) + self._event(message)
            case Joined():
                return sum(len(name) + len(before) for name, before in message.routes)
            case Digest():
                return 2 * _NUMBER * (len(message.subscriptions) + len(message.advertisements))
            case BucketRequest():
                return _NUMBER * (len(message.subscriptions) + len(message.advertisements))
            case Entries():
                held: list[Message] = [message.buckets, *message.subscriptions, *message.advertisements]
                return sum(self.message(each) for each in held)
            case _:  # a few ids
                return sum(len(str(getattr(message, name))) for name in type(message).__slots__)

    def forget_events(self) -> None:
        """Forget the sizes of events, which will hardly come again."""
        self._events.clear()

    def _filter(self, filter: Filter) -> int:
        size = self._filters.get(filter)
        if size is None:
            size = self._filters[filter] = len(str(filter))
        return size

    def _event(self, message: Publish) -> int:
        size = self._events.get(message.publication)
        if size is None:
            size = self._events[message.publication] = _json_size(message.event)
        return size


def _json_size(event: Any) -> int:
    return len(json.dumps(event, default=str, separators=(",", ":")))
