"""Exact negative space (paper 001, section 3): R is exactly what no active row covers, in disjoint boxes.

Every question is answered by a look at R, which may grow with the number of rows to the power of the number of axes.

Deviations: figure 4, line 9 keeps `r(i) and s(i)`, not `s(i)`. Figure 7 is entered with what the row leaves after all
active rows were taken away, and looks again only at the passive rows that meet that, the largest first; the paper looks
at all that meet the row. A row may be several boxes.
"""

from __future__ import annotations

from thatch.reduction.negative_space.regions import Regions, Sides
from thatch.reduction.negative_space.space import Space

__all__ = ["NegativeSpace"]


class NegativeSpace(Space):
    """Rows on one link; a row is passive if and only if it lies in the union of the active ones.

    Rows that take nothing away from R («opaque» ones) are no part of that union.
    """

    def _leans_on_if_covered(self, boxes: list[Sides]) -> set[int] | None:
        return None if any(self._negative.meets(box) for box in boxes) else set()

    def _take_away(self, row: int, boxes: list[Sides]) -> None:  # noqa: ARG002 - R does not know who took what
        for box in boxes:
            slots = self._negative.meeting(box)
            self._pieces += len(slots) + self._negative.cut(slots, box)

    def _give_back(self, row: int) -> Regions:
        freed = Regions(len(self._columns))
        for box in self._inside(self._boxes[row]):
            # Its boxes may overlap: what an earlier one has is cut out and comes in again.
            freed.cut(freed.meeting(box), box)
            freed.extend(*self._dense(box))
        if freed.count:
            for slot in self._covering.meeting(self._sides(*freed.hull())):
                box = self._sides(self._covering.lows[:, slot], self._covering.highs[:, slot])
                freed.cut(freed.meeting(box), box)
                if not freed.count:
                    break
        self._negative.extend(*freed.boxes())
        return freed
