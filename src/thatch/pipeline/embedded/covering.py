"""Find the filters that others cover: boxes with the index of `thatch reduce`, all others by events that they match.

Both work at any size: the first takes about as many steps as there are boxes, the second a few events for each filter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
import pyarrow as pa

from thatch.model.filters import Filter
from thatch.model.schema import Schema
from thatch.pipeline.columns import ROW, SUBSCRIPTION
from thatch.pipeline.embedded.event_covering import EventCovering
from thatch.pipeline.embedded.work import ROWS_AT_ONCE
from thatch.pipeline.forms import FORM, write_form
from thatch.pipeline.transforms.reducing.arranging import Arranged
from thatch.pipeline.transforms.reducing.deciding import Decider
from thatch.pipeline.transforms.reducing.pieces import INPUT, make_local_gather
from thatch.pipeline.transforms.reducing.reduce import arrange_rows
from thatch.reduction.boxes import Ints
from thatch.reduction.coordinates.coordinates import MOST_BOXES

__all__ = ["CoveredFilters", "find_covered"]

_AT_ONCE = 500  # filters


@dataclass(frozen=True, slots=True)
class CoveredFilters:
    """Filters that others cover, by position, and those that were not checked.

    Parameters
    ----------
    by : for each covered filter those that cover it: one, or several of which each covers a part of its alternatives
    unchecked : filters beyond the budget, or undecided
    """

    by: dict[int, tuple[int, ...]]
    unchecked: tuple[int, ...]


def find_covered(
    filters: Sequence[Filter],
    schema: Schema | None,
    *,
    budget: float = inf,
    step: Callable[[int], object] = lambda _: None,
) -> CoveredFilters:
    """Find which of some different filters lie in others.

    Parameters
    ----------
    budget : the most steps; one looks for what covers one box of a filter, or takes some tests of one attribute together
    step : is called with the number of filters done
    """
    apart = [at for at, each in enumerate(filters) if each.has_checks or each.has_more_than(MOST_BOXES)]
    boxed = np.setdiff1d(np.arange(len(filters)), apart).tolist()
    by, large, unchecked = _find_by_boxes([filters[at] for at in boxed], schema, budget, step)
    found = {boxed[number]: tuple(boxed[other] for other in others) for number, others in by.items()}
    late = [boxed[number] for number in unchecked]
    asked = [*apart, *(boxed[number] for number in large)]
    if asked:
        named = set().union(*(filters[at].attributes() for at in asked))
        open_ones = set(boxed).difference(found, asked, late)
        asked += [at for at in open_ones if not named.isdisjoint(filters[at].attributes())]
        events = EventCovering(filters, schema, found)
        late += events.find(asked, budget - len(boxed), step)
        found = events.by
    return CoveredFilters(found, tuple(sorted(late)))


def _find_by_boxes(
    filters: Sequence[Filter], schema: Schema | None, budget: float, step: Callable[[int], object]
) -> tuple[dict[int, tuple[int, ...]], list[int], list[int]]:
    """Which filters boxes show to be covered, and by which; those with too many boxes; and those beyond the budget."""
    named = [
        {ROW: number, SUBSCRIPTION: str(number), FORM: write_form(each)}
        for number, each in enumerate(filters)
    ]
    rows = pa.Table.from_pylist(named, INPUT)
    found = arrange_rows(make_local_gather(lambda: iter(rows.to_batches(ROWS_AT_ONCE))), "volume", schema)
    position = found.names.column(ROW).to_numpy()
    checked = int(np.searchsorted(found.questions.starts[1:], budget, side="right"))
    by: dict[int, tuple[int, ...]] = {}
    by_several: dict[int, tuple[int, ...]] = {}
    # The largest first, since they cover most; then by those that come after, which is rare.
    every = np.arange(len(position))
    for order in (every, every[::-1]):
        asked = np.flatnonzero((order < checked) & ~np.isin(position[order], list(by)))
        for number, others in _find_in_order(found, order, asked, position, step):
            (by if len(others) == 1 and by.get(others[0]) != (number,) else by_several)[number] = others
    for number, others in by_several.items():
        alone = [other for other in others if filters[other].covers(filters[number])]
        by_several[number] = tuple(alone[:1]) or others
    for number in sorted(by_several, key=lambda each: len(by_several[each])):
        # Of filters that cover each other, one is needed.
        if not any(number in by.get(other, ()) for other in by_several[number]):
            by.setdefault(number, by_several[number])
    is_large = found.questions.counts()[:checked] == 0
    return by, position[:checked][is_large].tolist(), position[checked:].tolist()


def _find_in_order(
    found: Arranged, order: Ints, asked: Ints, position: Ints, step: Callable[[int], object]
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Find what covers filters among those before them in an order, of which the places `asked` are asked for."""
    from thatch.reduction.index import BoxIndex

    rows = found.rows.take(order)
    index, owners = BoxIndex.of(rows.boxes), position[order][rows.owners()]
    for start in range(0, len(asked), _AT_ONCE):
        places = asked[start : start + _AT_ONCE]
        part = found.questions.take(order[places])
        before = np.repeat(rows.starts[places], part.counts())
        decisions = Decider("pairwise", inf).decide(index, owners, part, before)
        for each in np.flatnonzero(decisions.codes == 1).tolist():
            proof = decisions.proofs.items[decisions.proofs.starts[each] : decisions.proofs.starts[each + 1]]
            yield int(position[order[places[each]]]), tuple(sorted(proof.tolist()))
        step(len(places))
