"""How small a table becomes at which cost in false positives: figures, and the page that shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from thatch.pipeline.columns import FILTER, ROW, SUBSCRIPTION, f
from thatch.pipeline.jobs.reduce_report import ReduceFacts, add_sections
from thatch.pipeline.transforms.merging.closing import IN_VAIN
from thatch.pipeline.transforms.merging.frontier import Frontier, fewest_trials
from thatch.pipeline.transforms.merging.gaps import KEY, PARTS
from thatch.pipeline.transforms.merging.merge import MergedTable
from thatch.reports import PlotAxis, Report

__all__ = ["MergeFacts", "merge_facts", "merge_remarks", "merge_report"]

_MOST = 200  # mergers, in a table
_MEASURED = {
    "measured": "measured on held-out events",
    "upper_bound": "upper 95 % bound",
    "measured_sum": "measured, each merger by itself",
}
_SHARES = (
    "share forwarded",
    "budget of false positives",
    "false positives, estimated",
    "measured on held-out events",
    "upper 95 % bound",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeFacts:
    """What was merged."""

    covering: ReduceFacts  # the result of `reduce`
    frontier: Frontier  # all choices, and the one that was made
    refused: int  # rows of the log that are not events
    # Mergers, those without false positives, and the subscriptions merged.
    mergers: int
    perfect: int
    parts: int
    attributes: tuple[dict[str, Any], ...] = ()  # counts by the attribute merged on, the most parts first
    largest: tuple[dict[str, Any], ...] = ()  # the mergers of most parts


def merge_facts(merged: MergedTable, covering: ReduceFacts) -> MergeFacts:
    """Count what `merge` gave."""
    mergers = merged.forwarded.where(f.size(PARTS) > 0)
    by_key = mergers.groupBy(f.col(KEY).alias("attribute")).agg(
        f.count("*").alias("mergers"),
        f.count_if(f.col(IN_VAIN) == 0).alias("perfect"),
        f.sum(f.size(PARTS)).alias("parts"),
        f.sum(IN_VAIN).alias("false positives"),
    )
    attributes = [each.asDict() for each in by_key.orderBy(f.desc("parts"), "attribute").collect()]
    largest = mergers.orderBy(f.desc(f.size(PARTS)), ROW).limit(_MOST)
    columns = (f.size(PARTS).alias("parts"), f.col(IN_VAIN).alias("false positives"))
    rows = largest.select(f.col(SUBSCRIPTION).alias("merger"), FILTER, *columns).collect()
    return MergeFacts(
        covering=covering,
        frontier=merged.frontier,
        refused=merged.refused,
        mergers=sum(each["mergers"] for each in attributes),
        perfect=sum(each.pop("perfect") for each in attributes),
        parts=sum(each["parts"] for each in attributes),
        attributes=tuple(attributes),
        largest=tuple(each.asDict() for each in rows),
    )


def merge_report(facts: MergeFacts, budget: float, path: str, command: str) -> Report:
    """The page: what is forwarded, what could be, and below it what covers what."""
    report = Report(f"Merged subscriptions of {path}", command=command)
    covering = facts.covering
    figures: dict[str, object] = {
        "subscriptions": covering.subscriptions,
        "needed": covering.active,
        "rows forwarded": facts.frontier.size,
        "share forwarded": facts.frontier.size / max(covering.subscriptions, 1),
        "mergers": facts.mergers,
        "perfect mergers": facts.perfect,
        "merged subscriptions": facts.parts,
        "budget of false positives": budget,
        "false positives, estimated": facts.frontier.cost,
    }
    if facts.frontier.held.events:
        figures |= {
            "measured on held-out events": facts.frontier.measured,
            "upper 95 % bound": facts.frontier.upper_bound,
            "events to choose by": facts.frontier.trained.events,
            "events held out": facts.frontier.held.events,
        }
    if covering.refused:
        figures["rows refused"] = covering.refused
    report.facts(figures, formats=dict.fromkeys(_SHARES, "percent"))
    for text in merge_remarks(facts, budget):
        report.note(text)
    _add_frontier(report, facts)
    _add_mergers(report, facts)
    add_sections(report, covering)
    return report


def merge_remarks(facts: MergeFacts, budget: float) -> list[str]:
    """What readers should know about the choice."""
    remarks = []
    if budget and not facts.frontier.held.events and facts.frontier.components > facts.frontier.smallest:
        remarks.append("There is no log: false positives are estimated, assuming independent attributes.")
    if facts.frontier.held.events and facts.frontier.held.events < fewest_trials(budget):
        remarks.append(
            f"The log is too short to show that false positives are within the budget: it takes {fewest_trials(budget):,} "
            f"events in its second half, and there are {facts.frontier.held.events:,}. Only perfect mergers were made."
        )
    elif facts.frontier.closed < facts.frontier.limit:
        remarks.append(
            f"The first half of the log allows {facts.frontier.limit:,} gaps to be closed, the second confirms {facts.frontier.closed:,}."
        )
    return remarks


def _add_frontier(report: Report, facts: MergeFacts) -> None:
    report.section(
        "What can be chosen",
        "Subscriptions that differ in one attribute only are forwarded as one filter that contains all of them. A false "
        "positive is an event that passes although no subscription wants it; its rate is the share of all events. Each point "
        "is a table that could be forwarded: its size, and its false positives. Run again with another budget to choose "
        "another; `frontier.parquet` has all figures.",
    )
    table = facts.frontier.table()
    sizes = table.column("size").to_pylist()
    drawn = _MEASURED if facts.frontier.held.events else {"estimated": "estimated"}
    series = {label: (sizes, table.column(name).to_pylist()) for name, label in drawn.items()}
    chosen = table.filter(table.column("chosen"))
    height = chosen.column("measured" if facts.frontier.held.events else "estimated")
    series["chosen"] = (chosen.column("size").to_pylist(), height.to_pylist())
    in_vain = PlotAxis("false positives", format="percent")
    report.scatter(series, title="Table size and false positives", x="rows forwarded", y=in_vain)
    rates = ("estimated", "trained", *_MEASURED)
    report.table(chosen, caption="The choice", formats=dict.fromkeys(rates, "percent"))


def _add_mergers(report: Report, facts: MergeFacts) -> None:
    if not facts.mergers:
        return
    report.section("Mergers", "Mergers by attribute, and the mergers of most subscriptions.")
    report.table(list(facts.attributes), caption="By attribute", formats={"false positives": "percent"})
    report.table(
        list(facts.largest),
        caption="The largest mergers",
        total=facts.mergers,
        formats={"false positives": "percent"},
    )
