"""A cold tier without a database, as simple as it can be: the definition that tests compare stores with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from thatch.model.events import Record
from thatch.model.values import check_id
from thatch.tiering.problem import ClusterRecord, ColdTier, Found, Home, Match, StoredSubscription

__all__ = ["PlainColdTier"]


class PlainColdTier(ColdTier):
    """Subscriptions in a dict, matched one by one, and lost when the process ends."""

    def __init__(self) -> None:
        self._found: dict[str, Found] = {}
        self._clusters: dict[int, ClusterRecord] = {}

    def lock(self) -> AbstractContextManager[object]:
        return nullcontext()

    def clusters(self) -> list[ClusterRecord]:
        counts = [len(self.members(number)) for number in self._clusters]
        return [replace(each, members=n) for each, n in zip(self._clusters.values(), counts, strict=True)]

    def fast(self) -> Iterator[list[Found]]:
        yield [each for each in self._found.values() if not each.home.is_cold]

    def check(self, identity: str) -> None:
        check_id(identity)

    def put(self, many: Sequence[tuple[StoredSubscription, Home]], clusters: Sequence[ClusterRecord]) -> None:
        self._found.update({each.identity: Found(each, home) for each, home in many})
        self._clusters.update({each.number: each for each in clusters})

    def remove(self, identities: Sequence[str]) -> None:
        for each in identities:
            self._found.pop(each, None)

    def find(self, identities: Sequence[str]) -> dict[str, Found]:
        return {each: self._found[each] for each in identities if each in self._found}

    def members(self, cluster: int) -> list[Found]:
        return [each for each in self._found.values() if each.home.cluster == cluster]

    def move(self, record: ClusterRecord, members: Sequence[StoredSubscription]) -> None:
        self._clusters[record.number] = record
        for each in members:
            if each.identity in self._found:
                home = self._found[each.identity].home._replace(is_cold=record.is_cold)
                self._found[each.identity] = Found(self._found[each.identity].subscription, home)

    def fold(self, folds: Sequence[tuple[ClusterRecord, Sequence[int]]]) -> None:
        for record, numbers in folds:
            self._clusters[record.number] = record
            for identity, (each, home) in self._found.items():
                if home.cluster in numbers:
                    self._found[identity] = Found(each, home._replace(cluster=record.number))
        used = {home.cluster for _, home in self._found.values()}
        self._clusters = {number: each for number, each in self._clusters.items() if number in used}

    def match(self, record: Record, now: float | None = None) -> list[Match]:
        return [
            Match(each.identity, each.subscriber)
            for each, home in self._found.values()
            if home.is_cold and (now is None or each.expires > now) and each.filter.holds(record)
        ]

    def find_expired(self, now: float) -> list[str]:
        return [identity for identity, each in self._found.items() if each.subscription.expires <= now]

    def identities(self) -> Iterator[str]:
        return iter(list(self._found))

    def nbytes(self) -> int:
        return 0

    def close(self) -> None:
        """Nothing to let go of."""
