"""`merge`: one filter around several, wherever that lets through few events that nobody wants (paper L, section 5).

Subscriptions that differ in one attribute only come together in one task. There, those that touch become one without
any loss; and every gap between the others may be closed, which saves a row, and costs the events in it that no
subscription wants. What gaps cost is measured on half of a log, or estimated; the cheapest are closed, as many as the
budget allows; the other half of the log must confirm it. This process sees of subscriptions only numbers: their tails,
the costs of gaps, and which of them are closed. Work grows with the rows, and with the log times what it matches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.model.profile import Profile
from thatch.model.schema import Schema
from thatch.model.selectivity import Selectivity
from thatch.pipeline.adapter import parallelism
from thatch.pipeline.failures import failures_told
from thatch.pipeline.indexes import indexed
from thatch.pipeline.schemas import FILTER, ROW, SUBSCRIPTION
from thatch.pipeline.transforms.events import Reading, prepared
from thatch.pipeline.transforms.merging.closing import forwarded
from thatch.pipeline.transforms.merging.describing import carried_choices, described
from thatch.pipeline.transforms.merging.frontier import Counts, Frontier, costs_of, frontier_of, order_of
from thatch.pipeline.transforms.merging.gaps import GAP, MASS, gaps_between
from thatch.pipeline.transforms.merging.measuring import Measured, counted, measured, split
from thatch.pipeline.transforms.reducing.pieces import input_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Merged", "checked_share", "merge"]

_PARTITIONS = 4  # for each task that runs at a time: groups are of different sizes
_FEW = 5_000  # rows that are not worth two tasks


@dataclass(frozen=True, slots=True)
class Merged:
    """What is forwarded instead of all subscriptions.

    Parameters
    ----------
    forwarded : `row` (of a merger the least of its parts), `subscription` (of a merger a new id), `subscriber` (null of
        a merger), `filter`, `parts` (ids of what was merged; none if the row is a subscription as it was given),
        `merged_on` (the attribute in which they differ), `in_vain` (the share of events that it is thought to let
        through although nobody wants them)
    frontier : what could be chosen, and what was
    refused : rows of the log that are no events
    """

    forwarded: DataFrame
    frontier: Frontier
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Log:
    """Events that were logged, as `prepared` gives them, and how they are read."""

    events: DataFrame
    reading: Reading


def merge(  # noqa: PLR0913 - what is merged, what is known of events, how they are read
    subscriptions: DataFrame,
    *,
    budget: float = 0.0,
    events: DataFrame | None = None,
    event: str | None = None,
    json: str | None = None,
    nulls: Literal["missing", "null"] = "missing",
    bad: Literal["raise", "skip"] = "raise",
    profile: Profile | None = None,
    schema: Schema | None = None,
) -> Merged:
    """Merge subscriptions: what is forwarded matches every event that any of them matches, and few more.

    Those that others cover are merged too; `reduce` finds them first, and leaves fewer.

    Parameters
    ----------
    subscriptions : as for `reduce`: `subscription` and `filter`, of which every row must be good, and if there are any
        `subscriber` and `row`; it is read several times
    budget : most that may be let through in vain, as a share of all events; 0 for perfect mergers only
    events : a log that tells what merging costs; without one, attributes are taken as independent of each other
    event, json, nulls, bad : how the log is read, as for `match`; `event` also decides which half of the log an event
        is in, and if it is given the result does not depend on how the work is split
    profile : of events, which counts where the log is silent; without one values are taken as spread evenly between
        declared bounds, or else between the least and the greatest that subscriptions name
    schema : declared types of attributes

    Returns
    -------
    What is forwarded, and the frontier. With a log the upper 95 % bound of the rate of false positives, measured on the
    half of it that had no say in the choice, is at most the budget.

    Raises
    ------
    ParameterError
        If the budget is not between 0 and 1.
    TableError
        If a column is missing or of a wrong type, two rows have one number, or with `bad="raise"` a row of the log is
        no event.
    SubscriptionError
        If a row is no subscription.

    Notes
    -----
    Deviations from the paper: any attribute may be the one that differs, not only the topmost; gaps are closed in the
    order of what they cost for the whole set, not filter by filter under a threshold for each; an event that another
    subscription wants is no false positive.
    """
    share = checked_share(budget)
    log = None
    if events is not None and share:
        reading = Reading(json=json, nulls=nulls, skips=bad == "skip")
        log = Log(prepared(events, reading, event=event), reading)
    spark = subscriptions.sparkSession
    rows = input_rows(subscriptions)
    known = described(rows, schema)
    selectivity = Selectivity(profile, schema, named=known.named)
    partitions = min(-(-len(known.rows) // _FEW) or 1, _PARTITIONS * parallelism(spark))
    # Kept, since the gaps, the indexes and the last pass need it.
    found = gaps_between(rows, carried_choices(spark, known), selectivity, schema, partitions).persist()
    try:
        with failures_told("merging subscriptions"):
            return _merged(found, log, share, known.prefix, schema)
    finally:
        found.unpersist()


def checked_share(budget: float) -> float:
    """The budget, if it is a share of events."""
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or not 0 <= budget <= 1:
        raise ParameterError("a share of events between 0 and 1", shown(budget), "budget")
    return float(budget)


def _merged(found: DataFrame, log: Log | None, budget: float, prefix: str, schema: Schema | None) -> Merged:
    """Choose which gaps are closed, and merge."""
    spark = found.sparkSession
    gaps = found.where(f"{MASS} is not null").select(ROW, MASS).toArrow().sort_by(ROW)
    row, mass = (gaps.column(name).to_numpy() for name in (ROW, MASS))
    counts, says = np.zeros(len(row), np.int64), None
    if log is not None and len(row):
        says = _measured(found, log, schema).persist()
    try:
        events = 0
        if says is not None:
            trained = counted(spark, says, np.arange(len(row))).trained
            counts, events = trained.every, trained.events
        costs = costs_of(counts, mass, events)
        order = order_of(costs, row)
        seen = Measured(Counts.none(len(row)), Counts.none(len(row)), 0)
        if says is not None:
            ranks = np.empty(len(row), np.int64)
            ranks[order] = np.arange(len(row))
            seen = counted(spark, says, ranks)
    finally:
        if says is not None:
            says.unpersist()
    frontier = frontier_of(costs[order], found.count(), budget, seen.trained, seen.held)
    closed = np.sort(order[: frontier.closed])
    kept = forwarded(
        spark, found, closed=row[closed], costs=costs[closed], prefix=prefix, schema=schema
    ).persist()
    kept.count()
    return Merged(kept, frontier, seen.refused)


def _measured(found: DataFrame, log: Log, schema: Schema | None) -> DataFrame:
    """What the log says of the gaps."""
    from pyspark.sql import functions as f

    spark = found.sparkSession
    number = f.col(ROW).cast("string").alias(SUBSCRIPTION)
    gaps = found.where(f"{GAP} is not null").orderBy(ROW).select(number, f.col(GAP).alias(FILTER))
    wanted = found.select(number, FILTER)
    return measured(
        split(log.events), indexed(spark, gaps, schema), indexed(spark, wanted, schema), log.reading
    )
