"""The values that filters name on one attribute: its domain, where neither a profile nor a schema tells more."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable
from math import isfinite
from zlib import crc32

from thatch.model.lines import RANK_NUMBER, RANK_TEXT, Constraint, Cut, first_point, intervals, is_single

__all__ = ["NamedValues"]


class NamedValues:
    """The numbers and texts at the ends of intervals, as points in order, and which kinds of value filters ask about.

    A value is named *by itself* where an interval holds nothing else, or leaves out nothing else (`x = 5`, `x in (5, 6)`,
    `x != 5`), and otherwise as the end of a range. Infinite numbers bound nothing and are left out.

    Attributes
    ----------
    points : of all named values
    singles : of those named by themselves
    ranks : the parts of the line that filters ask about: missing, null, booleans, NaN, numbers, texts
    is_whole : whether all numbers are
    """

    __slots__ = ("_left_out", "is_whole", "points", "ranks", "singles")

    def __init__(self) -> None:
        self.points: list[Cut] = []
        self.singles: list[Cut] = []
        self.ranks: set[int] = set()
        self.is_whole = True
        self._left_out: Collection[Cut] = ()

    @property
    def numbers(self) -> int:
        """How many numbers are named; their points come before those of texts."""
        return bisect_left(self.points, (RANK_TEXT,))

    def add(self, constraint: Constraint, *, is_whole: bool = False) -> bool:
        """Add what a constraint names; True if that is anything new.

        Parameters
        ----------
        is_whole : whether the line has whole numbers only: 5 is then the interval from 5 to 6
        """
        before = (len(self.points), len(self.singles), len(self.ranks))
        for low, high in intervals(constraint[1:-1]):  # gaps, such as that of `x != 5`
            if len(low) == 3 and is_single(low, high):
                self._add_single(low)
        for low, high in intervals(constraint):
            self._add_ranks(low[0], high[0] - (len(high) == 1))
            is_one = (
                is_whole and len(low) == len(high) == 3 and high[1] - low[1] == 1 and low[2] == high[2] == 0
            )
            if is_one or (len(high) == 3 and is_single(low, high)):
                self._add_single(first_point(low))
                continue
            for cut in (low, high):
                if len(cut) == 3:
                    self._insert(self.points, (cut[0], cut[1], 0))
        return before != (len(self.points), len(self.singles), len(self.ranks))

    def _add_ranks(self, first: int, last: int) -> None:
        if last - first <= 1:  # a wider interval is about being present, not about one kind of value
            self.ranks.update(range(first, last + 1))
        else:
            self.ranks.update({first, last} & {RANK_NUMBER, RANK_TEXT})

    def _add_single(self, place: Cut) -> None:
        self._insert(self.points, place)
        if place not in self._left_out:
            self._insert(self.singles, place)

    def leave_out(self, points: Collection[Cut]) -> None:
        """Do not count these points among those named by themselves: their shares are known."""
        self._left_out = points
        self.singles = [each for each in self.singles if each not in points]

    def _insert(self, points: list[Cut], place: Cut) -> None:
        if place[0] == RANK_NUMBER:
            if not isfinite(place[1]):
                return
            self.is_whole = self.is_whole and float(place[1]).is_integer()
        at = bisect_left(points, place)
        if at == len(points) or points[at] != place:
            points.insert(at, place)

    def update(self, other: NamedValues) -> None:
        """Add all that another has."""
        self.points = sorted({*self.points, *other.points})
        self.singles = sorted({*self.singles, *other.singles})
        self.ranks |= other.ranks
        self.is_whole = self.is_whole and other.is_whole

    def thin(self, most: int) -> None:
        """Keep a sample of at most so many numbers, with the extreme ones, and so many texts.

        The values with the least checksums are kept, so that a sample does not depend on how the work was split.
        """
        numbers, texts = self.points[: self.numbers], self.points[self.numbers :]
        kept = {*numbers[:1], *numbers[-1:], *_least(numbers, most), *_least(texts, most)}
        if len(kept) < len(self.points):
            self.points = sorted(kept)
            self.singles = [each for each in self.singles if each in kept]


def _least(points: Iterable[Cut], most: int) -> list[Cut]:
    def checksum(place: Cut) -> tuple[int, Cut]:
        value = place[1] if place[0] == RANK_TEXT else str(float(place[1]))
        return crc32(value.encode()), place

    return sorted(points, key=checksum)[:most]
