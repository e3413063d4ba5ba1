"""How events are distributed along the line of one attribute.

A distribution has atoms, which are single values with a share each, and pieces between rising cuts, over which the rest is
spread::

    ends      e0      e1            e2    e3
    pieces    |---1---|------2------|--3--|        piece j ends at cut j; before the first cut there are atoms only

Inside a piece, values that filters name by themselves have a share each. What remains is spread over the piece: between
two numbers evenly, otherwise so that the same share lies between any two neighbours of the values that filters name. So
the share below a cut never falls along the line, and the shares of disjoint intervals add up.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from math import ceil, floor, isfinite

from thatch.model.lines import (
    BOTTOM,
    RANK_NUMBER,
    Constraint,
    Cut,
    around,
    contains,
    first_point,
    intervals,
    is_single,
)
from thatch.model.selectivity.named import NamedValues

__all__ = ["Distribution"]

_STAND_INS = 200  # that stand for all numbers in an index
_AFTER = "\0"  # a text and this is the first text after it


class Distribution:
    """Shares of events along a line, from the bottom to the top.

    Parameters
    ----------
    atoms : the shares of single values, by their points
    ends : cuts, rising
    masses : the share of the piece that ends at each cut, nothing for the first
    rare : the share of a number, and of a text, that is named by itself and no atom, at most
    named : the values that filters name
    elements : values that an event has in the mean, if it has any
    is_whole : whether numbers are whole, all of the same share
    """

    def __init__(
        self,
        atoms: Mapping[Cut, float],
        ends: Sequence[Cut],
        masses: Sequence[float],
        *,
        rare: tuple[float, float] = (0.0, 0.0),
        named: NamedValues | None = None,
        elements: float = 1.0,
        is_whole: bool = False,
    ) -> None:
        self._atoms = sorted(atoms)
        self._below_atoms = [0.0, *accumulate(atoms[each] for each in self._atoms)]
        self._ends, self._masses = ends, masses
        self._below_pieces = [0.0, *accumulate(masses)]
        self._rare = rare
        self._named: Sequence[Cut] = named.points if named is not None else ()
        self._singles: Sequence[Cut] = named.singles if named is not None and not is_whole else ()
        self._missing, self._elements, self._is_whole = atoms.get(BOTTOM, 0.0), elements, is_whole

    def below(self, cut: Cut) -> float:
        """The share of events below a cut."""
        share = self._below_atoms[bisect_left(self._atoms, cut)]
        piece = bisect_left(self._ends, cut)
        if piece == len(self._ends):
            return min(share + self._below_pieces[-1], 1.0)
        if self._masses[piece]:
            share += self._inside(piece, cut)
        return min(share + self._below_pieces[piece], 1.0)

    def estimate(self, constraint: Constraint) -> float:
        """The share of events that satisfy a constraint."""
        return self._of_lists(sum(self._between(*ends) for ends in intervals(constraint)), constraint)

    def upper(self, constraint: Constraint) -> float:
        """The same, where an interval in which any value may lie has at least the share of one."""
        share = 0.0
        for low, high in intervals(constraint):
            first, last = bisect_right(self._ends, low), bisect_left(self._ends, high) + 1
            touched = self._below_pieces[min(last, len(self._masses))] - self._below_pieces[min(first, last)]
            least = min(self._rare[low[0] - RANK_NUMBER], touched) if low[0] >= RANK_NUMBER else 0.0
            share += max(self._between(low, high), least)
        return self._of_lists(share, constraint)

    def stand_ins(self) -> dict[Cut, float]:
        """Points that stand for all events, with their shares."""
        found = {place: self._atom(place) for place in self._atoms}
        for piece, mass in enumerate(self._masses):
            if mass:
                first, last = self._singles_in(piece)
                single = self._share_of_single(piece, last - first)
                found.update(dict.fromkeys(self._singles[first:last], single))
                rest = mass - (last - first) * single
                places = list(self._spread(piece, rest))
                for place in places:
                    found[place] = found.get(place, 0.0) + rest / len(places)
        return found

    def _between(self, low: Cut, high: Cut) -> float:
        """The share of values between two cuts."""
        if len(high) == 3 and is_single(low, high):
            return self._single(first_point(low))
        return max(self.below(high) - self.below(low), 0.0)

    def _of_lists(self, share: float, constraint: Constraint) -> float:
        """The share of events if `share` is that of values: one element of a list is enough."""
        present = 1.0 - self._missing
        if self._elements > 1.0 and present > 0.0:
            missing = self._missing if contains(constraint, BOTTOM) else 0.0
            inside = min(max(share - missing, 0.0) / present, 1.0)
            share = missing + present * (1.0 - float((1.0 - inside) ** self._elements))
        return min(share, 1.0)

    def _atom(self, place: Cut) -> float:
        at = bisect_left(self._atoms, place)
        is_atom = at < len(self._atoms) and self._atoms[at] == place
        return self._below_atoms[at + 1] - self._below_atoms[at] if is_atom else 0.0

    def _single(self, place: Cut) -> float:
        """The share of one value. One that nobody named by itself is taken as though somebody had."""
        low, high = around(place)
        share = max(self.below(high) - self.below(low), 0.0)
        if share:
            return share
        piece = bisect_left(self._ends, high)
        if piece == len(self._ends) or not self._masses[piece]:
            return 0.0
        first, last = self._singles_in(piece)
        return self._share_of_single(piece, last - first + 1)

    def _singles_in(self, piece: int) -> tuple[int, int]:
        """From where to where the points of a piece stand among those named by themselves."""
        return bisect_left(self._singles, self._ends[piece - 1]), bisect_left(
            self._singles, self._ends[piece]
        )

    def _share_of_single(self, piece: int, count: int) -> float:
        """The share of each of so many values that are named by themselves in a piece."""
        return min(self._rare[self._ends[piece - 1][0] - RANK_NUMBER], self._masses[piece] / (count + 1))

    def _inside(self, piece: int, cut: Cut) -> float:
        """The share of the part of a piece that lies below a cut in it."""
        mass = self._masses[piece]
        if cut == self._ends[piece]:
            return mass
        first, last = self._singles_in(piece)
        single = self._share_of_single(piece, last - first)
        below = bisect_left(self._singles, cut, first, last) - first
        return below * single + (mass - (last - first) * single) * self._position(piece, cut)

    def _position(self, piece: int, cut: Cut) -> float:
        """How far into a piece a cut lies, from 0 to 1."""
        low, high = self._ends[piece - 1], self._ends[piece]
        if _is_number(low) and _is_number(high) and _is_number(cut):
            if self._is_whole:
                return (_whole_below(cut) - _whole_below(low)) / (_whole_below(high) - _whole_below(low))
            return (cut[1] - low[1]) / (high[1] - low[1]) if high[1] > low[1] else 0.0
        first, last = bisect_left(self._named, low), bisect_left(self._named, high)
        place = (*cut[:2], 0)
        at = bisect_left(self._named, place, first, last)
        is_named = at < last and self._named[at] == place
        return (at - first + (1.0 if is_named else 0.5)) / (last - first + 1)

    def _spread(self, piece: int, mass: float) -> Iterator[Cut]:
        """Some points of a piece, to stand for what is spread over it."""
        low, high = self._ends[piece - 1], self._ends[piece]
        if _is_number(low) and _is_number(high):
            width = high[1] - low[1]
            parts = max(round(_STAND_INS * mass), 1)
            if self._is_whole:
                parts = min(parts, _whole_below(high) - _whole_below(low))
            for part in range(parts):
                value = low[1] + (width + self._is_whole) * (part + 0.5) / parts
                yield (RANK_NUMBER, high[1] if parts == 1 else floor(value) if self._is_whole else value, 0)
        elif len(high) == 3:
            yield (*high[:2], 0)
        else:
            yield first_point(low)
            first, last = bisect_left(self._named, low), bisect_left(self._named, high)
            yield from (
                (rank, value + _AFTER, 0)
                for rank, value, _ in self._named[first:last]
                if isinstance(value, str)
            )


def _is_number(cut: Cut) -> bool:
    return len(cut) == 3 and cut[0] == RANK_NUMBER and isfinite(cut[1])


def _whole_below(cut: Cut) -> int:
    """The greatest whole number below a cut."""
    value: float = cut[1]
    return floor(value) if cut[2] else ceil(value) - 1
