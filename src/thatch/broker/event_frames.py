"""Frames: events that one publisher published in one go, which travel together.

Every event of a publisher has a number, which only grows. The rows of a frame are its events, encoded; the first broker
takes them as they come, and those beyond get the same rows or a selection of them: a row is never encoded again, and
keeps its number wherever it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import lt
from typing import Any

from thatch.broker.event_codec import decode_event, encode_event
from thatch.errors import EventError
from thatch.model.frozen import quick_value
from thatch.model.values import MAX_INTEGER, is_id

__all__ = ["MOST_ROWS", "EventFrame", "RefusedEvent", "encode_frame", "event_id", "why_malformed"]

MOST_ROWS = 2**16  # of one frame


@quick_value
class EventFrame:
    """Events of one publisher, in the order of their numbers.

    Parameters
    ----------
    publisher : the name of the client that published them, unique in the network
    numbers : of the events, ascending, from 1 on
    rows : the events, as `encode_event` makes them
    """

    publisher: str
    numbers: tuple[int, ...]
    rows: tuple[bytes, ...]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def size(self) -> int:
        """The bytes of all rows."""
        return sum(map(len, self.rows))

    def select(self, places: Sequence[int]) -> EventFrame:
        """Some of the events, in order; the frame itself if these are all."""
        if len(places) == len(self.rows):
            return self
        numbers, rows = self.numbers, self.rows
        return EventFrame(
            self.publisher,
            tuple([numbers[place] for place in places]),
            tuple([rows[place] for place in places]),
        )

    def after(self, number: int) -> EventFrame:
        """The events with greater numbers."""
        if self.numbers[0] > number:
            return self
        return self.select([place for place, each in enumerate(self.numbers) if each > number])

    def ids(self) -> list[str]:
        """What each event is called in the network."""
        return [event_id(self.publisher, number) for number in self.numbers]

    def events(self) -> list[dict[str, Any]]:
        """The events, each a new object."""
        return [decode_event(row) for row in self.rows]


@quick_value
class RefusedEvent:
    """An event that was not published."""

    number: int
    reason: str


def event_id(publisher: str, number: int) -> str:
    """What an event is called in the network."""
    return f"{publisher}#{number}"


def encode_frame(
    publisher: str, first: int, events: Iterable[Any]
) -> tuple[EventFrame, tuple[RefusedEvent, ...]]:
    """A frame of events, numbered from `first` on, without those that cannot be encoded, which are given too."""
    numbers, rows, refused = [], [], []
    for number, event in enumerate(events, first):
        try:
            rows.append(encode_event(event))
        except EventError as error:
            refused.append(RefusedEvent(number, str(error)))
        else:
            numbers.append(number)
    return EventFrame(publisher, tuple(numbers), tuple(rows)), tuple(refused)


def why_malformed(frame: object) -> str:
    """What is wrong with a frame that somebody sent, empty if nothing is; its rows are not looked at."""
    if not isinstance(frame, EventFrame) or not is_id(frame.publisher):
        return "a frame that cannot be read"
    numbers, rows = frame.numbers, frame.rows
    if type(numbers) is not tuple or type(rows) is not tuple or not 0 < len(numbers) == len(rows):
        return "a frame that cannot be read"
    if len(rows) > MOST_ROWS:
        return "a frame of too many events"
    if set(map(type, numbers)) != {int} or not 0 < numbers[0] <= numbers[-1] <= MAX_INTEGER:
        return "a frame whose numbers are none"
    if not all(map(lt, numbers, numbers[1:])):
        return "a frame whose numbers do not grow"
    return ""
