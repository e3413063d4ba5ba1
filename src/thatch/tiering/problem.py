"""The contract of two-level matching: a fast tier in memory, a cold one that stores every subscription, and answers.

Every subscription is written to the cold tier when it arrives, with a mark that says which tier answers for it; the fast
tier holds those marked as fast. So a move between the tiers is one transaction that changes marks, and what a process
loses is read again from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from thatch.model.events import Record
from thatch.model.filters import Filter

__all__ = [
    "Answer", "By", "ClusterRecord", "ColdTier", "FastTier", "Found", "Home", "Match", "StoredSubscription",
]  # fmt: skip

By = Literal["subscription", "subscriber"]


@dataclass(frozen=True, slots=True)
class StoredSubscription:
    """A subscription as tiers keep it; `text` parses to `filter`, `expires` is infinity for never."""

    identity: str
    filter: Filter
    text: str
    subscriber: str | None
    expires: float


class Home(NamedTuple):
    """Where a subscription belongs: the number of its cluster, and whether the cold tier answers for it."""

    cluster: int
    is_cold: bool


class Found(NamedTuple):
    """A stored subscription with its home."""

    subscription: StoredSubscription
    home: Home


class Match(NamedTuple):
    """A subscription that matches an event."""

    identity: str
    subscriber: str | None


@dataclass(frozen=True, slots=True)
class ClusterRecord:
    """What the cold tier stores about a cluster.

    Parameters
    ----------
    number, key : which cluster, and what its members have in common; large ones have several numbers under one key
    is_cold : new members go to the cold tier
    nodes, predicates : how many unique predicates, and how many in all, when last counted
    members : how many subscriptions belong to it; counted by the cold tier
    """

    number: int
    key: str
    is_cold: bool
    nodes: int
    predicates: int
    members: int = 0

    @property
    def ratio(self) -> float:
        """The commonality ratio: unique predicates ÷ all; 1 = nothing is shared, small = a lot is."""
        return self.nodes / self.predicates if self.predicates else 1.0

    @property
    def weighted(self) -> float:
        """Node count × ratio: the larger, the lower the priority of the cluster."""
        return self.nodes * self.ratio


class Answer:
    """The subscriptions that match an event: first those of the fast tier, then those of the slow one; none twice.

    Parameters
    ----------
    fast : what the fast tier has found
    ask : asks the slow tier
    """

    def __init__(self, fast: list[str], ask: Callable[[], list[str]]) -> None:
        self.fast = fast
        self._ask = ask
        self._slow: list[str] | None = None

    def slow(self) -> list[str]:
        """What the fast tier does not have; asked once.

        Raises `StoreError` if the database is away: `fast` is right as far as it goes, and this may be called again.
        """
        if self._slow is None:
            known = set(self.fast)
            self._slow = [each for each in dict.fromkeys(self._ask()) if each not in known]
        return self._slow

    def __iter__(self) -> Iterator[str]:
        yield from self.fast
        yield from self.slow()


class ColdTier(Protocol):
    """Subscriptions in a database. Every call is one transaction: it happens whole, or raises `StoreError`.

    After an error nobody knows whether the transaction happened; every change may be repeated.
    """

    def lock(self) -> AbstractContextManager[object]:
        """Make other threads wait during several calls, and the changes in memory that go with them; reentrant."""

    def clusters(self) -> list[ClusterRecord]:
        """All clusters, with their members counted."""

    def fast(self) -> Iterator[list[Found]]:
        """What the fast tier answers for, some at a time."""

    def check(self, identity: str) -> None:
        """Raise `SubscriptionError` for an id that cannot be stored."""

    def put(self, many: Sequence[tuple[StoredSubscription, Home]], clusters: Sequence[ClusterRecord]) -> None:
        """Store subscriptions, each id once, in place of those with their ids, and their positions; and these clusters."""

    def remove(self, identities: Sequence[str]) -> None:
        """Remove subscriptions; unknown ids are ignored."""

    def find(self, identities: Sequence[str]) -> dict[str, Found]:
        """The subscriptions with these ids, as far as they are stored."""

    def members(self, cluster: int) -> list[Found]:
        """All subscriptions of a cluster."""

    def move(self, record: ClusterRecord, members: Sequence[StoredSubscription]) -> None:
        """Let the tier that `record.is_cold` names answer for these members and for new ones."""

    def fold(self, folds: Sequence[tuple[ClusterRecord, Sequence[int]]]) -> None:
        """Move the members of clusters with these numbers to the record's; delete clusters without members."""

    def match(self, record: Record, now: float | None = None) -> list[Match]:
        """The subscriptions of this tier that match an event, in order of arrival; `now` leaves out expired ones."""

    def find_expired(self, now: float) -> list[str]:
        """Ids of all that has expired by `now`, in both tiers, in order of arrival."""

    def identities(self) -> Iterator[str]:
        """All ids of both tiers, in order of arrival."""

    def nbytes(self) -> int:
        """Bytes of this process that the tier may take."""

    def close(self) -> None:
        """Close the database."""


class FastTier(Protocol):
    """Subscriptions in memory. Unknown ids are no error here: after a failed move nobody is sure."""

    def __len__(self) -> int: ...

    def put(self, many: Sequence[StoredSubscription]) -> None:
        """Add subscriptions, each id once, in place of those with their ids."""

    def remove(self, identities: Sequence[str]) -> None:
        """Remove subscriptions; unknown ids are ignored."""

    def match(self, event: Mapping[str, Any], by: By = "subscription", now: float | None = None) -> list[str]:
        """The subscriptions that match an event, each once, in the order in which they came here."""

    def compact(self) -> None:
        """Free the memory of what was removed."""

    def nbytes(self) -> int:
        """Bytes that the tier takes."""
