"""All subscriptions with their boxes, in the order in which they are decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from thatch.pipeline.schemas import ROW
from thatch.pipeline.transforms.reducing.labels import boxes_of, labelled, volumes_of
from thatch.pipeline.transforms.reducing.lists import Grouped
from thatch.pipeline.transforms.reducing.pieces import SIZES, Written

__all__ = ["Arranged", "Order", "arranged"]

Order = Literal["arrival", "volume"]


@dataclass(frozen=True, slots=True, eq=False)
class Arranged:
    """Subscriptions by *place*: their turn to be decided, from 0.

    Parameters
    ----------
    told : `row`, `subscription`, `subscriber`, `attributes` of each
    rows : as what covers; a subscription with too many boxes has none
    questions : as what is to be covered; one without boxes cannot be
    """

    told: pa.Table
    rows: Grouped
    questions: Grouped


def arranged(rows: Written, questions: Written | None, order: Order) -> Arranged:
    """Bring subscriptions into their order.

    Parameters
    ----------
    questions : of those that as a question are not what they are as a row; None if there are none
    """
    number = rows.filters.column(ROW).to_numpy()
    covering, *others = _grouped([rows] if questions is None else [rows, questions])
    by_row = np.argsort(number)
    places = by_row
    if order == "volume":
        places = np.lexsort((number, -volumes_of(covering)))
    told = rows.filters.drop_columns(SIZES).combine_chunks().take(pa.array(places))
    ordered = covering.take(places)
    if questions is None:
        return Arranged(told, ordered, ordered)
    written_for = by_row[np.searchsorted(number, questions.filters.column(ROW).to_numpy(), sorter=by_row)]
    return Arranged(told, ordered, covering.replaced(written_for, others[0]).take(places))


def _grouped(several: list[Written]) -> list[Grouped]:
    """The boxes of rows, and of questions, with labels that hold for both."""
    sides = pa.concat_tables([each.sides for each in several]).unify_dictionaries().combine_chunks()
    axes = sides.column("axis").combine_chunks().indices.to_numpy(zero_copy_only=False).astype(np.int32)
    lows, highs = labelled(axes, *(sides.column(name).combine_chunks() for name in ("low", "high")))
    found = []
    start = 0
    for each in several:
        here = slice(start, start + each.sides.num_rows)
        sizes = each.filters.column(SIZES).combine_chunks()
        boxes = boxes_of(sizes.flatten().to_numpy(), axes[here], lows[here], highs[here])
        found.append(Grouped(sizes.offsets.to_numpy().astype(np.int64), boxes))
        start = here.stop
    return found
