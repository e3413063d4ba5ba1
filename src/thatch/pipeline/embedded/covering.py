"""Find the filters that others cover, with the index of `thatch reduce`: at any size, in about as many steps as boxes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
import pyarrow as pa

from thatch.model.filters import Filter
from thatch.model.schema import Schema
from thatch.pipeline.columns import ROW, SUBSCRIPTION
from thatch.pipeline.embedded.work import ROWS_AT_ONCE
from thatch.pipeline.forms import FORM, write_form
from thatch.pipeline.transforms.reducing.deciding import Decider
from thatch.pipeline.transforms.reducing.pieces import INPUT, make_local_gather
from thatch.pipeline.transforms.reducing.reduce import arrange_rows

__all__ = ["CoveredFilters", "find_covered"]

_AT_ONCE = 500  # filters


@dataclass(frozen=True, slots=True)
class CoveredFilters:
    """Filters that others cover, by position, and those that were not checked.

    Parameters
    ----------
    by : for each covered filter those that cover it: one, or several of which each covers a part of its alternatives
    unchecked : filters beyond the budget, or with too many boxes
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
    budget : the most steps; one looks for what covers one box of a filter
    step : is called with the number of filters done
    """
    from thatch.reduction.index import BoxIndex

    named = [
        {ROW: number, SUBSCRIPTION: str(number), FORM: write_form(each)}
        for number, each in enumerate(filters)
    ]
    rows = pa.Table.from_pylist(named, INPUT)
    # The largest first: what covers a filter comes before it.
    found = arrange_rows(make_local_gather(lambda: iter(rows.to_batches(ROWS_AT_ONCE))), "volume", schema)
    index, owners = BoxIndex.of(found.rows.boxes), found.rows.owners()
    position = found.names.column(ROW).to_numpy()
    decider = Decider("pairwise", inf)
    by: dict[int, tuple[int, ...]] = {}
    steps = found.questions.starts[1:]
    done = int(np.searchsorted(steps, budget, side="right"))
    for start in range(0, done, _AT_ONCE):
        turns = np.arange(start, min(start + _AT_ONCE, done))
        part = found.questions.take(turns)
        before = np.repeat(found.rows.starts[turns], part.counts())
        decisions = decider.decide(index, owners, part, before)
        for turn in np.flatnonzero(decisions.codes == 1).tolist():
            proof = decisions.proofs.items[decisions.proofs.starts[turn] : decisions.proofs.starts[turn + 1]]
            by[int(position[turns[turn]])] = tuple(sorted(position[proof].tolist()))
        step(len(turns))
    is_large = found.questions.counts()[:done] == 0
    unchecked = np.concatenate((position[:done][is_large], position[done:]))
    return CoveredFilters(by, tuple(sorted(unchecked.tolist())))
