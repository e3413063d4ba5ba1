"""Second pass of merging: find the components of filters that differ in one attribute, and the gaps between them.

Filters whose constraints touch or overlap have a perfect merger, their union; so have `< v` and `> v`, which together are
`!= v`. What remains is a row of *components* on one line, with gaps between them. Closing a gap makes one filter of two
and lets through the events in it: an imperfect merger (li2005, table 1). Gaps are disjoint, so that a merger lets through
what its gaps hold, however many are closed and in whatever order. Only gaps between numbers, or between texts, can be
closed, as in `thatch.reduction.merging.rules`.

A gap is kept as a filter that holds on exactly the events that closing it lets through, and as their probability without
looking at a log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from math import prod
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from thatch.model.conjunctions import Dead, close
from thatch.model.filters import Filter
from thatch.model.lines import BOTTOM, EMPTY, Constraint, union
from thatch.model.residuals import Residual
from thatch.model.schema import Schema, line_of, tighten
from thatch.model.selectivity import Selectivity
from thatch.model.types import Line
from thatch.pipeline.columns import (
    FILTER,
    ROW,
    SUBSCRIBER,
    SUBSCRIPTION,
    DataFrame,
    arrow_schema,
    spark_schema,
)
from thatch.pipeline.tasks import Arrays, Batches, SharedFile
from thatch.pipeline.transforms.merging.describing import GROUP, list_tails
from thatch.pipeline.transforms.reducing.pieces import INPUT, parse_filters
from thatch.reduction.merging.rules import predicates_in

__all__ = [
    "COMPONENTS",
    "GAP",
    "GROUPED",
    "KEY",
    "MASS",
    "PARTS",
    "Component",
    "find_components",
    "find_gaps",
    "join_groups",
]

PARTS = "parts"  # ids of the merged subscriptions, in the order of rows; none for a single subscription
KEY = "merged_on"
GAP = "gap"
MASS = "mass"

COMPONENTS = arrow_schema(
    *(ROW, SUBSCRIPTION, SUBSCRIBER, FILTER), (PARTS, pa.list_(pa.string())), KEY, GAP, (MASS, pa.float64())
)
GROUPED = INPUT.append(pa.field(GROUP, pa.int64()))
_AT_ONCE = 5_000  # rows of a batch


def find_gaps(
    rows: DataFrame,
    groups: SharedFile[Arrays],
    selectivity: Selectivity,
    schema: Schema | None,
    partitions: int,
) -> DataFrame:
    """Find the components of all rows and the gaps between them; those of one line are neighbours, lowest first.

    `groups` has the arrays `rows`, which rise, and `groups`. The result has `row` (the least of its parts), `subscription`
    and `subscriber` (null for several parts), `filter` (for one part as it was given), `parts`, `merged_on`; and if the
    gap to the component before it on its line can be closed: `gap`, a filter, and `mass`, its probability.
    """
    grouped = rows.mapInArrow(partial(_add_groups, groups), spark_schema(GROUPED))
    together = grouped.repartition(partitions, GROUP).sortWithinPartitions(GROUP, ROW)
    return together.mapInArrow(partial(join_groups, schema, selectivity), spark_schema(COMPONENTS))


def _add_groups(groups: SharedFile[Arrays], batches: Batches) -> Batches:
    """Add the group of each row, in a worker."""
    arrays = groups.open()
    for batch in batches:
        found = arrays["groups"][np.searchsorted(arrays["rows"], batch.column(0).to_numpy())]
        yield pa.RecordBatch.from_arrays([*batch.columns, pa.array(found)], schema=GROUPED)


class _Row(NamedTuple):
    """A subscription in its group."""

    row: int
    subscription: str
    subscriber: str | None
    text: str
    filter: Filter


_Rest = tuple[
    tuple[tuple[str, Constraint], ...], tuple[Residual, ...]
]  # of a conjunction: all but one attribute
_Result = tuple[
    int, str | None, str | None, str, list[str], str | None, str | None, float | None
]  # of `COMPONENTS`


def join_groups(schema: Schema | None, selectivity: Selectivity, batches: Batches) -> Batches:
    """Find the components of each group, whose rows arrive one after the other, in a worker."""
    waiting: list[_Result] = []
    for group, rows in groupby(_parse_rows(schema, batches), key=lambda each: each[0]):
        waiting += _split_group(schema, selectivity, group, [row for _, row in rows])
        if len(waiting) >= _AT_ONCE:
            yield _batch(waiting)
            waiting = []
    yield _batch(waiting)


def _parse_rows(schema: Schema | None, batches: Batches) -> Iterator[tuple[int, _Row]]:
    for batch in batches:
        columns = [batch.column(name).to_pylist() for name in (ROW, SUBSCRIPTION, SUBSCRIBER, FILTER)]
        groups = batch.column(GROUP).to_pylist()
        rows = map(_Row, *columns, parse_filters(schema, batch.select(INPUT.names)))
        yield from zip(groups, rows, strict=True)


def _split_group(
    schema: Schema | None, selectivity: Selectivity, group: int, rows: list[_Row]
) -> Iterator[_Result]:
    """The components of rows that have chosen one tail, and rows that stay single."""
    lines: dict[tuple[str, _Rest], list[tuple[_Row, Constraint]]] = {}
    for row in rows:
        key = next((each.key for each in list_tails(row.filter) if each.number == group), None)
        if key is None:
            yield _result([row], row.text, None)
            continue
        (conjunction,) = row.filter.conjunctions
        sides = dict(conjunction.constraints)
        constraint = sides.pop(key)
        rest = (tuple(sides.items()), conjunction.residuals)
        lines.setdefault((key, rest), []).append((row, constraint))
    for (key, rest), members in lines.items():
        yield from _split_line(schema, selectivity, key, rest, members)


def _split_line(
    schema: Schema | None,
    selectivity: Selectivity,
    key: str,
    rest: _Rest,
    members: list[tuple[_Row, Constraint]],
) -> Iterator[_Result]:
    likely = prod(selectivity.upper(*side) for side in rest[0])
    numbered = ((number, constraint) for number, (_, constraint) in enumerate(members))
    for component in find_components(numbered, line_of(key, schema)):
        parts = [members[number][0] for number in component.parts]
        text = parts[0].text if len(parts) == 1 else _filter_text(schema, rest, key, component.constraint)
        gap = _filter_text(schema, rest, key, component.gap) if component.gap else None
        mass = None if gap is None else likely * selectivity.upper(key, component.gap)
        assert text is not None
        yield _result(parts, text, key, gap, mass)


def _filter_text(schema: Schema | None, rest: _Rest, key: str, constraint: Constraint) -> str | None:
    """A filter with another condition on one attribute; None if no event can satisfy it."""
    try:
        return str(Filter((close({**dict(rest[0]), key: constraint}, rest[1], schema),), schema, ()))
    except Dead:
        return None


def _result(
    parts: list[_Row], text: str, key: str | None, gap: str | None = None, mass: float | None = None
) -> _Result:
    if len(parts) == 1:
        return (*parts[0][:3], text, [], key, gap, mass)
    return (parts[0].row, None, None, text, [each.subscription for each in parts], key, gap, mass)


def _batch(rows: list[_Result]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else [()] * len(COMPONENTS)
    arrays = [pa.array(each, kind) for each, kind in zip(columns, COMPONENTS.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=COMPONENTS)


# --- components ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Component:
    """Filters that are merged without loss."""

    constraint: Constraint  # the union of theirs
    parts: tuple[int, ...]  # their numbers, rising
    # Between the component before and this one; empty for the first, or if the gap cannot be closed.
    gap: Constraint = EMPTY


def find_components(parts: Iterable[tuple[int, Constraint]], line: Line | None = None) -> list[Component]:
    """Find the components of filters on one line, lowest first.

    Parameters
    ----------
    parts : the number of each filter and its constraint on the line, one interval or `!=`
    line : its declaration
    """
    found: list[Component] = []
    run: list[tuple[int, Constraint]] = []
    reach = BOTTOM  # of the run
    for part in sorted(parts, key=lambda each: (each[1][0], each[1][-1], each[0])):
        low, high = part[1][0], part[1][-1]
        if run and low > reach:
            _add_component(found, run, line)
            run = []
        reach = max(reach, high) if run else high
        run.append(part)
    if run:
        _add_component(found, run, line)
    return found


def _add_component(found: list[Component], run: list[tuple[int, Constraint]], line: Line | None) -> None:
    """Add a component, or extend the one before it if both together are one predicate."""
    constraint = tighten(union(each for _, each in run), line)
    parts = tuple(sorted(number for number, _ in run))
    if not found:
        found.append(Component(constraint, parts))
        return
    before = found[-1]
    both = union((before.constraint, constraint))
    if predicates_in(both) == 1:
        found[-1] = Component(both, tuple(sorted(before.parts + parts)), before.gap)
        return
    low, high = before.constraint[-1], constraint[0]
    is_closable = low[0] == high[0] and len(low) == len(high) == 3
    found.append(Component(constraint, parts, (low, high) if is_closable else EMPTY))
