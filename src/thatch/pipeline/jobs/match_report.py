"""What was matched in a log: figures, and the page that shows them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from thatch.pipeline.columns import EVENT, EVENTS, HOUR, SUBSCRIBER, SUBSCRIPTION, DataFrame, f
from thatch.pipeline.jobs.job import FirstRows, add_first_rows, add_sizes, first_rows, size_class
from thatch.reports import Report

__all__ = ["MatchFacts", "match_facts", "match_report"]

_MOST = 50  # who gets most, in a table
_FEW = 12  # of them, in a picture with hours
_COLUMNS = 60  # of that picture; where there are more hours, neighbours share one


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchFacts:
    """What was matched."""

    who: str  # "subscription" or "subscriber": what is counted
    rows: int  # of the table of matches
    events: int  # in the log
    matches: int  # deliveries in all
    # How many received some and none; None if that is not known.
    matched: int
    silent: int | None
    # Rows of the log that are not events, rows of the subscriptions that are none; the first of each.
    refused: int
    rejected: int
    first_refused: FirstRows = ()
    first_rejected: FirstRows = ()
    most: tuple[tuple[str, int], ...] = ()  # who received most: name, events
    sizes: dict[int, int] = field(default_factory=dict)  # how many received 2^k to 2^(k+1) - 1 events, by k
    # Deliveries by hour, of all and of those who received most, if asked for.
    hours: tuple[tuple[datetime, int], ...] = ()
    by_hour: tuple[tuple[str, datetime, int], ...] = ()


def match_facts(
    give: str,
    matches: DataFrame,
    *,
    rows: int,
    are_refused_rows: bool,
    refused: DataFrame,
    rejects: DataFrame | None,
) -> MatchFacts:
    """Count what is in a table of matches.

    Parameters
    ----------
    give : what the table has: "pairs", "counts" or "hours"
    rows : how many rows the files of the log have
    are_refused_rows : whether a refused row still counts as an event of the log, as a line that is no JSON object does
    refused, rejects : rows of the log and of the subscriptions that were refused, with `row` and `reason`
    """
    who = SUBSCRIBER if give == "hours" else SUBSCRIPTION
    counted = matches
    if give == "pairs":
        counted = matches.groupBy(who).agg(f.count(EVENT).alias(EVENTS))
    elif give == "hours":
        counted = matches.groupBy(who).agg(f.sum(EVENTS).alias(EVENTS))
    counted = counted.persist()
    power = size_class(f.col(EVENTS)).cast("int").alias("power")
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
    sizes = counted.where(has_some).groupBy(power).count().collect()
    counted.unpersist()
    hours, by_hour = _hours(matches, [name for name, _ in most[:_FEW]]) if give == "hours" else ((), ())
    refused_count, first_refused = first_rows(refused)
    rejected_count, first_rejected = first_rows(rejects)
    return MatchFacts(
        who=who,
        rows=matches.count(),
        events=rows if are_refused_rows else rows - refused_count,
        matches=total["matches"],
        matched=total["matched"],
        silent=total["silent"] if give == "counts" else None,
        refused=refused_count,
        rejected=rejected_count,
        first_refused=first_refused,
        first_rejected=first_rejected,
        most=tuple(most),
        sizes={each["power"]: each["count"] for each in sizes},
        hours=hours,
        by_hour=by_hour,
    )


def _hours(matches: DataFrame, names: list[str]) -> tuple[Any, Any]:
    timed = matches.where(f.col(HOUR).isNotNull())
    hours = timed.groupBy(HOUR).agg(f.sum(EVENTS).alias(EVENTS)).orderBy(HOUR).collect()
    some = timed.where(f.col(SUBSCRIBER).isin(names)).collect()
    return (
        tuple((each[HOUR], each[EVENTS]) for each in hours),
        tuple((each[SUBSCRIBER], each[HOUR], each[EVENTS]) for each in some),
    )


def match_report(facts: MatchFacts, path: str, command: str) -> Report:
    """The page."""
    report = Report(f"Matches of {path}", command=command)
    figures: dict[str, object] = {"events": facts.events, "matches": facts.matches}
    if facts.events:
        figures["matches an event"] = round(facts.matches / facts.events, 3)
    figures[f"{facts.who}s with matches"] = facts.matched
    if facts.silent is not None:
        figures["without matches"] = facts.silent
    figures["rows that are not events"] = facts.refused
    figures["subscriptions refused"] = facts.rejected
    report.facts(figures)
    if facts.hours:
        _add_hours(report, facts)
    if facts.most:
        _add_most(report, facts)
    add_first_rows(report, "Rows that are not events", facts.first_refused, facts.refused)
    add_first_rows(report, "Subscriptions that were refused", facts.first_rejected, facts.rejected)
    return report


def _add_most(report: Report, facts: MatchFacts) -> None:
    report.section(
        "Who gets most", f"The first {len(facts.most):,} of {facts.matched:,} by number of events."
    )
    names, counts = zip(*facts.most, strict=True)
    report.bars(names, counts, title="Events", label=facts.who, value="events", most=30, total=facts.matched)
    rows = [{facts.who: name, "events": count, "of all": count / facts.events} for name, count in facts.most]
    report.table(
        rows, caption=f"{facts.who.capitalize()}s", total=facts.matched, formats={"of all": "percent"}
    )
    report.section("How matches are spread", f"How many {facts.who}s get how many events.")
    add_sizes(report, facts.sizes, title=f"Events a {facts.who}", x="events", y=f"{facts.who}s")


def _add_hours(report: Report, facts: MatchFacts) -> None:
    report.section("Over time", "Deliveries by hour, in UTC; an event counts once a subscriber.")
    moments, counts = zip(*facts.hours, strict=True)
    report.lines({"deliveries": (moments, counts)}, title="Deliveries", x="hour", y="events")
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
