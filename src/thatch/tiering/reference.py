"""A cold tier as plainly as it can be written: the slow definition that tests use as oracle, and that needs no database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from thatch.model.events import Record
from thatch.model.filters import Filter
from thatch.model.matching import holds
from thatch.tiering.problem import ClusterRecord, Found, Home, Match, Subscription

__all__ = ["PlainColdTier", "commonality"]


def commonality(filters: Sequence[Filter]) -> tuple[int, int]:
    """How many unique predicates filters have, and how many they have in all (paper C, section 5.2)."""
    every = [
        predicate
        for each in filters
        for conjunction in each.conjunctions
        for predicate in (*conjunction.constraints, *conjunction.residuals)
    ]
    return len(set(every)), len(every)


class PlainColdTier:
    """Subscriptions in a dict, asked one by one. It forgets when its process ends."""

    def __init__(self) -> None:
        self._found: dict[str, Found] = {}
        self._clusters: dict[int, ClusterRecord] = {}

    def alone(self) -> AbstractContextManager[object]:
        """Nothing to wait for: one thread at a time may use it, also to ask."""
        return nullcontext()

    def clusters(self) -> list[ClusterRecord]:
        """All clusters, with their members counted."""
        counts = [len(self.members(number)) for number in self._clusters]
        return [replace(each, members=n) for each, n in zip(self._clusters.values(), counts, strict=True)]

    def fast(self) -> Iterator[list[Found]]:
        """What the fast tier must answer for."""
        yield [each for each in self._found.values() if not each.home.is_cold]

    def check(self, identity: str) -> None:
        """Any id can be kept."""

    def put(self, many: Sequence[tuple[Subscription, Home]], clusters: Sequence[ClusterRecord]) -> None:
        """Remember subscriptions in place of those with their ids, and clusters."""
        self.remove([each.identity for each, _ in many])
        self._found.update({each.identity: Found(each, home) for each, home in many})
        self._clusters.update({each.number: each for each in clusters})

    def remove(self, identities: Sequence[str]) -> None:
        """Forget subscriptions."""
        for each in identities:
            self._found.pop(each, None)

    def find(self, identities: Sequence[str]) -> dict[str, Found]:
        """Those of these ids that are known."""
        return {each: self._found[each] for each in identities if each in self._found}

    def members(self, cluster: int) -> list[Found]:
        """All subscriptions of a cluster."""
        return [each for each in self._found.values() if each.home.cluster == cluster]

    def move(self, record: ClusterRecord, members: Sequence[Subscription]) -> None:
        """Let the tier that the record tells answer for members of a cluster, and for new ones."""
        self._clusters[record.number] = record
        for each in members:
            if each.identity in self._found:
                home = self._found[each.identity].home._replace(is_cold=record.is_cold)
                self._found[each.identity] = Found(self._found[each.identity].subscription, home)

    def fold(self, folds: Sequence[tuple[ClusterRecord, Sequence[int]]]) -> None:
        """Let clusters become part of others, and forget those without members."""
        for record, numbers in folds:
            self._clusters[record.number] = record
            for identity, (each, home) in self._found.items():
                if home.cluster in numbers:
                    self._found[identity] = Found(each, home._replace(cluster=record.number))
        used = {home.cluster for _, home in self._found.values()}
        self._clusters = {number: each for number, each in self._clusters.items() if number in used}

    def match(self, record: Record, now: float | None = None) -> list[Match]:
        """Who of those that this tier answers for wants an event."""
        return [
            Match(each.identity, each.subscriber)
            for each, home in self._found.values()
            if home.is_cold
            and (now is None or each.expires > now)
            and any(holds(conjunction, record) for conjunction in each.filter.conjunctions)
        ]

    def expired(self, now: float) -> list[str]:
        """Ids of all that has expired."""
        return [identity for identity, each in self._found.items() if each.subscription.expires <= now]

    def identities(self) -> Iterator[str]:
        """All ids."""
        return iter(list(self._found))

    def nbytes(self) -> int:
        """Nothing: it stands for a database elsewhere."""
        return 0

    def close(self) -> None:
        """Nothing to let go of."""
