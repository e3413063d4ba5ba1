"""The page of a plan: who is served by whom, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.pipeline.jobs.job import add_first_rows
from thatch.placement.arrays import Floats, Ints
from thatch.placement.plan import PlacementPlan, Statistics
from thatch.reports import Report

__all__ = ["choose_map", "place_report"]

_MOST = 200  # brokers, in a table
_BARS = 50  # brokers, in a figure
_MAPPED = 40  # boxes, in a map
_COLOURED = 7  # brokers whose subscribers have a colour of their own
_MOST_COORDINATES = 3  # of a location that can be drawn
_SAMPLED = 2_000  # subscribers, in a cloud
_CORNERS = {  # of the triangle: statistics, and what they are called
    "bandwidth": "bandwidth",
    "rms_delay": "root mean square of delays",
    "load_deviation": "deviation of loads",
}


def choose_map(attributes: Sequence[str], axes: Sequence[str]) -> tuple[str, ...]:
    """Choose two attributes to draw filters in: those asked for, else the first two axes, or the only one."""
    for each in attributes:
        if each not in axes:
            raise ParameterError(f"attributes of {', '.join(axes)}", shown(each), "map")
    return tuple(attributes)[:2] or tuple(axes)[:2]


def place_report(
    plan: PlacementPlan,
    path: str,
    command: str,
    *,
    attributes: Sequence[str] = (),
    refused: Sequence[tuple[int, str]] = (),
) -> Report:
    """The page.

    Parameters
    ----------
    path : of the subscriptions, as it was given
    attributes : the two axes in which filters are drawn
    refused : rows that are not subscriptions, with the reasons
    """
    report = Report(f"A placement of the subscribers of {path}", command=command)
    statistics = plan.statistics
    report.facts(
        {
            "subscribers": statistics["subscribers"],
            "brokers that take them": len(plan.loads),
            "status": statistics["status"],
            "events sent to brokers, for each published": statistics["bandwidth"],
            "at least": statistics["rigorous_bound"],
            **({} if plan.counted is None else {"counted in the log": statistics["counted_bandwidth"]}),
            "shares of events": statistics["density"],
            "load factor": statistics["load_factor"],
            "largest delay": statistics["largest_delay"],
            "brokers too full": sum(each.limit == "load" for each in plan.certificate.broken),
            "paths too long": statistics["broken_limits"],
            "rows refused": len(refused),
        },
        formats={"largest delay": "percent"},
    )
    _add_broken(report, plan)
    _add_triangle(report, plan)
    _add_places(report, plan)
    _add_loads(report, plan)
    _add_delays(report, plan)
    _add_map(report, plan, choose_map(attributes, plan.axes))
    _add_filters(report, plan)
    add_first_rows(report, "Rows that are not subscriptions", tuple(refused[:_MOST]), len(refused))
    return report


def _add_broken(report: Report, plan: PlacementPlan) -> None:
    certificate = plan.certificate
    if not certificate.reasons:
        return
    report.section(
        "Limits that are broken", "\n\n".join(f"{each[0].upper()}{each[1:]}." for each in certificate.reasons)
    )
    rows = [
        {
            "limit": each.limit,
            "broker": each.broker,
            "subscribers": each.subscribers,
            "is": each.value,
            "at most": each.allowed,
            "too much": each.excess,
            "worst": each.worst or None,
        }
        for each in certificate.broken
    ]
    report.table(rows, caption="Where, and by how much", most=_MOST)


def _add_triangle(report: Report, plan: PlacementPlan) -> None:
    report.section(
        "Three costs at once",
        "Each relative to the worst: the smaller the triangle, the better. `closest` serves everybody at the nearest broker "
        "with free capacity, `closest_without_balance` at the nearest.",
    )
    every = [plan.statistics, *plan.yardsticks]
    report.triangles(
        {str(each["algorithm"]): [_value(each, name) for name in _CORNERS] for each in every},
        list(_CORNERS.values()),
        title="Bandwidth, delay and balance",
        label="algorithm",
    )
    rows = [
        {
            "algorithm": each["algorithm"],
            "status": each["status"],
            **{words: each[name] for name, words in _CORNERS.items()},
            "load factor": each["load_factor"],
            "paths too long": each["broken_limits"],
        }
        for each in every
    ]
    report.table(rows, caption="This plan beside simpler ones")


def _value(statistics: Statistics, name: str) -> float:
    value = statistics[name]
    return float(value) if isinstance(value, (int, float)) and np.isfinite(value) else 0.0


def _add_places(report: Report, plan: PlacementPlan) -> None:
    """A map, where locations have few coordinates; distances along links have one for each link."""
    axes = plan.homes.shape[1]
    if not 1 <= axes <= _MOST_COORDINATES:
        return
    report.section(
        "Places",
        "Who is served from where; lines are links between brokers."
        + (" Only the first two coordinates are drawn." if axes > 2 else ""),
    )
    tree, some = plan.tree, _sample(plan)
    points = _points(plan.homes)
    colours = plan.tree.leaves[np.argsort(-plan.loads, kind="stable")][:_COLOURED].tolist()
    groups: dict[str, list[tuple[float, float]]] = {tree.names[leaf]: [] for leaf in colours}
    others = f"{len(tree.leaves) - len(colours):,} more of the brokers"
    for number in some.tolist():
        leaf = int(plan.assignment[number])
        groups.setdefault(tree.names[leaf] if leaf in colours else others, []).append(points[number])
    parents = enumerate(tree.parents.tolist())
    report.places(
        {name: each for name, each in groups.items() if each},
        dict(zip(tree.names, _points(tree.locations), strict=True)),
        [(tree.names[parent], tree.names[node]) for node, parent in parents if parent >= 0],
        title="Subscribers by broker",
        what="subscribers",
        site="broker",
        total=len(plan.subscribers),
    )


def _points(locations: Floats) -> list[tuple[float, float]]:
    flat = np.column_stack([locations, np.zeros(len(locations))])
    return [(x, y) for x, y in flat[:, :2].tolist()]


def _add_loads(report: Report, plan: PlacementPlan) -> None:
    report.section("Loads", "How many subscribers each broker serves, and how many it should serve at most.")
    names = [plan.tree.names[leaf] for leaf in plan.tree.leaves.tolist()]
    beta = _value(plan.statistics, "beta")
    allowed = np.floor(beta * plan.shares * len(plan.subscribers) + 1e-9).astype(np.int64)
    order = np.argsort(-plan.loads, kind="stable")
    report.bars(
        [names[each] for each in order],
        {"serves": plan.loads[order].tolist(), "should serve at most": allowed[order].tolist()},
        title="Loads of brokers",
        label="broker",
        value="subscribers",
        most=_BARS,
    )


def _add_delays(report: Report, plan: PlacementPlan) -> None:
    report.section("Delays", "How much longer paths are than the shortest one of the same subscriber.")
    finite = plan.delays[np.isfinite(plan.delays)]
    top = float(finite.max()) if len(finite) and finite.max() > 0 else 1.0
    counts, edges = np.histogram(finite, bins=20, range=(0.0, top))
    report.histogram(
        edges.tolist(), counts.tolist(), title="Subscribers by delay", x="delay", y="subscribers"
    )
    some = _sample(plan)
    shortest = plan.distances[some] / (1 + plan.delays[some])
    report.scatter(
        {"subscribers": (shortest.tolist(), plan.delays[some].tolist())},
        title="Who waits: those near the publisher have few brokers to choose from",
        x="shortest path",
        y="delay",
    )


def _sample(plan: PlacementPlan) -> Ints:
    """Choose some subscribers by their names, whatever their order."""
    if len(plan.subscribers) <= _SAMPLED:
        return np.flatnonzero(np.isfinite(plan.delays))
    hashes = np.array([crc32(name.encode()) for name in plan.subscribers])
    some = np.lexsort((np.array(plan.subscribers), hashes))[:_SAMPLED]
    return np.sort(some[np.isfinite(plan.delays[some])])


def _add_map(report: Report, plan: PlacementPlan, attributes: tuple[str, ...]) -> None:
    report.section(
        "Filters",
        "What brokers let through, drawn in two attributes: from 0, below all events, to 1, above all of them.",
    )
    numbers = [plan.axes.index(each) for each in attributes]
    d = len(plan.axes)
    series: dict[str, tuple[list[float], list[float]]] = {}
    drawn = 0
    for leaf in plan.tree.leaves[np.argsort(-plan.loads, kind="stable")].tolist():
        if len(series) + len(plan.boxes[leaf]) > _MAPPED and series:
            break
        drawn += 1
        for number, box in enumerate(plan.boxes[leaf], start=1):
            left, right = (float(box[numbers[0] + shift]) for shift in (0, d))
            low, high = (
                (float(box[numbers[-1] + shift]) for shift in (0, d)) if len(numbers) > 1 else (0.0, 1.0)
            )
            corners = ([left, right, right, left, left], [low, low, high, high, low])
            series[f"{plan.tree.names[leaf]}, box {number}"] = corners
    across = f"{attributes[0]}, share of events below" if attributes[0] else "events"
    up = f"{attributes[1]}, share of events below" if len(attributes) > 1 else ""
    every = len(plan.tree.leaves)
    which = (
        f"all {every:,} brokers"
        if drawn == every
        else f"{drawn:,} of {every:,} brokers, those that serve most"
    )
    report.lines(series, title=f"Boxes of {which}", x=across, y=up)


def _add_filters(report: Report, plan: PlacementPlan) -> None:
    leaf_load = dict(zip(plan.tree.leaves.tolist(), plan.loads.tolist(), strict=True))
    rows = [
        {
            "broker": name,
            "above it": "" if plan.tree.parents[node] < 0 else plan.tree.names[plan.tree.parents[node]],
            "serves": leaf_load.get(node),
            "share of events": float(plan.volumes[node]),
            **({} if plan.counted is None else {"in the log": float(plan.counted[node])}),
            "filter": "" if plan.filters[node] is None else str(plan.filters[node]),
        }
        for node, name in enumerate(plan.tree.names)
    ]
    report.table(
        rows,
        caption="What each broker asks of the one above it",
        most=_MOST,
        formats={"share of events": "percent", "in the log": "percent"},
    )
