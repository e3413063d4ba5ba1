"""How much smaller a table becomes for which false positives: figures for people, and the page that shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from thatch.pipeline.jobs.reduce_report import Facts as Covering
from thatch.pipeline.jobs.reduce_report import add_sections
from thatch.pipeline.schemas import FILTER, ROW, SUBSCRIPTION
from thatch.pipeline.transforms.merging.closing import IN_VAIN
from thatch.pipeline.transforms.merging.confidence import fewest_trials
from thatch.pipeline.transforms.merging.gaps import KEY, PARTS
from thatch.pipeline.transforms.merging.merge import Merged
from thatch.reports import PlotAxis, Report

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Attribute", "Facts", "Largest", "facts_of", "remarks_on", "report_of"]

_MOST = 200  # mergers, in a table
_MEASURED = {
    "measured": "measured on held-out events",
    "upper_bound": "upper 95 % bound",
    "measured_sum": "measured, each merger by itself",
}
_SHARES = (
    "of all",
    "budget of false positives",
    "false positives, estimated",
    "measured on held-out events",
    "upper 95 % bound",
)


@dataclass(frozen=True, slots=True)
class Attribute:
    """What was merged along one attribute: mergers, how many are perfect, of how many parts, what passes in vain."""

    key: str
    mergers: int
    perfect: int
    parts: int
    in_vain: float


@dataclass(frozen=True, slots=True)
class Largest:
    """A merger: its id, its filter, how many parts it has, what it lets through in vain."""

    subscription: str
    filter: str
    parts: int
    in_vain: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was found.

    Parameters
    ----------
    covering : what `reduce` found
    size : rows that are forwarded
    mergers, perfect, parts : of these, mergers; those that let through nothing in vain; and what they are made of
    components : rows that would be forwarded with perfect mergers only
    closed, limit : gaps that are closed, and how many the first half of the log allows
    trained, held, refused : events in the halves of the log, and rows that are none
    measured, bound : the rate of false positives in the second half, and its upper 95 % bound; None without a log
    estimated : the sum of what was thought of the gaps that are closed
    frontier : what could be chosen, see `Frontier.table`
    attributes : by the number of parts
    largest : the mergers of most parts
    """

    covering: Covering
    size: int
    mergers: int
    perfect: int
    parts: int
    components: int
    closed: int
    limit: int
    trained: int
    held: int
    refused: int
    measured: float | None
    bound: float | None
    estimated: float
    frontier: pa.Table
    attributes: tuple[Attribute, ...] = ()
    largest: tuple[Largest, ...] = ()


def facts_of(merged: Merged, covering: Covering) -> Facts:
    """The figures of what `merge` gave."""
    from pyspark.sql import functions as f

    frontier = merged.frontier
    mergers = merged.forwarded.where(f.size(PARTS) > 0)
    attributes = _attributes(mergers)
    held = frontier.held.events
    in_vain = int(frontier.held.first[: frontier.closed].sum())
    return Facts(
        covering=covering,
        mergers=sum(each.mergers for each in attributes),
        perfect=sum(each.perfect for each in attributes),
        parts=sum(each.parts for each in attributes),
        size=frontier.size,
        components=frontier.components,
        closed=frontier.closed,
        limit=frontier.limit,
        trained=frontier.trained.events,
        held=held,
        refused=merged.refused,
        measured=in_vain / held if held else None,
        bound=frontier.bound(frontier.closed),
        estimated=float(frontier.estimated[frontier.closed]),
        frontier=frontier.table(),
        attributes=attributes,
        largest=_largest(mergers),
    )


def _attributes(mergers: DataFrame) -> tuple[Attribute, ...]:
    from pyspark.sql import functions as f

    by_key = mergers.groupBy(KEY).agg(
        f.count("*"), f.count_if(f.col(IN_VAIN) == 0), f.sum(f.size(PARTS)), f.sum(IN_VAIN)
    )
    found = (Attribute(*each) for each in by_key.collect())
    return tuple(sorted(found, key=lambda each: (-each.parts, each.key)))


def _largest(mergers: DataFrame) -> tuple[Largest, ...]:
    from pyspark.sql import functions as f

    first = mergers.orderBy(f.desc(f.size(PARTS)), ROW).limit(_MOST)
    rows = first.select(SUBSCRIPTION, FILTER, f.size(PARTS), IN_VAIN).collect()
    return tuple(Largest(*each) for each in rows)


def report_of(facts: Facts, budget: float, path: str, command: str) -> Report:
    """The page: what is forwarded, what could be, and below it what covers what."""
    report = Report(f"What may be forwarded of {path}", command=command)
    covering = facts.covering
    figures: dict[str, object] = {
        "subscriptions": covering.subscriptions,
        "that are enough": covering.active,
        "rows forwarded": facts.size,
        "of all": facts.size / max(covering.subscriptions, 1),
        "mergers": facts.mergers,
        "of them perfect": facts.perfect,
        "merged subscriptions": facts.parts,
        "budget of false positives": budget,
        "false positives, estimated": facts.estimated,
    }
    if facts.held:
        figures |= {
            "measured on held-out events": facts.measured,
            "upper 95 % bound": facts.bound,
            "events to choose by": facts.trained,
            "events held out": facts.held,
        }
    if covering.refused:
        figures["rows refused"] = covering.refused
    report.facts(figures, formats=dict.fromkeys(_SHARES, "percent"))
    for text in remarks_on(facts, budget):
        report.note(text)
    _add_frontier(report, facts)
    _add_mergers(report, facts)
    add_sections(report, covering)
    return report


def remarks_on(facts: Facts, budget: float) -> list[str]:
    """What to know about the choice."""
    remarks = []
    if budget and not facts.held and facts.frontier.num_rows > 1:
        remarks.append(
            "There was no log: false positives are estimated, with attributes taken as independent."
        )
    if facts.held and facts.held < fewest_trials(budget):
        remarks.append(
            f"The log is too short to show that false positives are within the budget: it takes {fewest_trials(budget):,} "
            f"events in its second half, and there are {facts.held:,}. Only perfect mergers were made."
        )
    elif facts.closed < facts.limit:
        remarks.append(
            f"The first half of the log allows {facts.limit:,} gaps to be closed, the second confirms {facts.closed:,}."
        )
    return remarks


def _add_frontier(report: Report, facts: Facts) -> None:
    report.section(
        "What can be chosen",
        "Subscriptions that differ in one attribute only are forwarded as one filter around them, which wants all that they "
        "want. A false positive is an event that passes though no subscription wants it, as a share of all events. Each "
        "point is a table that could be forwarded: its size, and the false positives that it costs. Run again with another "
        "budget to have another of them; `frontier.parquet` has all figures.",
    )
    table = facts.frontier
    sizes = table.column("size").to_pylist()
    drawn = _MEASURED if facts.held else {"estimated": "estimated"}
    series = {told: (sizes, table.column(name).to_pylist()) for name, told in drawn.items()}
    chosen = table.filter(table.column("chosen"))
    height = chosen.column("measured" if facts.held else "estimated")
    series["chosen"] = (chosen.column("size").to_pylist(), height.to_pylist())
    in_vain = PlotAxis("events in vain", format="percent")
    report.scatter(series, title="Table size and false positives", x="rows forwarded", y=in_vain)
    rates = ("estimated", "trained", *_MEASURED)
    report.table(chosen, caption="What was chosen", formats=dict.fromkeys(rates, "percent"))


def _add_mergers(report: Report, facts: Facts) -> None:
    if not facts.mergers:
        return
    report.section("Mergers", "What was merged along which attribute, and the mergers of most parts.")
    rows = [
        {"attribute": each.key, "mergers": each.mergers, "parts": each.parts, "in vain": each.in_vain}
        for each in facts.attributes
    ]
    report.table(rows, caption="By attribute", formats={"in vain": "percent"})
    rows = [
        {
            "merger": each.subscription,
            "filter": each.filter,
            "parts": each.parts,
            "in vain": each.in_vain,
        }
        for each in facts.largest
    ]
    report.table(rows, caption="Those of most parts", total=facts.mergers, formats={"in vain": "percent"})
