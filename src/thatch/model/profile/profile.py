"""A profile: what a log of events looks like, and what a set of subscriptions asks of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

from thatch.model.filters import Filter
from thatch.model.names import base_of
from thatch.model.profile.attributes import AttributeProfile
from thatch.model.profile.counting import REASONS, EventCounts, count_events, measure_predicates
from thatch.model.schema import Schema

__all__ = [
    "AttributePair",
    "AttributeSet",
    "ErrorBounds",
    "MatchCounts",
    "Predicate",
    "PredicatePair",
    "Profile",
]

_HEAVIEST = 100


@dataclass(frozen=True, slots=True)
class AttributeSet:
    """Attributes that events have, these and no others, and how many events do."""

    keys: tuple[str, ...]
    events: int


@dataclass(frozen=True, slots=True)
class AttributePair:
    """Two attributes, in the order of their keys, and how many events have both."""

    first: str
    second: str
    events: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicate:
    """A condition that filters hold: in how many conjunctions it stands, and how many events satisfy it."""

    text: str
    attributes: tuple[str, ...]
    uses: int
    events: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PredicatePair:
    """Two predicates that stand in one conjunction, in the order of their texts, and events that satisfy both."""

    first: str
    second: str
    uses: int
    events: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchCounts:
    """How many events the subscriptions want.

    Parameters
    ----------
    subscriptions : how many were measured
    rejected : how many were no subscriptions and left out
    distribution : numbers of events, rising, with how many subscriptions want so many
    heaviest : the subscriptions that want most, with how many events, the heaviest first
    """

    subscriptions: int
    rejected: int = 0
    distribution: tuple[tuple[int, int], ...] = ()
    heaviest: tuple[tuple[str, int], ...] = ()

    @property
    def never(self) -> int:
        """How many subscriptions want no event at all."""
        return self.distribution[0][1] if self.distribution and self.distribution[0][0] == 0 else 0

    @property
    def total(self) -> int:
        """Pairs of event and subscription."""
        return sum(events * count for events, count in self.distribution)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBounds:
    """How far from the truth a profile may be; all nothing for one that was counted exactly.

    Parameters
    ----------
    fraction : of the events that were looked at, drawn at random
    quantiles : most that the rank of a quantile of numbers is off, as a share of the numbers
    text_quantiles : the same for texts, in 95 of 100 cases
    distinct : relative standard error of the numbers of distinct values
    heavy : most that the count of a frequent value is off, as a share of the attribute's numbers or texts
    text_length : characters after which texts are cut, 0 if they are not
    """

    fraction: float = 1.0
    quantiles: float = 0.0
    text_quantiles: float = 0.0
    distinct: float = 0.0
    heavy: float = 0.0
    text_length: int = 0


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
    bounds: ErrorBounds = ErrorBounds()
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
        events : objects; what is no event is count_events as rejected
        subscriptions : filters by id
        schema : declared types; a value outside its type counts as missing
        """
        count = count_events(events, schema)
        return cls(
            events=len(count.records),
            rejected=count.rejected.total(),
            reasons=tuple(count.rejected.most_common(REASONS)),
            misfits=count.misfits,
            attributes=count.attributes(),
            attribute_count=len(count.tallies),
            sets=tuple(AttributeSet(keys, number) for keys, number in count.most_common_sets()),
            set_count=len(count.sets),
            pairs=tuple(AttributePair(*keys, number) for keys, number in count.pairs()),
            **({} if subscriptions is None else _measured(count, subscriptions)),
        )

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


def _measured(count: EventCounts, subscriptions: Mapping[str, Filter]) -> dict[str, Any]:
    found = measure_predicates(count.records, subscriptions)
    wanted = sorted(found.matches.items(), key=lambda each: (-each[1], each[0]))
    numbers: dict[int, int] = {}
    for _, number in wanted:
        numbers[number] = numbers.get(number, 0) + 1
    return {
        "predicates": tuple(
            Predicate(text=text, attributes=keys, uses=uses, events=events)
            for text, keys, uses, events in found.predicates
        ),
        "predicate_pairs": tuple(
            PredicatePair(first=first, second=second, uses=uses, events=events)
            for first, second, uses, events in found.pairs
        ),
        "matches": MatchCounts(
            subscriptions=len(subscriptions),
            distribution=tuple(sorted(numbers.items())),
            heaviest=tuple(each for each in wanted[:_HEAVIEST] if each[1]),
        ),
    }
