"""What is known of values before any event is seen: the bounds of those that subscriptions name.

`Uniform` keeps all the values that filters name, which are too many here. It is given the least and the greatest number,
one that is not whole if there is any, and a sample: the values with the least checksums, which are the same however the
work is split. It then takes what only few events have for more likely than it is, as it does where it knows little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import isfinite
from typing import Any
from zlib import crc32

from thatch.model.conjunctions import Conjunction
from thatch.model.lines import Constraint, point
from thatch.model.profile import Profile
from thatch.model.schema import Schema
from thatch.reduction.merging import Density, Profiled, Uniform

__all__ = ["Domains", "density_of"]

_SAMPLE = 256  # numbers, and texts, of each attribute


@dataclass(slots=True)
class _Domain:
    """The values that are named for one attribute."""

    numbers: set[float] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)

    def add(self, numbers: Iterable[float], texts: Iterable[str]) -> None:
        self.numbers.update(numbers)
        self.texts.update(texts)
        if len(self.numbers) + len(self.texts) > 4 * _SAMPLE:
            self.thin()

    def thin(self) -> None:
        """Keep so many as are looked at."""
        broken = [each for each in self.numbers if not float(each).is_integer()]
        ends = [kind(values) for kind in (min, max) for values in (self.numbers, broken) if values]
        self.numbers = {*ends, *_least(self.numbers, lambda each: crc32(str(float(each)).encode()))}
        self.texts = set(_least(self.texts, lambda each: crc32(each.encode())))


def _least(values: Iterable[Any], checksum: Callable[[Any], int]) -> list[Any]:
    return sorted(values, key=lambda each: (checksum(each), each))[:_SAMPLE]


class Domains:
    """The values that are named for each attribute."""

    def __init__(self) -> None:
        self._by_key: dict[str, _Domain] = {}

    def observe(self, conjunction: Conjunction) -> None:
        """Know the values that a conjunction names."""
        for key, constraint in conjunction.constraints:
            values = [cut[1] for cut in constraint if len(cut) == 3]
            if values:
                texts = [each for each in values if isinstance(each, str)]
                numbers = [each for each in values if not isinstance(each, str) and isfinite(each)]
                self._by_key.setdefault(key, _Domain()).add(numbers, texts)

    def add(self, other: Domains) -> None:
        """Know what another knows, too."""
        for key, domain in other._by_key.items():
            self._by_key.setdefault(key, _Domain()).add(domain.numbers, domain.texts)

    def conjunction(self) -> Conjunction:
        """All that is known, as if one subscription had named it."""
        return Conjunction(tuple((key, self._named(key)) for key in sorted(self._by_key)))

    def _named(self, key: str) -> Constraint:
        domain = self._by_key[key]
        domain.thin()
        return (*map(point, sorted(domain.numbers)), *map(point, sorted(domain.texts)))


def density_of(domains: Domains, profile: Profile | None, schema: Schema | None) -> Density:
    """Where events lie: as in a profile, or else evenly between what is declared or named."""
    density = Uniform(schema) if profile is None else Profiled(profile, schema)
    density.observe(domains.conjunction())
    return density
