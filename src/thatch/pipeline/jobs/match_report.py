"""What was found in a log: figures for people, and the page that shows them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from thatch.pipeline.schemas import EVENT, EVENTS, HOUR, REASON, ROW, SUBSCRIBER, SUBSCRIPTION
from thatch.reports import PlotAxis, Report

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Facts", "facts_of", "report_of"]

_MOST = 50  # who gets most, in a table
_FEW = 12  # of them, in a picture with hours
_COLUMNS = 60  # of that picture; where there are more hours, neighbours share one


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was found.

    Parameters
    ----------
    who : "subscription" or "subscriber"
    rows : of the table of matches
    events : of the log
    matches : deliveries in all
    matched : those who got some
    silent : those who got none, None if that is not known
    refused, rejected : rows of the log that are no events, rows of the subscriptions that are none; the first of each
    most : who got most: name, events
    sizes : how many got 2^k to 2^(k+1) - 1 events, by k
    hours : deliveries by hour, if asked for; and of those who get most, by hour
    """

    who: str
    rows: int
    events: int
    matches: int
    matched: int
    silent: int | None
    refused: int
    rejected: int
    first_refused: tuple[tuple[int, str], ...] = ()
    first_rejected: tuple[tuple[int, str], ...] = ()
    most: tuple[tuple[str, int], ...] = ()
    sizes: dict[int, int] = field(default_factory=dict)
    hours: tuple[tuple[datetime, int], ...] = ()
    by_hour: tuple[tuple[str, datetime, int], ...] = ()


def facts_of(
    give: str, matches: DataFrame, *, events: int, refused: DataFrame, rejects: DataFrame | None
) -> Facts:
    """The figures of a table of matches.

    Parameters
    ----------
    give : what the table has: "pairs", "counts" or "hours"
    events : how many rows the log has
    refused, rejects : rows of the log and of the subscriptions that are none, with `row` and `reason`
    """
    from pyspark.sql import functions as f

    who = SUBSCRIBER if give == "hours" else SUBSCRIPTION
    counted = matches
    if give == "pairs":
        counted = matches.groupBy(who).agg(f.count(EVENT).alias(EVENTS))
    elif give == "hours":
        counted = matches.groupBy(who).agg(f.sum(EVENTS).alias(EVENTS))
    counted = counted.persist()
    step = f.floor(f.log2(f.greatest(EVENTS, f.lit(1)))).cast("int").alias("step")
    has_some = f.col(EVENTS) > 0
    total = counted.agg(
        f.coalesce(f.sum(EVENTS), f.lit(0)).alias("matches"),
        f.count_if(has_some).alias("matched"),
        f.count_if(~has_some).alias("silent"),
    ).first()
    assert total is not None
    most = [
        (each[who], each[EVENTS])
        for each in counted.where(has_some).orderBy(f.desc(EVENTS), who).limit(_MOST).collect()
    ]
    sizes = {each["step"]: each["count"] for each in counted.where(has_some).groupBy(step).count().collect()}
    counted.unpersist()
    hours, by_hour = _hours(matches, [name for name, _ in most[:_FEW]]) if give == "hours" else ((), ())
    return Facts(
        who=who,
        rows=matches.count(),
        events=events,
        matches=total["matches"],
        matched=total["matched"],
        silent=total["silent"] if give == "counts" else None,
        refused=refused.count(),
        rejected=rejects.count() if rejects is not None else 0,
        first_refused=_first(refused),
        first_rejected=_first(rejects) if rejects is not None else (),
        most=tuple(most),
        sizes=sizes,
        hours=hours,
        by_hour=by_hour,
    )


def _first(rows: DataFrame) -> tuple[tuple[int, str], ...]:
    return tuple((each[ROW], each[REASON]) for each in rows.orderBy(ROW).limit(5).collect())


def _hours(matches: DataFrame, names: list[str]) -> tuple[Any, Any]:
    from pyspark.sql import functions as f

    timed = matches.where(f.col(HOUR).isNotNull())
    hours = timed.groupBy(HOUR).agg(f.sum(EVENTS).alias(EVENTS)).orderBy(HOUR).collect()
    some = timed.where(f.col(SUBSCRIBER).isin(names)).collect()
    return (
        tuple((each[HOUR], each[EVENTS]) for each in hours),
        tuple((each[SUBSCRIBER], each[HOUR], each[EVENTS]) for each in some),
    )


def report_of(facts: Facts, path: str, command: str) -> Report:
    """The page."""
    report = Report(f"Matches of {path}", command=command)
    told: dict[str, object] = {"events": facts.events, "matches": facts.matches}
    if facts.events:
        told["matches an event"] = round(facts.matches / facts.events, 3)
    told[f"{facts.who}s that got some"] = facts.matched
    if facts.silent is not None:
        told["that got none"] = facts.silent
    told["rows that are no events"] = facts.refused
    told["subscriptions refused"] = facts.rejected
    report.facts(told)
    if facts.hours:
        _add_hours(report, facts)
    if facts.most:
        _add_most(report, facts)
    _add_refused(report, facts)
    return report


def _add_most(report: Report, facts: Facts) -> None:
    report.section("Who gets most", f"The first {len(facts.most)} by number of events.")
    report.bars(
        [name for name, _ in facts.most[:30]],
        [count for _, count in facts.most[:30]],
        title="Events",
        label=facts.who,
        value="events",
    )
    rows = [{facts.who: name, "events": count, "of all": count / facts.events} for name, count in facts.most]
    report.table(rows, caption=f"{facts.who.capitalize()}s", formats={"of all": "percent"})
    steps = range(min(facts.sizes), max(facts.sizes) + 1)
    report.section("How matches are spread", f"How many {facts.who}s get how many events.")
    report.histogram(
        [2**step for step in (*steps, steps[-1] + 1)],
        [facts.sizes.get(step, 0) for step in steps],
        title=f"Events a {facts.who}",
        x=PlotAxis("events", log=True),
        y=f"{facts.who}s",
    )


def _add_hours(report: Report, facts: Facts) -> None:
    report.section("Over time", "Deliveries by hour, in UTC; an event counts once a subscriber.")
    moments = [moment for moment, _ in facts.hours]
    report.lines(
        {"deliveries": (moments, [count for _, count in facts.hours])},
        title="Deliveries",
        x="hour",
        y="events",
    )
    names = [name for name, _ in facts.most[:_FEW]]
    width = -(-len(moments) // _COLUMNS)
    column = {moment: number // width for number, moment in enumerate(moments)}
    values = [[0] * (1 + column[moments[-1]]) for _ in names]
    for name, moment, count in facts.by_hour:
        values[names.index(name)][column[moment]] += count
    report.heatmap(
        names,
        [f"{moment:%Y-%m-%d %Hh}" for moment in moments[::width]],
        values,
        title="Those who get most",
        x="from this hour on",
        y="subscriber",
        value="events",
    )


def _add_refused(report: Report, facts: Facts) -> None:
    for rows, count, what in (
        (facts.first_refused, facts.refused, "Rows that are no events"),
        (facts.first_rejected, facts.rejected, "Subscriptions that were refused"),
    ):
        if count:
            report.section(what)
            report.table(
                [{"row": row, "reason": reason} for row, reason in rows],
                caption="The first of them",
                total=count,
            )
