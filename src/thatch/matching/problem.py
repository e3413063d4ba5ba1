"""The matching problem: which filters of a set match an event?

An index holds filters in **slots**, whole numbers that also give the order of the answer. Every index of the
family answers what `reference` defines, and is tested by being listed in `tests/matching`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from thatch.model.derived import derive
from thatch.model.events import Record
from thatch.model.filters import Filter
from thatch.model.lines import RANK_NUMBER, RANK_TEXT, Constraint, Cut, intervals
from thatch.model.names import base_of

__all__ = ["AccessHints", "Answer", "Index", "IndexView", "Slots", "Spread"]

Slots: TypeAlias = npt.NDArray[np.int64]
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Where events lie on one attribute's line: points with the shares of events that they stand for.

    Parameters
    ----------
    singles : shares of missing, null, false, true and NaN
    numbers, number_shares : points, rising
    texts, text_shares : points in UTF-8, rising
    """

    singles: npt.NDArray[np.float64]
    numbers: npt.NDArray[np.float64]
    number_shares: npt.NDArray[np.float64]
    texts: tuple[bytes, ...]
    text_shares: npt.NDArray[np.float64]

    @classmethod
    def of(cls, shares: Mapping[Cut, float]) -> Spread:
        """The spread of these points, each with its share of events."""
        numbers = sorted(
            (float(place[1]), share) for place, share in shares.items() if place[0] == RANK_NUMBER
        )
        texts = sorted((place[1].encode(), share) for place, share in shares.items() if place[0] == RANK_TEXT)
        return cls(
            np.array([shares.get((rank,), 0.0) for rank in range(RANK_NUMBER)]),
            np.array([number for number, _ in numbers], np.float64),
            np.array([share for _, share in numbers], np.float64),
            tuple(text for text, _ in texts),
            np.array([share for _, share in texts], np.float64),
        )

    def derived(self, key: str) -> Spread:
        """Where the values of a derived attribute lie, if this is where those of the attribute itself do."""
        places: list[tuple[Cut, float]] = [
            ((rank,), share) for rank, share in enumerate(self.singles.tolist())
        ]
        numbers = zip(self.numbers.tolist(), self.number_shares.tolist(), strict=True)
        places += [((RANK_NUMBER, number, 0), share) for number, share in numbers]
        texts = zip(self.texts, self.text_shares.tolist(), strict=True)
        places += [((RANK_TEXT, text.decode(), 0), share) for text, share in texts]
        found: dict[Cut, float] = {}
        for place, share in places:
            own = derive(key, place)
            found[own] = found.get(own, 0.0) + share
        return Spread.of(found)

    def share(self, constraint: Constraint) -> float:
        """The share of events that a constraint lets through."""
        return sum(self._below(high) - self._below(low) for low, high in intervals(constraint))

    def _below(self, cut: Cut) -> float:
        """The share of events below a cut."""
        rank = cut[0]
        below = float(self.singles[:rank].sum())
        if rank >= RANK_NUMBER:
            end = len(self.numbers)
            if rank == RANK_NUMBER:
                search = bisect_right if len(cut) == 3 and cut[2] else bisect_left
                end = 0 if len(cut) == 1 else search(self.numbers, cut[1])
            below += float(self.number_shares[:end].sum())
        if rank >= RANK_TEXT:
            end = len(self.texts)
            if rank == RANK_TEXT:
                search = bisect_right if len(cut) == 3 and cut[2] else bisect_left
                end = 0 if len(cut) == 1 else search(self.texts, cut[1].encode())
            below += float(self.text_shares[:end].sum())
        return below


@dataclass(frozen=True, slots=True, eq=False)
class AccessHints:
    """What planning tells an index: by which predicate a filter is found, and in which order the others are tested.

    A predicate of a conjunction comes the earlier the fewer events satisfy it; an index that tests them in one order of
    attributes takes `order`. An index lays out filters by this, and answers the same without.

    Parameters
    ----------
    spreads : where events lie, by the attribute's key; of attributes that are not there nothing is known
    order : attributes, those in front whose predicates a plan tests first; none if nothing is known of filters
    """

    spreads: Mapping[str, Spread] = field(default_factory=dict)
    order: tuple[str, ...] = ()

    def spread(self, key: str) -> Spread | None:
        """Where events lie on the line of an attribute, or of one that is derived from it; None if that is not known."""
        known = self.spreads.get(key)
        if known is None and key[-1] == ")":
            base = self.spreads.get(base_of(key))
            return None if base is None else base.derived(key)
        return known

    def share(self, key: str, constraint: Constraint) -> float:
        """The share of events that a predicate lets through; all of them where nothing is known."""
        known = self.spread(key)
        return 1.0 if known is None else known.share(constraint)


class Index(Protocol):
    """A set of filters that can be matched against events."""

    def add(self, slot: int, filter: Filter, /) -> None:
        """Add a filter at a free slot."""

    def remove(self, slot: int, /) -> None:
        """Remove the filter at a slot."""

    def match(self, record: Record) -> list[int]:
        """The slots of all filters that match, lowest first."""

    def any(self, record: Record) -> bool:
        """Whether some filter matches; stops at the first."""

    def stats(self) -> dict[str, int]:
        """Sizes and work counters by name."""


class IndexView(Protocol):
    """An index after one change. It never changes: any number of threads may read it without a lock."""

    def match(self, record: Record) -> Slots:
        """The slots of all filters that match, lowest first."""

    def match_plain(
        self, event: dict[str, Any], answer: Callable[[Slots], Answer], *, stop: bool = False
    ) -> Answer | None:
        """Match an event as it was given, of undeclared types; None if it has to be read first.

        Parameters
        ----------
        answer : makes the answer from the slots in order; the array is valid during the call only
        stop : one of the matching slots is enough
        """

    def any(self, record: Record) -> bool:
        """Whether some filter matches; stops at the first."""
