"""A profile: what a log of events looks like, and what a set of subscriptions asks of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

from thatch.model.filters import Filter
from thatch.model.names import base_of
from thatch.model.profile.counting import count_events, measure_subscriptions
from thatch.model.profile.records import (
    AttributePair,
    AttributeProfile,
    AttributeSet,
    ErrorBounds,
    MatchCounts,
    Predicate,
    PredicatePair,
)
from thatch.model.schema import Schema

__all__ = ["Profile"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a log of events looks like.

    Parameters
    ----------
    events : how many were counted; all counts are of these, and not scaled where they are a sample
    rejected : rows that were no events
    reasons : why, for some of them, with how many
    misfits : values outside their declared type, which count as missing
    attributes : the most frequent first; `attribute_count` tells how many there were in all
    sets : which attributes events have, the most frequent first; `set_count` tells how many there were in all
    pairs : of the attributes that come most often
    predicates : of all subscriptions, measured; the most used first
    predicate_pairs : those that stand together most often, measured
    matches : of the subscriptions, None if there were none to measure
    bounds : how exact the numbers are

    Examples
    --------
    >>> profile = Profile.of([{"price": 5}, {"price": 7, "symbol": "IBM"}])
    >>> profile.present("symbol")
    0.5
    """

    events: int
    rejected: int = 0
    reasons: tuple[tuple[str, int], ...] = ()
    misfits: int = 0
    attributes: tuple[AttributeProfile, ...] = ()
    attribute_count: int = 0
    sets: tuple[AttributeSet, ...] = ()
    set_count: int = 0
    pairs: tuple[AttributePair, ...] = ()
    predicates: tuple[Predicate, ...] = ()
    predicate_pairs: tuple[PredicatePair, ...] = ()
    matches: MatchCounts | None = None
    bounds: ErrorBounds = field(default_factory=ErrorBounds)
    _attribute: Mapping[str, AttributeProfile] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_attribute", {each.key: each for each in self.attributes})

    @classmethod
    def of(
        cls,
        events: Iterable[Mapping[str, Any]],
        subscriptions: Mapping[str, Filter] | None = None,
        *,
        schema: Schema | None = None,
    ) -> Profile:
        """The profile of events, counted exactly, one by one: for small logs, and the definition of all others.

        Parameters
        ----------
        events : objects; what is no event is counted as rejected
        subscriptions : filters by id
        schema : declared types; a value outside its type counts as missing
        """
        count, records = count_events(events, schema)
        asked = {} if subscriptions is None else measure_subscriptions(records, subscriptions)
        return cls(**count.profile_fields(), **asked)

    def attribute(self, key: str) -> AttributeProfile | None:
        """What is known of an attribute, None if it never came, or is not among those kept."""
        return self._attribute.get(key)

    def present(self, key: str) -> float:
        """The share of events that have an attribute; of one that is derived by `ip` or `time`, at most."""
        known = self._attribute.get(base_of(key))
        return known.events / self.events if known is not None and self.events else 0.0

    def sampling_error(self, share: float = 0.5) -> float:
        """Half the width of the interval in which a share lies in 95 of 100 samples; nothing without sampling."""
        if self.bounds.fraction >= 1.0 or not self.events:
            return 0.0
        return 1.96 * sqrt(share * (1.0 - share) / self.events)
