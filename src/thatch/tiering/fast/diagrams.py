"""Decision diagrams as a fast tier: predicates that subscriptions share are in memory once (paper L, section 3)."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from thatch.matching.diagrams import DiagramIndex
from thatch.matching.problem import AccessHints
from thatch.model.events import read_event
from thatch.model.schema import Schema
from thatch.tiering.problem import By, Subscription

__all__ = ["DiagramTier"]

_ROW_BYTES = 64 + 32  # a tuple of three, and the number of a place


class DiagramTier:
    """Subscriptions in a decision diagram with many roots.

    Parameters
    ----------
    schema : declared types
    hints : what planning knows of events and subscriptions
    """

    def __init__(self, schema: Schema | None = None, *, hints: AccessHints | None = None) -> None:
        self._schema = schema
        self._index = DiagramIndex(hints=hints)
        self._rows: dict[int, tuple[str, str | None, float]] = {}
        self._place: dict[str, int] = {}
        self._next = 0
        self._texts = 0  # bytes of ids and subscribers

    def __len__(self) -> int:
        return len(self._place)

    def __contains__(self, identity: object) -> bool:
        return identity in self._place

    def put(self, many: Sequence[Subscription]) -> None:
        """Add subscriptions in place of those with their ids."""
        self.remove([each.identity for each in many])
        for each in many:
            place, self._next = self._next, self._next + 1
            self._index.add(place, each.filter)
            self._rows[place] = (each.identity, each.subscriber, each.expires)
            self._place[each.identity] = place
            self._texts += _text_bytes(self._rows[place])

    def remove(self, identities: Sequence[str]) -> None:
        """Forget subscriptions."""
        for each in identities:
            place = self._place.pop(each, None)
            if place is not None:
                self._index.remove(place)
                self._texts -= _text_bytes(self._rows.pop(place))

    def match(self, event: Mapping[str, Any], by: By = "subscription", now: float | None = None) -> list[str]:
        """Who wants an event."""
        places = self._index.match(read_event(event, self._schema))
        rows = (self._rows[place] for place in places)
        kept = (row for row in rows if now is None or row[2] > now)
        if by == "subscription":
            return [identity for identity, _, _ in kept]
        return list(
            dict.fromkeys(identity if subscriber is None else subscriber for identity, subscriber, _ in kept)
        )

    def compact(self) -> None:
        """Build the index anew: dicts do not shrink by themselves."""
        rows = self._rows
        places = {old: new for new, old in enumerate(rows)}
        self._index = self._index.renumbered(places)
        self._rows = {places[old]: row for old, row in rows.items()}
        self._place = {row[0]: place for place, row in self._rows.items()}
        self._next = len(places)

    def nbytes(self) -> int:
        """Bytes of the index, and of what is known besides."""
        own = sys.getsizeof(self._rows) + sys.getsizeof(self._place) + _ROW_BYTES * len(self._rows)
        return self._index.nbytes() + own + self._texts


def _text_bytes(row: tuple[str, str | None, float]) -> int:
    identity, subscriber, _ = row
    return sys.getsizeof(identity) + (0 if subscriber is None else sys.getsizeof(subscriber))
