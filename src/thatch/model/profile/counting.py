"""Count events exactly, one by one: the slow definition of every number in a profile.

An event has an attribute if the attribute occurs in it or in an element of its lists; values are counted per element.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeVar

from thatch.errors import EventError
from thatch.model.conjunctions import Conjunction
from thatch.model.events import Record, read_event
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.lines import BOTTOM, RANK_NUMBER, RANK_TEXT, Cut
from thatch.model.printing import printed_conditions
from thatch.model.profile.records import (
    STEPS,
    AttributePair,
    AttributeProfile,
    AttributeSet,
    MatchCounts,
    Predicate,
    PredicatePair,
)
from thatch.model.schema import Schema
from thatch.model.values import canonical_number

__all__ = [
    "HEAVY",
    "PAIRED",
    "PREDICATE_PAIRS",
    "REASON",
    "REASONS",
    "SETS",
    "EventCounts",
    "Predicates",
    "count_events",
    "measure_subscriptions",
    "pair_text",
    "predicates_of",
    "values_in",
]

_T = TypeVar("_T", str, tuple[str, ...], tuple[str, str])
_MOST_PAIRED = 16  # predicates of one conjunction whose pairs are taken: pairs grow with the square

Predicates = list[tuple[str, tuple[str, ...]]]
HEAVY = 100  # most frequent values that are kept of an attribute
SETS = 1_000  # most frequent sets of attributes that are kept
PAIRED = 50  # most frequent attributes whose pairs are counted
PREDICATE_PAIRS = 1_000  # pairs of predicates that are measured
REASONS = 5  # most frequent reasons for rejects that are kept
REASON = 200  # characters of one
_HEAVIEST = 100  # subscriptions that want most events


def predicates_of(filter: Filter) -> Iterator[tuple[Predicates, list[tuple[str, str]]]]:
    """The predicates of each conjunction with their attributes, and pairs of those that stand together.

    A predicate is canonical text. It holds one attribute's constraint, or a check that is no interval, such as a general
    wildcard or a geofence; a pair is ordered by text.
    """
    for conjunction in filter.outer_conjunctions:
        found = _of_conjunction(conjunction, filter.schema)
        texts = sorted(text for text, _ in found)
        yield found, list(combinations(texts[:_MOST_PAIRED], 2))


def _of_conjunction(conjunction: Conjunction, schema: Schema | None) -> Predicates:
    conditions = printed_conditions(conjunction, schema)
    return list({each.text: tuple(sorted(each.keys)) for each in conditions}.items())


def values_in(record: Record) -> Iterator[tuple[str, Cut]]:
    """Every value of an event with its attribute, element by element; misfits, which count as missing, are left out."""
    for key, place in record.points.items():
        if place != BOTTOM:
            yield key, place
    for choice in record.choices:
        for element in choice.elements:
            yield from values_in(element)


@dataclass(slots=True)
class EventCounts:
    """The counts of some events."""

    events: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    misfits: int = 0
    tallies: dict[str, list[Cut]] = field(default_factory=dict)
    present: Counter[str] = field(default_factory=Counter)
    sets: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def add(self, record: Record) -> None:
        """Count one more event."""
        self.events += 1
        self.misfits += record.misfits
        keys = set()
        for key, place in values_in(record):
            self.tallies.setdefault(key, []).append(place)
            keys.add(key)
        self.present.update(keys)
        self.sets[tuple(sorted(keys))] += 1

    def attributes(self) -> tuple[AttributeProfile, ...]:
        """All attributes, the most frequent first."""
        found = [_attribute(key, self.present[key], places) for key, places in self.tallies.items()]
        return tuple(sorted(found, key=lambda each: (-each.events, each.key)))

    def most_common_sets(self) -> tuple[AttributeSet, ...]:
        return tuple(AttributeSet(*each) for each in _most_common(self.sets)[:SETS])

    def pairs(self) -> tuple[AttributePair, ...]:
        """Pairs of the most frequent attributes that came together, the most frequent first."""
        kept = {key for key, _ in _most_common(self.present)[:PAIRED]}
        together: Counter[tuple[str, str]] = Counter()
        for keys, number in self.sets.items():
            for pair in combinations([key for key in keys if key in kept], 2):
                together[pair] += number
        return tuple(AttributePair(*pair, number) for pair, number in _most_common(together))

    def reject(self, reason: str) -> None:
        """Count a row that is no event."""
        self.rejected[reason[:REASON]] += 1

    def profile_fields(self) -> dict[str, Any]:
        """The fields of a profile about events."""
        return {
            "events": self.events,
            "rejected": self.rejected.total(),
            "reasons": tuple(_most_common(self.rejected)[:REASONS]),
            "misfits": self.misfits,
            "attributes": self.attributes(),
            "attribute_count": len(self.tallies),
            "sets": self.most_common_sets(),
            "set_count": len(self.sets),
            "pairs": self.pairs(),
        }


def _most_common(counts: Mapping[_T, int]) -> list[tuple[_T, int]]:
    """Counts, the highest first, equal ones in the order of what was counted."""
    return sorted(counts.items(), key=lambda each: (-each[1], each[0]))


def count_events(
    events: Iterable[Mapping[str, Any]], schema: Schema | None
) -> tuple[EventCounts, list[Record]]:
    """Count events one by one; also their records."""
    count = EventCounts()
    records: list[Record] = []
    for event in events:
        try:
            record = read_event(event, schema)
        except EventError as error:
            count.reject(str(error))
        else:
            count.add(record)
            records.append(record)
    return count, records


def _attribute(key: str, events: int, places: list[Cut]) -> AttributeProfile:
    ranks = Counter(place[0] for place in places)
    numbers = sorted(place[1] for place in places if place[0] == RANK_NUMBER)
    texts = sorted(place[1] for place in places if place[0] == RANK_TEXT)
    often = Counter(place[1:2] for place in places if place[0] >= RANK_NUMBER)
    heavy = sorted(often.items(), key=lambda each: (-each[1], isinstance(each[0][0], str), each[0]))[:HEAVY]
    return AttributeProfile(
        key=key,
        events=events,
        values=len(places),
        nulls=ranks[1],
        falses=ranks[2],
        trues=ranks[3],
        nans=ranks[4],
        numbers=len(numbers),
        texts=len(texts),
        distinct=len(often) + sum(1 for rank in ranks if rank < RANK_NUMBER),
        quantiles=tuple(float(each) for each in _at_steps(numbers)),
        text_quantiles=tuple(_at_steps(texts)),
        heavy=tuple((_canonical(value), number) for (value,), number in heavy),
        wide=sum(1 for number in numbers if isinstance(number, int) and float(number) != number),
        shortest=min(map(len, texts), default=0),
        longest=max(map(len, texts), default=0),
        characters=sum(map(len, texts)),
    )


def _canonical(value: Any) -> Any:
    return value if isinstance(value, str) else canonical_number(value)


def _at_steps(ordered: list[Any]) -> list[Any]:
    """The least value, and at every step the first that so large a share does not exceed."""
    if not ordered:
        return []
    return [ordered[max(-(-step * len(ordered) // STEPS) - 1, 0)] for step in range(STEPS + 1)]


def measure_subscriptions(records: list[Record], subscriptions: Mapping[str, Filter]) -> dict[str, Any]:
    """The fields of a profile about subscriptions: match every predicate, frequent pair and filter with every event."""
    attributes: dict[str, tuple[str, ...]] = {}
    uses: Counter[str] = Counter()
    pair_uses: Counter[tuple[str, str]] = Counter()
    schema = next((each.schema for each in subscriptions.values()), None)
    for each in subscriptions.values():
        for predicates, pairs in predicates_of(each):
            attributes.update(predicates)
            uses.update(text for text, _ in predicates)
            pair_uses.update(pairs)

    def events(filter: Filter) -> int:
        return sum(filter.holds(record) for record in records)

    wanted = _most_common({identity: events(each) for identity, each in subscriptions.items()})
    return {
        "predicates": tuple(
            Predicate(
                text=text, attributes=attributes[text], uses=number, events=events(parse(text, schema=schema))
            )
            for text, number in _most_common(uses)
        ),
        "predicate_pairs": tuple(
            PredicatePair(
                first=first,
                second=second,
                uses=number,
                events=events(parse(pair_text(first, second), schema=schema)),
            )
            for (first, second), number in _most_common(pair_uses)[:PREDICATE_PAIRS]
        ),
        "matches": MatchCounts(
            subscriptions=len(subscriptions),
            distribution=tuple(sorted(Counter(number for _, number in wanted).items())),
            heaviest=tuple(each for each in wanted[:_HEAVIEST] if each[1]),
        ),
    }


def pair_text(first: str, second: str) -> str:
    """Two predicates as one filter."""
    return f"{first} and {second}"
