"""What happened here lately, to be explained: what was sent or withdrawn, refused or published."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from thatch.broker.event_frames import EventFrame, event_id
from thatch.model.frozen import quick_value

__all__ = ["Facts", "Going", "PublishedFact"]


class Going(Protocol):
    """Where the events of a frame went, by their places, and which were refused."""

    links: dict[str, list[int]]
    clients: dict[str, list[int]]
    refused: dict[int, tuple[str, str]]


@quick_value
class PublishedFact:
    """A frame came and was sent on and delivered; places are those of its events in the frame."""

    cause: int
    publisher: str
    numbers: tuple[int, ...]
    hop: str  # where it came from
    links: Mapping[str, Sequence[int]]  # the places of what was sent to each neighbour
    clients: Mapping[str, Sequence[int]]
    refused: frozenset[int]

    @classmethod
    def of(cls, frame: EventFrame, route: Going, *, cause: int, hop: str) -> PublishedFact:
        """The fact about a frame, of which the rows are not kept."""
        return cls(
            cause=cause,
            publisher=frame.publisher,
            numbers=frame.numbers,
            hop=hop,
            links=route.links,
            clients=route.clients,
            refused=frozenset(route.refused),
        )

    def about(self, name: str) -> tuple[Any, ...] | None:
        """The fact about the event of this id alone, None if it is not in the frame."""
        publisher, _, number = name.rpartition("#")
        if publisher != self.publisher or not number.isdecimal() or len(number) > 19:
            return None
        if int(number) not in self.numbers:
            return None
        place = self.numbers.index(int(number))
        if place in self.refused or event_id(publisher, self.numbers[place]) != name:
            return None
        sent = tuple(each for each, places in self.links.items() if place in places)
        delivered = tuple(each for each, places in self.clients.items() if place in places)
        return self.cause, name, "published", self.hop, sent, delivered


class Facts:
    """The last facts; a frame counts as many as it has events.

    Parameters
    ----------
    most : how many are remembered
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._count = 0
        self._facts: deque[tuple[Any, ...] | PublishedFact] = deque()

    def __len__(self) -> int:
        return self._count

    def append(self, fact: tuple[Any, ...] | PublishedFact) -> None:
        """Remember a fact: its cause, what it is about, its kind and more."""
        self._facts.append(fact)
        self._count += _weight(fact)
        while self._count > self._most and len(self._facts) > 1:
            self._count -= _weight(self._facts.popleft())

    def about(self, name: str) -> Iterator[tuple[Any, ...]]:
        """The facts about a subscription, an advertisement or an event."""
        for fact in self._facts:
            if isinstance(fact, PublishedFact):
                found = fact.about(name)
                if found is not None:
                    yield found
            elif fact[1] == name:
                yield fact


def _weight(fact: tuple[Any, ...] | PublishedFact) -> int:
    return len(fact.numbers) if isinstance(fact, PublishedFact) else 1
