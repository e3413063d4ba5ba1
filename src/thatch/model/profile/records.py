"""The parts of a profile: attributes, predicates, what subscriptions want, and how exact the numbers are."""

from __future__ import annotations

from dataclasses import dataclass, field

from thatch.model.lines import Literal

__all__ = [
    "STEPS",
    "AttributePair",
    "AttributeProfile",
    "AttributeSet",
    "ErrorBounds",
    "MatchCounts",
    "Predicate",
    "PredicatePair",
]

STEPS = 200  # between the least and the greatest quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeProfile:
    """What was seen of one attribute. A list counts by its elements, but once as an event that has the attribute.

    Parameters
    ----------
    key : the attribute
    events : events that have it, null included
    values : nulls, falses, trues, NaNs, numbers and texts together
    distinct : how many different values
    quantiles : of the numbers, at equal steps from the least to the greatest; empty if there are none
    text_quantiles : of the texts, which may be cut at their end
    heavy : the most frequent numbers and texts with their counts, the most frequent first
    wide : whole numbers that no double equals, which quantiles and frequent values take as the nearest double
    shortest, longest, characters : lengths of the texts: the least, the greatest, and all together
    """

    key: str
    events: int
    values: int
    nulls: int = 0
    falses: int = 0
    trues: int = 0
    nans: int = 0
    numbers: int = 0
    texts: int = 0
    distinct: int
    quantiles: tuple[float, ...] = field(default=(), repr=False)
    text_quantiles: tuple[str, ...] = field(default=(), repr=False)
    heavy: tuple[tuple[Literal, int], ...] = ()
    wide: int = 0
    shortest: int = 0
    longest: int = 0
    characters: int = 0


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
