"""Fast tiers: an engine's segments, or decision diagrams, where sharing saves memory."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import pyarrow as pa

from thatch.engine import Engine
from thatch.matching.diagrams import DiagramIndex
from thatch.matching.problem import AccessHints
from thatch.model.events import read_event
from thatch.model.schema import Schema
from thatch.tiering.problem import By, FastTier, StoredSubscription

__all__ = ["DiagramTier", "SegmentTier"]

_FEW = 64  # subscriptions that are quicker to add one by one
_ROW_BYTES = 64 + 32  # a tuple of three, and the number of a slot


class SegmentTier(FastTier):
    """Subscriptions in an engine.

    Parameters
    ----------
    schema : declared types
    background : merge in a thread; otherwise whoever changes the tier does
    hints : what planning knows of events and subscriptions
    """

    def __init__(
        self, schema: Schema | None = None, *, background: bool = False, hints: AccessHints | None = None
    ) -> None:
        self._engine = Engine(schema, background=background, hints=hints)

    def __len__(self) -> int:
        return len(self._engine)

    def put(self, many: Sequence[StoredSubscription]) -> None:
        if len(many) < _FEW:
            for each in many:
                expires = None if each.expires == inf else each.expires
                self._engine.subscribe(
                    each.identity, each.filter, subscriber=each.subscriber, expires=expires
                )
            return
        columns: dict[str, Any] = {
            "subscription": [each.identity for each in many],
            "filter": [each.text for each in many],
        }
        if any(each.subscriber is not None for each in many):
            columns["subscriber"] = [each.subscriber for each in many]
        if any(each.expires != inf for each in many):
            columns["expires"] = [each.expires for each in many]
        rejects = self._engine.subscribe_many(pa.table(columns))
        assert not rejects.num_rows, "they were checked before"

    def remove(self, identities: Sequence[str]) -> None:
        for each in identities:
            if each in self._engine:
                self._engine.unsubscribe(each)

    def match(self, event: Mapping[str, Any], by: By = "subscription", now: float | None = None) -> list[str]:
        return self._engine.match(event, by=by, now=now)

    def compact(self) -> None:
        self._engine.compact()

    def nbytes(self) -> int:
        return sum(size for name, size in self._engine.stats().items() if name.startswith("bytes_"))


class DiagramTier(FastTier):
    """Subscriptions in a decision diagram with many roots, each predicate once (li2005, section 3).

    Parameters
    ----------
    schema : declared types
    hints : what planning knows of events and subscriptions
    """

    def __init__(self, schema: Schema | None = None, *, hints: AccessHints | None = None) -> None:
        self._schema = schema
        self._index = DiagramIndex(hints=hints)
        self._rows: dict[int, tuple[str, str | None, float]] = {}
        self._slots: dict[str, int] = {}
        self._next = 0
        self._texts = 0  # bytes of ids and subscribers

    def __len__(self) -> int:
        return len(self._slots)

    def put(self, many: Sequence[StoredSubscription]) -> None:
        self.remove([each.identity for each in many])
        for each in many:
            slot, self._next = self._next, self._next + 1
            self._index.add(slot, each.filter)
            self._rows[slot] = (each.identity, each.subscriber, each.expires)
            self._slots[each.identity] = slot
            self._texts += _text_bytes(self._rows[slot])

    def remove(self, identities: Sequence[str]) -> None:
        for each in identities:
            slot = self._slots.pop(each, None)
            if slot is not None:
                self._index.remove(slot)
                self._texts -= _text_bytes(self._rows.pop(slot))

    def match(self, event: Mapping[str, Any], by: By = "subscription", now: float | None = None) -> list[str]:
        slots = self._index.match(read_event(event, self._schema))
        rows = (self._rows[slot] for slot in slots)
        kept = (row for row in rows if now is None or row[2] > now)
        if by == "subscription":
            return [identity for identity, _, _ in kept]
        return list(
            dict.fromkeys(identity if subscriber is None else subscriber for identity, subscriber, _ in kept)
        )

    def compact(self) -> None:
        # Dicts do not shrink by themselves: build the index anew.
        rows = self._rows
        slots = {old: new for new, old in enumerate(rows)}
        self._index = self._index.renumber(slots)
        self._rows = {slots[old]: row for old, row in rows.items()}
        self._slots = {row[0]: slot for slot, row in self._rows.items()}
        self._next = len(slots)

    def nbytes(self) -> int:
        own = sys.getsizeof(self._rows) + sys.getsizeof(self._slots) + _ROW_BYTES * len(self._rows)
        return self._index.nbytes() + own + self._texts


def _text_bytes(row: tuple[str, str | None, float]) -> int:
    identity, subscriber, _ = row
    return sys.getsizeof(identity) + (0 if subscriber is None else sys.getsizeof(subscriber))
