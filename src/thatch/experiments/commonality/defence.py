"""Figures 4 to 6: memory, response times and migrated clusters under a flood of subscriptions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from thatch.experiments.commonality.flood import (
    FLOOD,
    FLOOD_FULL,
    FLOOD_QUICK,
    MIGRATED,
    MIGRATED_FULL,
    MIGRATED_QUICK,
    SETTING,
    SHARING,
)
from thatch.experiments.experiment import Comparison, Comparisons, Experiment, Plot, plot_each
from thatch.experiments.results import Results, join, number, percent
from thatch.experiments.trials import Value

__all__ = ["FIG4", "FIG5", "FIG6"]

_under_flood = partial(Experiment, setting=SETTING, simulation=FLOOD, full=FLOOD_FULL, quick=FLOOD_QUICK)


def _most(results: Results, **where: Value) -> str | None:
    values = results.values("memory", **where)
    values = values[values == values].astype(float)
    return percent(float(values.max())) if len(values) else None


def _survived(results: Results, **where: Value) -> str | None:
    is_alive = results.values("alive", **where)
    arrived = results.values("arrived", **where)
    if not len(is_alive):
        return None
    died = arrived[~is_alive.astype(bool)]
    if not len(died):
        return "alive at the end"
    return f"dead before {number(float(died.min()))} of {number(float(arrived.max()))}"


def _first_move(results: Results, sharing: str) -> str | None:
    where: dict[str, Value] = {"defence": "migration", "sharing": sharing, "store": "sqlite"}
    arrived, moves = results.values("arrived", **where), results.values("moves", **where)
    return number(float(arrived[moves > 0].min())) if (moves > 0).any() else None


def _compare_memory(results: Results) -> Comparisons:
    yield Comparison(
        "4(a), no defence, low sharing",
        "memory grows until the broker stops",
        _survived(results, defence="none", sharing="low", fast="diagrams"),
    )
    for store in results.choices("store", defence="migration"):
        yield Comparison(
            f"4(b), migration to {store}, low sharing: most of the budget",
            "memory is freed again and again, the broker stays up",
            _most(results, defence="migration", sharing="low", store=store),
            "the high mark is at 32 %: merging may need the rest temporarily",
        )
    yield Comparison(
        "4(c), first move after subscriptions, low / high sharing",
        "high sharing holds more subscriptions before memory runs low",
        join(_first_move(results, sharing) for sharing in SHARING),
    )


FIG4 = _under_flood(
    name="commonality/fig4",
    title="memory under a flood of subscriptions",
    statement="Without defence memory is exhausted and the broker no longer functions; by migrating clusters to the database it "
    "stays running; with more sharing more subscriptions fit before memory runs low.",
    compare=_compare_memory,
    plots=plot_each(
        "sharing", SHARING, "Memory, {} sharing", "arrived", "memory", by=("defence", "store", "fast")
    ),
)


def _last(results: Results, name: str, **where: Value) -> float | None:
    arrived, values = results.values("arrived", **where), results.values(name, **where).astype(float)
    if not len(arrived):
        return None
    found = float(values[arrived == arrived.max()].mean())
    return found if found == found else None


def _pair(results: Results, **where: Value) -> str | None:
    both = [_last(results, name, **where) for name in ("shared_ms", "unshared_ms")]
    return " / ".join(number(each) or "none" for each in both) if any(both) else None


def _compare_responses(results: Results) -> Comparisons:
    last = _pair(results, defence="none", sharing="low", fast="diagrams")
    if len(results.values("alive", defence="none", sharing="low")):
        last = last or "none: it is dead"
    what = "5(a), no defence, at the end: shared / unshared stream, ms"
    yield Comparison(what, "responses grow, then stop", last)
    for sharing, (figure, paper) in _RESPONSES.items():
        for store in results.choices("store", defence="migration"):
            yield Comparison(
                f"{figure}, migration to {store}, {sharing} sharing, at the end: shared / unshared stream, ms",
                paper,
                _pair(results, defence="migration", sharing=sharing, store=store),
                "a stream whose cluster moved waits for the database",
            )


_RESPONSES = {
    "low": ("5(b)", "one stream stays quick, the other is slow"),
    "high": ("5(c)", "both alike until the second cluster moves, late"),
}


FIG5 = _under_flood(
    name="commonality/fig5",
    title="response times of two streams under a flood",
    statement="Without defence response times grow until deliveries stop. With migration the stream of high priority stays in "
    "time while the other suffers; with more sharing both are equal for longer.",
    compare=_compare_responses,
    plots=tuple(
        Plot(
            f"Response of the stream whose class shares {most}, {sharing} sharing",
            "arrived",
            up,
            by=("defence", "store", "fast"),
            where={"sharing": sharing},
        )
        for sharing in SHARING
        for most, up in (("most", "shared_ms"), ("least", "unshared_ms"))
    ),
)


# The paper has plots without numbers: only their shapes and the ends of their axes are known.
_PAPER = {
    "low": ("high, most predicates are unique", "up to 400", "close to the node count"),
    "high": ("lower", "up to 350", "far below the node count"),
}


def _compare_clusters(results: Results) -> Comparisons:
    stores = results.choices("store")
    for sharing, papers in _PAPER.items():
        yield Comparison(
            f"6, {sharing} sharing: clusters that moved, {' / '.join(map(str, stores))}",
            "about 900",
            join(number(len(results.values("move", sharing=sharing, store=store))) for store in stores),
            "ours are larger: 60 classes",
        )
        for (what, name, show, why), paper in zip(_MEASURED, papers, strict=True):
            mean = show(results.mean(name, sharing=sharing))
            yield Comparison(f"6, {sharing} sharing: mean {what}", paper, mean, why)


_MEASURED: tuple[tuple[str, str, Callable[[float | None], str | None], str], ...] = (
    ("commonality ratio", "ratio", percent, ""),
    ("node count", "nodes", number, "grows with the budget"),
    ("weighted count", "weighted", number, ""),
)


FIG6 = Experiment(
    name="commonality/fig6",
    title="how much migrated clusters share",
    statement="The ratio of unique predicates to all, the number of unique ones, and their product, which decides the order: with "
    "little sharing product and number are almost the same, with much sharing they are far apart.",
    setting=SETTING,
    simulation=MIGRATED,
    full=MIGRATED_FULL,
    quick=MIGRATED_QUICK,
    compare=_compare_clusters,
    plots=tuple(
        Plot(title, "move", up, by=("sharing", "store"))
        for title, up in (
            ("Commonality ratio", "ratio"),
            ("Node count", "nodes"),
            ("Weighted node count", "weighted"),
        )
    ),
)
