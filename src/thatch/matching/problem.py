"""The matching problem: which filters of a set match an event?

An index holds filters under **places**, whole numbers that also give the order of the answer. Every index of the
family answers what `reference` defines, and is tested by being listed in `tests/matching`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from thatch.model.events import Record
from thatch.model.filters import Filter

__all__ = ["AccessHints", "Index", "Spread"]


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


# What is known of events, by the attribute's key: an index may lay out filters by it, and answers the same without.
AccessHints: TypeAlias = Callable[[str], Spread | None]


class Index(Protocol):
    """A set of filters that can be matched against events."""

    def add(self, place: int, filter: Filter) -> None:
        """Add a filter under a place that is free."""

    def remove(self, place: int) -> None:
        """Forget the filter at a place that is taken."""

    def match(self, record: Record) -> list[int]:
        """The places of all filters that match, lowest first."""

    def any(self, record: Record) -> bool:
        """Whether some filter matches; stops at the first."""

    def stats(self) -> dict[str, int]:
        """Sizes and work counters by name."""
