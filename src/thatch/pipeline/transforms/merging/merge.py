"""The public `merge`: one filter in place of several, where that lets through few unwanted events (li2005, section 5).

Subscriptions that differ in one attribute only meet in one task. Those that touch there become one without loss; every
gap between the others may be closed, which saves a row and costs the events in the gap that no subscription wants. Costs
are measured on half of a log, or estimated; the cheapest gaps are closed, as many as the budget allows; the other half of
the log must confirm it. This process sees only numbers: tails, costs of gaps, and which gaps are closed. Work grows with
the rows, and with the log times what it matches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.model.profile import Profile
from thatch.model.schema import Schema
from thatch.model.selectivity import Selectivity
from thatch.pipeline.adapter import parallelism, translate_spark_errors
from thatch.pipeline.columns import FILTER, ROW, SUBSCRIPTION, DataFrame, f
from thatch.pipeline.indexes import build_index
from thatch.pipeline.tasks import share_arrays
from thatch.pipeline.transforms.events import EventReader, prepare_events
from thatch.pipeline.transforms.merging.closing import close_gaps
from thatch.pipeline.transforms.merging.describing import describe_rows
from thatch.pipeline.transforms.merging.frontier import (
    Frontier,
    GapCounts,
    choose_gaps,
    estimate_costs,
    order_gaps,
)
from thatch.pipeline.transforms.merging.gaps import GAP, MASS, find_gaps
from thatch.pipeline.transforms.merging.measuring import (
    LogCounts,
    count_by_rank,
    find_false_positives,
    split_log,
)
from thatch.pipeline.transforms.reducing.pieces import input_columns

__all__ = ["MergedTable", "check_budget", "merge"]

_PARTITIONS = 4  # for each task that runs at a time, since groups differ in size
_FEW = 5_000  # rows that are not worth two tasks


@dataclass(frozen=True, slots=True)
class MergedTable:
    """What is forwarded in place of all subscriptions.

    Parameters
    ----------
    forwarded : `row` (of a merger the least of its parts), `subscription` (a new id for a merger), `subscriber` (null for
        a merger), `filter`, `parts` (ids of the merged subscriptions; none if the row is a subscription as it was given),
        `merged_on` (the attribute in which they differ), `in_vain` (the estimated share of events that it lets through
        although nobody wants them)
    frontier : all choices, and the one that was made
    refused : rows of the log that are not events
    """

    forwarded: DataFrame
    frontier: Frontier
    refused: int = 0


def merge(  # noqa: PLR0913 - all options of a merge
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
) -> MergedTable:
    """Merge subscriptions: what is forwarded matches every event that any of them matches, and few others.

    Subscriptions that others cover are merged, too; `reduce` removes these first.

    Parameters
    ----------
    subscriptions : as for `reduce`: `subscription` and `filter`, in which every row must be a subscription, and optionally
        `subscriber` and `row`; it is read several times
    budget : the largest share of all events that may pass although nobody wants them; 0 for perfect mergers only
    events : a log to measure the cost of merging; without one, attributes are assumed to be independent
    event, json, nulls, bad : how the log is read, as for `match`; `event` also decides which half of the log an event is in,
        and if it is given the result does not depend on partitions
    profile : of events, for estimates where the log has no answer; without one values are assumed to be uniform between
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
        If a row is not a subscription.

    Notes
    -----
    Deviations from li2005: any attribute may be the one that differs, not only the topmost; gaps are closed in the order
    of their cost in the whole set, not filter by filter under a threshold for each; an event that another subscription
    wants is no false positive.
    """
    share = check_budget(budget)
    reader = EventReader(json=json, nulls=nulls, skips=bad == "skip")
    log = prepare_events(events, reader, event=event) if events is not None and share else None
    spark = subscriptions.sparkSession
    rows = input_columns(subscriptions)
    known = describe_rows(rows, schema)
    selectivity = Selectivity(profile, schema, named=known.named)
    partitions = min(-(-len(known.rows) // _FEW) or 1, _PARTITIONS * parallelism(spark))
    groups = share_arrays(spark, {"rows": known.rows, "groups": known.groups})
    # Persisted: the gaps, the indexes and the last pass need it.
    found = find_gaps(rows, groups, selectivity, schema, partitions).persist()
    try:
        with translate_spark_errors("merging subscriptions"):
            return _merge(found, log, reader, share, known.prefix, schema)
    finally:
        found.unpersist()


def check_budget(budget: float) -> float:
    """Refuse a budget that is no share of events."""
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or not 0 <= budget <= 1:
        raise ParameterError("a share of events between 0 and 1", shown(budget), "budget")
    return float(budget)


def _merge(
    found: DataFrame,
    log: DataFrame | None,
    reader: EventReader,
    budget: float,
    prefix: str,
    schema: Schema | None,
) -> MergedTable:
    """Choose which gaps to close, and merge."""
    gaps = found.where(f"{MASS} is not null").select(ROW, MASS).toArrow().sort_by(ROW)
    row, mass = (gaps.column(name).to_numpy() for name in (ROW, MASS))
    nothing = GapCounts.none(len(row))
    seen = LogCounts(nothing, nothing, 0)
    costs = estimate_costs(nothing.every, mass, 0)
    order = order_gaps(costs, row)
    if log is not None and len(row):
        in_gaps = _find_false_positives(found, log, reader, schema).persist()  # counted twice
        try:
            trained = count_by_rank(in_gaps, np.arange(len(row))).trained
            costs = estimate_costs(trained.every, mass, trained.events)
            order = order_gaps(costs, row)
            seen = count_by_rank(in_gaps, np.argsort(order))
        finally:
            in_gaps.unpersist()
    frontier = choose_gaps(costs[order], found.count(), budget, seen.trained, seen.held)
    closed = np.sort(order[: frontier.closed])
    forwarded = close_gaps(found, closed=row[closed], costs=costs[closed], prefix=prefix, schema=schema)
    forwarded = forwarded.persist()
    forwarded.count()
    return MergedTable(forwarded, frontier, seen.refused)


def _find_false_positives(
    found: DataFrame, log: DataFrame, reader: EventReader, schema: Schema | None
) -> DataFrame:
    spark = found.sparkSession
    number = f.col(ROW).cast("string").alias(SUBSCRIPTION)
    gaps = found.where(f"{GAP} is not null").orderBy(ROW).select(number, f.col(GAP).alias(FILTER))
    in_gaps, wanted = (build_index(spark, each, schema) for each in (gaps, found.select(number, FILTER)))
    return find_false_positives(split_log(log), in_gaps, wanted, reader)
