"""Second pass: rows of one tail come together in a task, which tells their components and the gaps between them.

A component is told as a row of its own, after the one before it on its line. What is kept of a gap is a filter, which
holds exactly the events that closing it lets through more, and how likely they are without looking at a log.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from thatch.model.conjunctions import Dead, close
from thatch.model.filters import Filter
from thatch.model.lines import Constraint
from thatch.model.residuals import Residual
from thatch.model.schema import Schema, line_of
from thatch.model.selectivity import Selectivity
from thatch.pipeline.schemas import FILTER, ROW, SUBSCRIBER, SUBSCRIPTION
from thatch.pipeline.transforms.merging.components import components_of
from thatch.pipeline.transforms.merging.describing import GROUP, Choices
from thatch.pipeline.transforms.merging.tails import tails_of
from thatch.pipeline.transforms.reducing.pieces import INPUT, Task

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["GAP", "GROUPED", "KEY", "MASS", "PARTS", "TOLD", "Join", "gaps_between"]

PARTS = "parts"  # ids of what was merged, in the order of rows; none of a subscription that is alone
KEY = "merged_on"
GAP = "gap"
MASS = "mass"

TOLD = pa.schema(
    [
        (ROW, pa.int64()),
        (SUBSCRIPTION, pa.string()),
        (SUBSCRIBER, pa.string()),
        (FILTER, pa.string()),
        (PARTS, pa.list_(pa.string())),
        (KEY, pa.string()),
        (GAP, pa.string()),
        (MASS, pa.float64()),
    ]
)
_DDL = (
    f"{ROW} bigint, {SUBSCRIPTION} string, {SUBSCRIBER} string, {FILTER} string, {PARTS} array<string>, "
    f"{KEY} string, {GAP} string, {MASS} double"
)
GROUPED = INPUT.append(pa.field(GROUP, pa.int64()))
_AT_ONCE = 5_000  # rows of a batch

Batches = Iterator[pa.RecordBatch]


def gaps_between(
    rows: DataFrame, choices: Choices, selectivity: Selectivity, schema: Schema | None, partitions: int
) -> DataFrame:
    """The components of all rows, with the gaps between them: those of one line are neighbours, lowest first.

    Returns
    -------
    `row` (the least of its parts), `subscription` and `subscriber` (null of several), `filter` (of one as it was given),
    `parts`, `merged_on`; and if the component has one before it on its line, and the gap between them can be closed:
    `gap`, a filter, and `mass`, the probability of it.
    """
    ddl = f"{ROW} bigint, {SUBSCRIPTION} string, {SUBSCRIBER} string, {FILTER} string, reason string, {GROUP} bigint"
    grouped = rows.mapInArrow(_Group(choices), ddl)
    together = grouped.repartition(partitions, GROUP).sortWithinPartitions(GROUP, ROW)
    return together.mapInArrow(Join(schema, selectivity), _DDL)


@dataclass(frozen=True, slots=True)
class _Group:
    """Writes the group of each row beside it, in a worker."""

    choices: Choices

    def __call__(self, batches: Batches) -> Batches:
        for batch in batches:
            groups = pa.array(self.choices.of(batch.column(0).to_numpy()))
            yield pa.RecordBatch.from_arrays([*batch.columns, groups], schema=GROUPED)


class _Row(NamedTuple):
    """A subscription in its group."""

    row: int
    subscription: str
    subscriber: str | None
    text: str
    filter: Filter


_Rest = tuple[tuple[tuple[str, Constraint], ...], tuple[Residual, ...]]  # all but one attribute


@dataclass(frozen=True, slots=True)
class Join(Task):
    """Joins the rows of each group, which come one after the other, in a worker."""

    schema: Schema | None
    selectivity: Selectivity

    def __call__(self, batches: Batches) -> Batches:
        waiting: list[_Told] = []
        for group, rows in groupby(self._rows(batches), key=lambda each: each[0]):
            waiting += self._told(group, [row for _, row in rows])
            if len(waiting) >= _AT_ONCE:
                yield _batch(waiting)
                waiting = []
        yield _batch(waiting)

    def _rows(self, batches: Batches) -> Iterator[tuple[int, _Row]]:
        for batch in batches:
            columns = [batch.column(name).to_pylist() for name in (ROW, SUBSCRIPTION, SUBSCRIBER, FILTER)]
            groups = batch.column(GROUP).to_pylist()
            filters = self._filters(batch.select(INPUT.names))
            rows = map(_Row, *columns, filters)
            yield from zip(groups, rows, strict=True)

    def _told(self, group: int, rows: list[_Row]) -> Iterator[_Told]:
        """The components of rows that have chosen one tail, and rows that are alone."""
        lines: dict[tuple[str, _Rest], list[tuple[_Row, Constraint]]] = {}
        for row in rows:
            key = next((each.key for each in tails_of(row.filter) if each.number == group), None)
            if key is None:
                yield _told_of([row], row.text, None)
                continue
            (conjunction,) = row.filter.conjunctions
            sides = dict(conjunction.constraints)
            constraint = sides.pop(key)
            rest = (tuple(sides.items()), conjunction.residuals)
            lines.setdefault((key, rest), []).append((row, constraint))
        for (key, rest), members in lines.items():
            yield from self._on_line(key, rest, members)

    def _on_line(self, key: str, rest: _Rest, members: list[tuple[_Row, Constraint]]) -> Iterator[_Told]:
        likely = prod(self.selectivity.upper(*side) for side in rest[0])
        numbered = ((number, constraint) for number, (_, constraint) in enumerate(members))
        for component in components_of(numbered, line_of(key, self.schema)):
            parts = [members[number][0] for number in component.parts]
            text = parts[0].text if len(parts) == 1 else self._text(rest, key, component.constraint)
            gap = self._text(rest, key, component.gap) if component.gap else None
            mass = None
            if gap is not None:
                mass = likely * self.selectivity.upper(key, component.gap)
            assert text is not None
            yield _told_of(parts, text, key, gap, mass)

    def _text(self, rest: _Rest, key: str, constraint: Constraint) -> str | None:
        """A filter with another condition on one attribute; None if no event can satisfy it."""
        try:
            return str(
                Filter((close({**dict(rest[0]), key: constraint}, rest[1], self.schema),), self.schema, ())
            )
        except Dead:
            return None


_Told = tuple[int, str | None, str | None, str, list[str], str | None, str | None, float | None]


def _told_of(
    parts: list[_Row], text: str, key: str | None, gap: str | None = None, mass: float | None = None
) -> _Told:
    if len(parts) == 1:
        return (*parts[0][:3], text, [], key, gap, mass)
    return (parts[0].row, None, None, text, [each.subscription for each in parts], key, gap, mass)


def _batch(rows: list[_Told]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else [()] * len(TOLD)
    arrays = [pa.array(each, kind) for each, kind in zip(columns, TOLD.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=TOLD)
