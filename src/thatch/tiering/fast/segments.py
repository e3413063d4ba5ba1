"""The engine as a fast tier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import pyarrow as pa

from thatch.engine import Engine
from thatch.matching.problem import AccessHints
from thatch.model.schema import Schema
from thatch.tiering.problem import By, Subscription

__all__ = ["SegmentTier"]

_FEW = 64  # subscriptions that are quicker to add one by one


class SegmentTier:
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

    def __contains__(self, identity: object) -> bool:
        return identity in self._engine

    def put(self, many: Sequence[Subscription]) -> None:
        """Add subscriptions in place of those with their ids."""
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
        """Forget subscriptions."""
        for each in identities:
            if each in self._engine:
                self._engine.unsubscribe(each)

    def match(self, event: Mapping[str, Any], by: By = "subscription", now: float | None = None) -> list[str]:
        """Who wants an event."""
        return self._engine.match(event, by=by, now=now)

    def compact(self) -> None:
        """Merge everything."""
        self._engine.compact()

    def nbytes(self) -> int:
        """Bytes by the engine's own account."""
        return sum(size for name, size in self._engine.stats().items() if name.startswith("bytes_"))
