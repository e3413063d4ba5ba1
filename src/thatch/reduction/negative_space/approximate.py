"""Approximate negative space (paper 001, section 4): a subscription adds at most k boxes to R.

R and what each active row took away first, its share, are a partition of the domain, and a share lies inside its row.
So R holds all that no active row covers, and a row that misses R is covered; not every covered row misses R.

Deviations from figures 8 and 9. A box of which nothing is left is dropped, where the paper would add an empty one. By
default the limit is kept; `literal` lets the last split pass it, as figure 8 does. The comment «covered only by s» of
the shares is not true: later rows may overlap them. What single active boxes contain is found before R is asked, since
R alone misses some of it; such a row may meet R, so it is looked at again when the row that contains it goes. Promoted
rows are forwarded once, after the loop of figure 9. Figure 7 must not be used on shares: it puts into R what is in
other rows' shares, and once mixed with figure 9 leaves passive rows that nobody covers.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.reduction.boxes import Ints
from thatch.reduction.negative_space.kernels import BENEFIT, COST, RATIO, choose
from thatch.reduction.negative_space.regions import OwnedRegions, Regions, Sides
from thatch.reduction.negative_space.space import Domain, Space

__all__ = ["METRICS", "ApproximateNegativeSpace", "Metric", "Unsubscription"]

Metric = Literal["ratio", "benefit", "cost"]
Unsubscription = Literal["hand back", "reassign"]

METRICS = {"ratio": RATIO, "benefit": BENEFIT, "cost": COST}


class ApproximateNegativeSpace(Space):
    """Rows on one link; a passive row lies in the union of the active ones.

    Parameters
    ----------
    k : most boxes that the splits for one row may make
    metric : which boxes of R are split first: those with the largest overlap for each box made, with the largest
        overlap, or that make the fewest boxes
    dynamic : let the limit for the i-th active row be k * i less the boxes there are
    literal : split while no more than k boxes were made, so that the last split may pass the limit
    unsubscribe : "hand back" gives the share of a row to R (figure 9); "reassign" first gives to other active rows what
        they cover of it, which keeps R smaller and takes longer
    pairwise : whether a row is also covered where single active boxes contain its boxes
    """

    def __init__(
        self,
        k: int,
        *,
        metric: Metric = "ratio",
        dynamic: bool = False,
        literal: bool = False,
        unsubscribe: Unsubscription = "hand back",
        pairwise: bool = True,
        domain: Domain | None = None,
    ) -> None:
        if k < 1:
            raise ParameterError("at least 1", shown(k), "k")
        if metric not in METRICS:
            raise ParameterError(f"one of {', '.join(METRICS)}", shown(metric), "metric")
        if unsubscribe not in get_args(Unsubscription):
            raise ParameterError("'hand back' or 'reassign'", shown(unsubscribe), "unsubscribe")
        self._k = k
        self._metric = METRICS[metric]
        self._dynamic = dynamic
        self._literal = literal
        self._reassigns = unsubscribe == "reassign"
        self._pairwise = pairwise
        super().__init__(domain)

    def _forget(self) -> None:
        super()._forget()
        self._shares = OwnedRegions(len(self._columns))
        self._leaning: dict[
            int, set[int]
        ] = {}  # of active rows: the passive rows with a box inside one of theirs
        self._leans_on: dict[int, set[int]] = {}  # the other way round

    def share(self, row: int) -> tuple[Ints, Ints]:
        """What an active row took away first, as lows and highs with a row for each box; a copy."""
        is_its = self._shares.owners == row
        lows, highs = self._shares.boxes()
        return lows[:, is_its].T.copy(), highs[:, is_its].T.copy()

    def stats(self) -> dict[str, int]:
        """Sizes and work counters by name."""
        return {**super().stats(), "shares": self._shares.count, "leaning": len(self._leans_on)}

    def _stores(self) -> list[Regions]:
        return [*super()._stores(), self._shares]

    def _leans_on_if_covered(self, boxes: list[Sides]) -> set[int] | None:
        leans_on = set()
        for box in boxes:
            slot = self._container(box)
            if slot >= 0:
                leans_on.add(int(self._covering.owners[slot]))
            elif self._negative.meets(box):
                return None
        return leans_on

    def _container(self, box: Sides) -> int:
        if not self._pairwise:
            return -1
        low, high = self._dense(box)
        return self._covering.containing(low[:, 0], high[:, 0])

    def _take_away(self, row: int, boxes: list[Sides]) -> None:
        made = 0
        allowed = self._k * len(self._active) - self._negative.count if self._dynamic else self._k
        for box in boxes:
            slots = self._negative.meeting(box)
            chosen = np.empty(len(slots), np.int64)
            lows, highs = self._negative.lows, self._negative.highs
            n_chosen, made = choose(
                lows, highs, slots, *box, made, allowed, self._metric, self._literal, chosen
            )
            chosen = chosen[:n_chosen]
            self._shares.put(row, *self._negative.overlaps(chosen, box))
            self._pieces += n_chosen + self._negative.cut(chosen, box)

    def _give_back(self, row: int) -> Regions:
        freed = Regions(len(self._columns))
        freed.extend(*self._shares.take(np.array([row])))
        if self._reassigns and freed.count:
            for slot in self._covering.meeting(self._sides(*freed.hull())):
                box = self._sides(self._covering.lows[:, slot], self._covering.highs[:, slot])
                slots = freed.meeting(box)
                self._shares.put(int(self._covering.owners[slot]), *freed.overlaps(slots, box))
                freed.cut(slots, box)
                if not freed.count:
                    break
        self._negative.extend(*freed.boxes())
        return freed
