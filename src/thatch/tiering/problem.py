"""What two-level matching asks of its tiers: a fast one in memory, and a cold one that keeps every subscription.

The cold tier is the one that remembers. Every subscription is written there once, when it comes, with a mark that says
which tier answers for it; the fast tier is what of them is in memory. So a move between the tiers is one transaction
that changes marks, and whatever is lost with a process is read again from the marks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from thatch.model.events import Record
from thatch.model.filters import Filter

__all__ = ["By", "ClusterRecord", "ColdTier", "FastTier", "Found", "Home", "Match", "Subscription"]

By = Literal["subscription", "subscriber"]


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription as tiers know it; `text` parses to `filter`, `expires` is infinity for never."""

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
    """A subscription that is known, with its home."""

    subscription: Subscription
    home: Home


class Match(NamedTuple):
    """A subscription that wants an event."""

    identity: str
    subscriber: str | None


@dataclass(frozen=True, slots=True)
class ClusterRecord:
    """What is remembered of a cluster.

    Parameters
    ----------
    number, key : what it is, and what its members have in common; large ones have several numbers under one key
    is_cold : new members go to the cold tier
    nodes, predicates : unique predicates, and all of them, when this was last known
    members : how many subscriptions belong to it; told by the cold tier
    """

    number: int
    key: str
    is_cold: bool
    nodes: int
    predicates: int
    members: int = 0


class ColdTier(Protocol):
    """Subscriptions in a database. Every call is one transaction: it happens whole, or raises `StoreError`.

    After an error nobody knows whether the transaction happened; all calls that change may be made again.
    """

    def alone(self) -> AbstractContextManager[object]:
        """Changes of several calls, in memory as well: other threads wait; who is alone may say so again."""

    def clusters(self) -> list[ClusterRecord]:
        """All clusters, with their members counted."""

    def fast(self) -> Iterator[list[Found]]:
        """What the fast tier must answer for, some at a time."""

    def check(self, identity: str) -> None:
        """Raise `SubscriptionError` for an id that cannot be kept here."""

    def put(self, many: Sequence[tuple[Subscription, Home]], clusters: Sequence[ClusterRecord]) -> None:
        """Remember subscriptions, each id once, in place of those with their ids; and these clusters."""

    def remove(self, identities: Sequence[str]) -> None:
        """Forget subscriptions; ids that are not known are left out."""

    def find(self, identities: Sequence[str]) -> dict[str, Found]:
        """Those of these ids that are known."""

    def members(self, cluster: int) -> list[Found]:
        """All subscriptions of a cluster."""

    def move(self, record: ClusterRecord, members: Sequence[Subscription]) -> None:
        """From now on the tier that `record.is_cold` tells answers for these members, and new ones go there."""

    def fold(self, folds: Sequence[tuple[ClusterRecord, Sequence[int]]]) -> None:
        """Members of clusters with these numbers belong to the record's from now on; clusters without any are forgotten."""

    def match(self, record: Record, now: float | None = None) -> list[Match]:
        """Who of those that this tier answers for wants an event, each once; `now` leaves out what has expired."""

    def expired(self, now: float) -> list[str]:
        """Ids of all that has expired by `now`, in both tiers."""

    def identities(self) -> Iterator[str]:
        """All ids, of both tiers."""

    def nbytes(self) -> int:
        """Bytes of this process that the tier may take."""

    def close(self) -> None:
        """Let go of the database."""


class FastTier(Protocol):
    """Subscriptions in memory. Ids that are not known are no error here: after a failed move nobody is sure."""

    def __len__(self) -> int: ...

    def __contains__(self, identity: object) -> bool: ...

    def put(self, many: Sequence[Subscription]) -> None:
        """Add subscriptions, each id once, in place of those with their ids."""

    def remove(self, identities: Sequence[str]) -> None:
        """Forget subscriptions."""

    def match(self, event: Mapping[str, Any], by: By = "subscription", now: float | None = None) -> list[str]:
        """Who wants an event, each once, in the order in which subscriptions came here."""

    def compact(self) -> None:
        """Give back the memory of what was removed."""

    def nbytes(self) -> int:
        """Bytes that the tier takes."""
