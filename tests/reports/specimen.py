"""Reports for tests: one with every kind of part, and one whose every text is hostile."""

from __future__ import annotations

import math
from datetime import date, timedelta

import numpy as np
import pyarrow as pa

from thatch.reports import PlotAxis, Report

__all__ = ["HOSTILE", "full_report", "hostile_placement", "hostile_report"]

HOSTILE = [
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "\"'><svg onload=window.hacked=1>",
    "<a href='https://example.com/'>click</a> <b>bold</b> &lt; &amp;",
    "<!-- ]]> --!> {{7*7}} ${7*7} %{x} $\\alpha$",
    "lone \ud800 surrogate, nul \x00, bell \x07, right to left \u202e abc",
    "long " * 4_000,
    "x" * 3_000,
    "",
]


def full_report() -> Report:
    """Every kind of part, as a job would fill it."""
    report = Report(
        "Matches of quotes.parquet",
        command="thatch match --spark quotes.parquet --subscriptions subs.parquet",
    )
    report.facts(
        {
            "events": 200_000,
            "subscriptions": 1_000_000,
            "matches": 12_345_678,
            "events with a match": 0.8321,
            "index": 1_400_000_000,
            "took": 75.3,
        },
        formats={"events with a match": "percent", "index": "bytes", "took": "seconds"},
    )
    report.note(
        "Each event was matched once, by `thatch.Engine`.\n\nWhat could not be read is listed at the end."
    )
    report.section("Attributes", "How often filters name each attribute, and how choosy they are.")
    attributes = ["price", "symbol", "volume", "exchange", "detail.currency", "detail.side"]
    asked = [812_334, 790_002, 120_447, 88_010, 12_003, 950]
    shares = [0.0312, 0.0041, 0.25, 0.5, 0.33, 0.000012]
    report.bars(attributes, asked, title="Filters that name an attribute", label="attribute", value="filters")
    table = pa.table(
        {"attribute": attributes, "filters": asked, "selectivity": shares, "type": ["number", "text"] * 3}
    )
    report.table(table, caption="Attributes", formats={"selectivity": "percent"})
    report.section("Matches", "Most events match few subscriptions; a few match very many.")
    report.histogram(
        [0, 1, 10, 100, 1_000, 10_000, math.inf],
        [33_580, 90_000, 60_120, 15_000, 1_250, 50],
        title="Matches of an event",
        x=PlotAxis("matches", log=True),
        y="events",
    )
    days = [date(2024, 3, 1) + timedelta(days=day) for day in range(40)]
    report.lines(
        {
            name: (days, [5_000 + 1_500 * math.sin(day / 3 + turn) + 40 * day for day in range(40)])
            for name, turn in (("NYSE", 0), ("XETRA", 1), ("Tokyo", 2))
        },
        title="Matches a day",
        x="day",
        y="matches",
    )
    sizes = [10**power for power in range(3, 8)]
    report.lines(
        {
            "index": (sizes, [4e-6, 7e-6, 1.5e-5, 4e-5, 2e-4]),
            "one by one": (sizes, [2e-4, 2e-3, 2e-2, 0.2, 2.1]),
        },
        title="Time an event",
        x=PlotAxis("subscriptions", log=True),
        y=PlotAxis("time", log=True, format="seconds"),
    )
    report.section("Brokers")
    brokers = [f"broker-{number}" for number in range(6)]
    report.heatmap(
        brokers,
        brokers,
        [[None if a == b else abs(a - b) ** 2 * 1000 + 17 * a for b in range(6)] for a in range(6)],
        title="Events between brokers",
        x="to",
        y="from",
        value="events",
    )
    report.bars(
        brokers,
        {"before": [9, 3, 4, 8, 1, 2], "after": [5, 4, 5, 5, 4, 4]},
        title="Load",
        label="broker",
        value="load",
    )
    report.scatter(
        {
            "covered": ([math.cos(n) * n for n in range(200)], [math.sin(n) * n for n in range(200)]),
            "others": ([math.cos(n) * 200 for n in range(60)], [math.sin(n) * 90 for n in range(60)]),
        },
        title="Subscriptions on two attributes",
        x="price",
        y="volume",
    )
    report.triangles(
        {"near": [9_000, 0.1, 40], "even": [12_000, 0.2, 5], "cheap": [700, 2.5, 30]},
        ["bandwidth", "delay", "deviation of loads"],
        title="Three costs",
    )
    report.section("Rejects", "TableRows that could not be read.")
    report.table(
        [
            {"row": row, "reason": f"Expected a number, got 'x{row}' - at price"}
            for row in (3, 17, 20, 101, 9)
        ],
        caption="Rejects",
        most=4,
    )
    return report


def hostile_report() -> Report:
    """The same parts with texts and numbers that mean harm."""
    report = Report(HOSTILE[0], command=HOSTILE[1] + HOSTILE[6] + "`")
    report.facts({text: text for text in HOSTILE})
    numbers = [1, math.nan, math.inf, -math.inf, None, 10**400, -5, 0, 1e300, "no number"]
    for text in HOSTILE:
        report.section(text, f"{text} `{text}`")
        report.note(text)
    rows = [
        {text: [text, {text: [number]}], "number": number}
        for text, number in zip(HOSTILE, numbers, strict=True)
    ]
    report.table(rows, caption=HOSTILE[2])
    report.bars(HOSTILE, numbers, title=HOSTILE[3], label=HOSTILE[4], value=HOSTILE[5])
    report.bars(
        ["a", "b"], {HOSTILE[2]: [1, 2], HOSTILE[0]: [math.nan, 2]}, value=PlotAxis(HOSTILE[1], log=True)
    )
    series = {text: (range(10), numbers) for text in HOSTILE}
    report.lines(series, title=HOSTILE[0], x=HOSTILE[1], y=PlotAxis(HOSTILE[2], log=True))
    report.scatter(series, title=HOSTILE[0], x=HOSTILE[1], y=HOSTILE[2])
    report.heatmap(
        HOSTILE, HOSTILE, [numbers] * 10, title=HOSTILE[5], x=HOSTILE[4], y=HOSTILE[3], value=HOSTILE[2]
    )
    report.triangles(dict.fromkeys(HOSTILE, numbers[:3]) | {"a": [1, 2, 3]}, HOSTILE[:3], title=HOSTILE[3])
    report.places({text: [(0, 1)] for text in HOSTILE}, dict.fromkeys(HOSTILE, (1, 0)), title=HOSTILE[1])
    report.histogram(
        [-math.inf, 0, 1, 2, math.inf], [1, math.nan, math.inf, 2], title=HOSTILE[1], x=HOSTILE[2]
    )
    return report


def hostile_placement() -> Report:
    """The page of an infeasible placement whose brokers, subscribers and files have hostile names."""
    from thatch import parse
    from thatch.pipeline.jobs.place_report import place_report
    from thatch.placement import BrokerTree, Homes, PlacementOptions, Sites, SubscriptionList, place

    names = [text for text in HOSTILE[:9] if text.isprintable()] + ["long " * 500, "x" * 500, "\u202eabc"]
    tree = BrokerTree.of(
        np.array([-1] + [0] * (len(names) - 1)), np.arange(2.0 * len(names)).reshape(-1, 2), names
    )
    sites = Sites(tree=tree, capacities=np.ones(len(names) - 1), complexities=np.full(len(names), 3))
    rows = [(name, parse(f"price < {number}")) for number, name in enumerate(names)]
    homes = Homes(row_of={name: row for row, name in enumerate(names)}, points=np.full((len(names), 2), 9.0))
    plan = place(SubscriptionList(rows), sites, homes, PlacementOptions(algorithm="gr_star", max_delay=0.0))
    assert plan.certificate.broken
    return place_report(plan, HOSTILE[0], HOSTILE[1], refused=[(1, HOSTILE[2])])
