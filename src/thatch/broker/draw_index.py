"""The advertisements of all links, by index: which links draw a subscription."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

from thatch.broker.advertisement_index import KnownOffer
from thatch.broker.hop_numbers import HopNumbers
from thatch.broker.overlap import few_conjunctions, is_box, names_of, needed_names, overlaps
from thatch.matching.labelled import LabelledIndex
from thatch.model.filters import Filter

__all__ = ["DrawIndex"]

L = TypeVar("L", bound=Hashable)
_BITS = 62  # for names
_OPEN, _BOX = 1 << _BITS, 2 << _BITS  # the bits of open advertisements, and of those that are one box
_EVERY = 2 * _OPEN - 1
_MOST = 8  # intervals of one attribute of a box


class DrawIndex(Generic[L]):
    """Advertisements that came over links.

    The traits of an advertisement are the names that its events may give, 64 kinds of them: all if it is open. So a
    subscription that needs a name need not look at closed ones without it.
    """

    def __init__(self) -> None:
        self._index: LabelledIndex | None = None
        self._by_slot: dict[int, KnownOffer] = {}
        self._slots: dict[str, int] = {}
        self._free: list[int] = []
        self._links: HopNumbers[L] = HopNumbers()
        self._bits: dict[
            str, int
        ] = {}  # by name; never more than names that were advertised since all were gone

    def add(self, advertisement: KnownOffer, link: L) -> None:
        """Add an advertisement that came over a link; its id must be free."""
        if self._index is None:
            self._index = LabelledIndex(advertisement.filter.schema)
        slot = self._free.pop() if self._free else len(self._by_slot)
        if advertisement.closed:
            traits = self._traits_of(names_of(advertisement.filter))
        else:
            traits = _EVERY | (_BOX if is_box(advertisement.filter, intervals=_MOST) else 0)
        self._index.add(slot, advertisement.filter, self._links.take(link), traits)
        self._by_slot[slot] = advertisement
        self._slots[advertisement.id] = slot

    def remove(self, advertisement: KnownOffer) -> None:
        """Remove an advertisement."""
        slot = self._slots.pop(advertisement.id)
        assert self._index is not None
        self._links.give_back(self._index.label(slot))
        del self._by_slot[slot]
        if self._by_slot:
            self._index.remove(slot)
            self._free.append(slot)
        else:
            self._index = None
            self._free, self._bits = [], {}

    def links(self, wanted: Filter, among: Iterable[L] | None = None) -> set[L]:
        """The links, all or some, from which an advertisement came that overlaps a subscription."""
        if self._index is None:
            return set()
        numbers = map(self._links.find, self._links.all() if among is None else among)
        left = {number for number in numbers if number is not None}
        if not left:
            return set()

        def accept(slot: int) -> bool:
            each = self._by_slot[slot]
            return overlaps(each.filter, wanted, closed=each.closed)

        asked = [(each, self._needed(needed_names(each))) for each in few_conjunctions(wanted)]
        sure = _BOX if is_box(wanted, intervals=1) else 0
        return {self._links[number] for number in self._index.meeting_labels(asked, left, accept, sure)}

    def _traits_of(self, names: Iterable[str]) -> int:
        """Bits for names that closed advertisements give; names share them if there are many."""
        traits = 0
        for name in names:
            traits |= 1 << self._bits.setdefault(name, len(self._bits) % _BITS)
        return traits

    def _needed(self, names: Iterable[str]) -> int:
        """The bits of names that must be given; a name that no closed advertisement gives needs an open one."""
        needed = 0
        for name in names:
            bit = self._bits.get(name)
            needed |= _OPEN if bit is None else 1 << bit
        return needed
