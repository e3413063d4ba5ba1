"""The two forms of negative space (jafarpour2008): exact (section 3), and approximate with at most k new boxes (section 4).

*Exact*: R is exactly what no active row covers, in disjoint boxes. R can grow with the number of rows to the power of the
number of axes.

*Approximate*: a subscription adds at most k boxes to R. R and the shares of the active rows partition the domain, where
the share of a row is what it removed first. A share lies inside its row, so R holds all that no active row covers, and a
row that misses R is covered. Not every covered row misses R.

Deviations from the paper:

- Figure 4, line 9 keeps `r(i) and s(i)`, not `s(i)`, and a row can be several boxes.
- Figure 7 starts from what is left of the row after all active rows are subtracted, and only revisits the passive rows
  that meet this, the largest first; the paper revisits all that meet the row.
- A box of which nothing is left is dropped, where figure 8 would add an empty one. By default k is a strict limit;
  `literal` lets the last split exceed it, as figure 8 does.
- The comment «covered only by s» on shares is wrong: later rows may overlap them.
- Boxes inside a single active box are found before we ask R, which misses some of them. Such a row may meet R, so it is
  revisited when the row that contains it goes.
- Promoted rows are forwarded once, after the loop of figure 9.
- Figure 7 must not be used on shares: it adds to R what is in the shares of other rows, and together with figure 9 leaves
  passive rows that nothing covers.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from thatch.errors import ParameterError, shown
from thatch.reduction.boxes import Ints, check_box, check_boxes
from thatch.reduction.negative_space import kernels
from thatch.reduction.negative_space.kernels import BENEFIT, COST, RATIO, choose
from thatch.reduction.negative_space.regions import ColumnBox, OwnedRegions, Regions
from thatch.reduction.negative_space.space import Domain, Space, growth

__all__ = ["METRICS", "ApproximateSpace", "ExactSpace", "Metric", "StreamCounts", "Unsubscription", "stream"]

Metric = Literal["ratio", "benefit", "cost"]
Unsubscription = Literal["hand back", "reassign"]

METRICS = {"ratio": RATIO, "benefit": BENEFIT, "cost": COST}


def _check_options(k: int, metric: Metric) -> None:
    """Refuse options that the approximate form cannot work with."""
    if k < 1:
        raise ParameterError("at least 1", shown(k), "k")
    if metric not in METRICS:
        raise ParameterError(f"one of {', '.join(METRICS)}", shown(metric), "metric")


class ExactSpace(Space):
    """Rows on one link; a row is passive if and only if it lies in the union of the active ones."""

    def _find_covering_rows(self, boxes: list[ColumnBox]) -> set[int] | None:
        return None if any(self._negative.meets(box) for box in boxes) else set()

    def _subtract(self, row: int, boxes: list[ColumnBox]) -> list[ColumnBox]:  # noqa: ARG002 - R does not know who removed what
        taken = []
        for box in boxes:
            slots = self._negative.find_meeting(box)
            if self._has_room(growth(slots, box)):
                self._pieces += len(slots) + self._negative.cut(slots, box)
                taken.append(box)
        return taken

    def _give_back(self, row: int) -> Regions:
        freed = Regions(len(self._columns))
        for box in self._clip(self._boxes[row]):
            # The boxes of a row may overlap: cut out what an earlier one added, and add it again.
            slots = freed.find_meeting(box)
            if self._has_room(freed.count + growth(slots, box)):
                freed.cut(slots, box)
            freed.extend(*self._dense(box))
        self._remove_covered(freed)
        self._return(freed)
        return freed


class ApproximateSpace(Space):
    """Rows on one link; a passive row lies in the union of the active ones.

    Parameters
    ----------
    k : most boxes that the splits for one row may create
    metric : which boxes of R to split first: those with the largest overlap per created box, those with the largest
        overlap, or those that create the fewest boxes
    dynamic : limit the i-th active row to k * i minus the number of boxes
    literal : split until more than k boxes were created, so that the last split may exceed the limit
    unsubscribe : "hand back" adds the share of a row to R (figure 9); "reassign" first gives the parts that other active
        rows cover to them, which keeps R smaller and takes longer
    pairwise : whether a row is also covered if single active boxes contain its boxes
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
        budget: int | None = None,
    ) -> None:
        _check_options(k, metric)
        if unsubscribe not in get_args(Unsubscription):
            raise ParameterError("'hand back' or 'reassign'", shown(unsubscribe), "unsubscribe")
        self._k = k
        self._metric = METRICS[metric]
        self._dynamic = dynamic
        self._literal = literal
        self._reassigns = unsubscribe == "reassign"
        self._pairwise = pairwise
        super().__init__(domain, budget)

    def _clear(self) -> None:
        super()._clear()
        self._shares = OwnedRegions(len(self._columns))

    def share(self, row: int) -> tuple[Ints, Ints]:
        """What an active row removed first, as lows and highs with a line for each box; a copy."""
        is_its = self._shares.owners == row
        lows, highs = self._shares.boxes()
        return lows[:, is_its].T.copy(), highs[:, is_its].T.copy()

    def stats(self) -> dict[str, int]:
        """Sizes and work counters by name."""
        return {**super().stats(), "shares": self._shares.count, "leaning": len(self._covering_rows)}

    def _regions(self) -> list[Regions]:
        return [*super()._regions(), self._shares]

    def _find_covering_rows(self, boxes: list[ColumnBox]) -> set[int] | None:
        covering = set()
        for box in boxes:
            slot = self._find_container(box)
            if slot >= 0:
                covering.add(int(self._active_boxes.owners[slot]))
            elif self._negative.meets(box):
                return None
        return covering

    def _find_container(self, box: ColumnBox) -> int:
        if not self._pairwise:
            return -1
        low, high = self._dense(box)
        return self._active_boxes.find_container(low[:, 0], high[:, 0])

    def _subtract(self, row: int, boxes: list[ColumnBox]) -> list[ColumnBox]:
        if not self._has_room(self._k + max((2 * len(box.columns) for box in boxes), default=0)):
            return []
        made = 0
        allowed = self._k * len(self._active) - self._negative.count if self._dynamic else self._k
        for box in boxes:
            slots = self._negative.find_meeting(box)
            chosen = np.empty(len(slots), np.int64)
            lows, highs = self._negative.lows, self._negative.highs
            n_chosen, made = choose(
                lows, highs, slots, *box, made, allowed, self._metric, self._literal, chosen
            )
            chosen = chosen[:n_chosen]
            self._shares.put(row, *self._negative.overlaps(chosen, box))
            self._pieces += n_chosen + self._negative.cut(chosen, box)
        return boxes

    def _give_back(self, row: int) -> Regions:
        freed = Regions(len(self._columns))
        freed.extend(*self._shares.take(np.array([row])))
        if self._reassigns:
            self._remove_covered(freed, self._shares)
        self._return(freed)
        return freed


# --- many subscriptions in one kernel call ------------------------------------------------------------------------------


class StreamCounts(NamedTuple):
    """Counts after some numbers of subscriptions; -1 if there were too many boxes before."""

    boxes: Ints  # in R
    subsumed: Ints  # covered subscriptions, by one other or by several
    covered: Ints  # subscriptions inside a single active one; 0 without `pairwise`


def stream(  # noqa: PLR0913 - the options of the approximate form
    lows: npt.ArrayLike,
    highs: npt.ArrayLike,
    domain: tuple[npt.ArrayLike, npt.ArrayLike],
    marks: npt.ArrayLike,
    *,
    k: int | None = None,
    metric: Metric = "ratio",
    literal: bool = False,
    dynamic: bool = False,
    pairwise: bool = False,
    most_boxes: int = 20_000_000,
) -> StreamCounts:
    """Subscribe boxes in order, exactly or with at most k new boxes each (jafarpour2008, figures 6 and 8).

    Parameters
    ----------
    lows, highs : a line for each subscription and a column for each axis; they lie in the domain
    domain : the low and the high end of every axis
    marks : ascending numbers of subscriptions after which to count
    k : None for the exact form; the following options are those of `ApproximateSpace`
    most_boxes : stop when there are more; a box takes 16 bytes for each axis
    """
    domain_low, domain_high = check_box(*domain, where="domain")
    low, high = check_boxes(lows, highs, axes=len(domain_low))
    if (low < domain_low).any() or (high > domain_high).any():
        raise ParameterError("Some boxes are not inside the domain", where="lows, highs")
    _check_options(1 if k is None else k, metric)
    at = np.asarray(marks, np.int64)
    if at.ndim != 1 or (np.diff(at) <= 0).any() or (len(at) and not 1 <= at[0] <= at[-1] <= len(low)):
        raise ParameterError(f"ascending numbers from 1 to {len(low)}", shown(marks), "marks")
    counts = np.full((len(at), 3), -1, np.int64)
    limit = -1 if k is None else k
    options = limit, METRICS[metric], literal, dynamic, pairwise, most_boxes
    kernels.stream(low, high, domain_low, domain_high, at, *options, counts)
    return StreamCounts(*counts.T.copy())
