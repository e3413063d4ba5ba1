"""The page of `thatch simulate`: traffic, table sizes and delays, policies side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from thatch.broker.messages import Subscribe, Unsubscribe
from thatch.reports import Report
from thatch.reports.figures import PlotAxis
from thatch.runtime.simulated.scenario import Played

__all__ = ["make_page", "summarize"]

_BINS = 30
_FEW = 30  # with at most this many brokers, each has a bar


def summarize(played: Played) -> dict[str, int | float]:
    """The costs of a run in a few numbers."""
    records = played.records
    tables = _tables(played)
    delays = [each.delay for each in records.deliveries]
    return {
        "brokers": len(played.network.brokers),
        "diameter": played.scenario.topology.diameter,
        "subscriptions": len(played.network.oracle),
        "subscription messages": records.messages(Subscribe, Unsubscribe),
        "largest table": max(tables.values(), default=0),
        "mean table": float(np.mean(list(tables.values()) or [0])),
        "events": records.published,
        "events sent to a neighbour": records.publications_sent,
        "of these, not wanted beyond": records.superfluous,
        "deliveries": len(records.deliveries),
        "deliveries missed": played.missed,
        "refused": played.refused,
        "median delay in seconds": float(np.median(delays or [0.0])),
        "longest delay in seconds": max(delays, default=0.0),
        "packets lost": records.lost,
        "bytes": sum(size for _, size in records.by_kind().values()),
    }


def make_page(found: Mapping[str, Played], command: str) -> Report:
    """A page that compares policies."""
    first = next(iter(found.values()))
    report = Report(f"A simulated network of {len(first.network.brokers):,} brokers", command=command)
    routing = first.scenario.routing
    report.facts(
        {
            "brokers": len(first.network.brokers),
            "diameter": first.scenario.topology.diameter,
            "subscriptions": len(first.scenario.interests),
            "events": len(first.scenario.events),
            "publishers": first.scenario.publishers,
            "routing": routing.way,
            "seed": str(first.scenario.seed),
        }
    )
    report.table([{"policy": name, **summarize(each)} for name, each in found.items()], caption="Policies")
    _subscriptions(report, found)
    _sizes(report, found)
    _publications(report, found)
    _delays(report, found)
    _kinds(report, found)
    return report


def _subscriptions(report: Report, found: Mapping[str, Played]) -> None:
    report.section(
        "Subscription traffic", "Messages about subscriptions between brokers, as subscribers arrive."
    )
    series = {
        name: ([stage.subscriptions for stage in each.growth], [stage.messages for stage in each.growth])
        for name, each in found.items()
    }
    report.lines(series, title="Subscription messages", x="subscriptions", y="messages")


def _sizes(report: Report, found: Mapping[str, Played]) -> None:
    report.section("Table sizes", "Subscriptions that each broker knows when all have subscribed.")
    sizes = {
        f"{name}, {what}": (
            [stage.subscriptions for stage in each.growth],
            [getattr(stage, field) for stage in each.growth],
        )
        for name, each in found.items()
        for what, field in (("largest", "largest_table"), ("mean", "mean_table"))
    }
    report.lines(sizes, title="Table sizes", x="subscriptions", y="entries")
    tables = {name: _tables(each) for name, each in found.items()}
    brokers = list(next(iter(tables.values())))
    if len(brokers) <= _FEW:
        columns = {name: [sizes[broker] for broker in brokers] for name, sizes in tables.items()}
        report.bars(brokers, columns, title="Table size of each broker", label="broker", value="entries")
        return
    for name, sizes_of in tables.items():
        counts, edges = np.histogram(list(sizes_of.values()), bins=_BINS)
        report.histogram(edges, counts, title=f"Table sizes: {name}", x="entries", y="brokers")


def _publications(report: Report, found: Mapping[str, Played]) -> None:
    report.section(
        "Publication traffic",
        "How often an event was sent to a neighbour, and how often nobody beyond the link wanted it.",
    )
    names = list(found)
    columns = {
        "wanted beyond": [each.records.needed for each in found.values()],
        "not wanted beyond": [each.records.superfluous for each in found.values()],
    }
    report.bars(names, columns, title="Events sent to neighbours", label="policy", value="events")
    busiest = {name: _busiest(each) for name, each in found.items()}
    rows = [
        {"policy": name, "from": source, "to": target, "events": count}
        for name, listed in busiest.items()
        for (source, target), count in listed
    ]
    report.table(rows, caption="The busiest links")


def _delays(report: Report, found: Mapping[str, Played]) -> None:
    report.section("Delay", "Seconds of virtual time from publication to delivery.")
    for name, each in found.items():
        delays = [delivery.delay for delivery in each.records.deliveries]
        if delays:
            counts, edges = np.histogram(delays, bins=_BINS)
            report.histogram(
                edges, counts, title=f"Delays: {name}", x=PlotAxis("delay", format="seconds"), y="deliveries"
            )


def _kinds(report: Report, found: Mapping[str, Played]) -> None:
    report.section("All messages", "Bytes are estimated; lost and repeated messages count too.")
    rows = [
        {"policy": name, "kind": kind, "messages": messages, "bytes": size}
        for name, each in found.items()
        for kind, (messages, size) in each.records.by_kind().items()
    ]
    report.table(rows, caption="Messages by kind", formats={"bytes": "bytes"})


def _tables(played: Played) -> dict[str, int]:
    """The last known table size of each broker."""
    return {sample.broker: sample.subscriptions for sample in played.records.samples}


def _busiest(played: Played) -> Sequence[tuple[tuple[str, str], int]]:
    counted: Counter[tuple[str, str]] = Counter()
    for each in played.records.traffic():
        if each.kind == "publish":
            counted[each.source, each.target] += each.messages
    return counted.most_common(20)
