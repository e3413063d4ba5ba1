"""The matching problem: which filters of a set match an event?

An index holds filters in **slots**, whole numbers that also give the order of the answer. Every index of the
family answers what `reference` defines, and is tested by being listed in `tests/matching`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from thatch.model.derived import derive
from thatch.model.events import Record
from thatch.model.filters import Filter
from thatch.model.lines import Constraint, Cut
from thatch.model.names import base_of

__all__ = ["AccessHints", "Answer", "Event", "Index", "IndexView", "Slots", "Spread"]

Slots: TypeAlias = npt.NDArray[np.int64]
Answer = TypeVar("Answer")


class Spread:
    """Where events lie on one attribute's line: points, each with the share of events that it stands for."""

    __slots__ = ("_below", "_points", "shares")

    def __init__(self, shares: Mapping[Cut, float]) -> None:
        self.shares = shares
        self._points = sorted(shares)
        # The share of events below each point, then that of all.
        self._below = [*accumulate((shares[each] for each in self._points), initial=0.0)]

    def derive(self, key: str) -> Spread:
        """Where the values of a derived attribute lie, if this is where those of the attribute itself do."""
        found: dict[Cut, float] = {}
        for place, share in self.shares.items():
            own = derive(key, place)
            found[own] = found.get(own, 0.0) + share
        return Spread(found)

    def share(self, constraint: Constraint) -> float:
        """The share of events that a constraint lets through."""
        below = [self._below[bisect_left(self._points, cut)] for cut in constraint]
        return sum(below[1::2]) - sum(below[::2])


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
            return None if base is None else base.derive(key)
        return known

    def share(self, key: str, constraint: Constraint) -> float:
        """The share of events that a predicate lets through; all of them where nothing is known."""
        known = self.spread(key)
        return 1.0 if known is None else known.share(constraint)


class Event(Protocol):
    """An event that can be read in two ways."""

    @property
    def plain(self) -> dict[str, Any]:
        """As it was given."""

    @property
    def record(self) -> Record:
        """Its places on the attributes' lines; raises `EventError` if it is no event."""


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
