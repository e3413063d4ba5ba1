"""Figures 12 to 15: the approximate form with different k and with different selection metrics, in 3-D."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from thatch.experiments.experiment import Comparison, Comparisons, Experiment, Plot, plot_each
from thatch.experiments.jafarpour2008.streams import SETTING, SIMULATION, SMALL, streams
from thatch.experiments.results import Results, join, number
from thatch.experiments.trials import Grid, Value

__all__ = ["FIG12", "FIG13", "FIG14", "FIG15"]

KS = (10, 50, 100)
THRESHOLDS_SETTING = (
    SETTING + "3-D, scattered; compared with exact negative space and covering of pairs. Five seeds, means."
)


def _all_methods(seeds: int, **choices: Sequence[Value]) -> Grid:
    approximate = streams(seeds, dimensions=(3,), method=("approximate",), k=KS, **choices)
    return approximate + streams(seeds, dimensions=(3,), method=("pairwise", "exact"), **choices)


_by_k = partial(
    Experiment,
    setting=THRESHOLDS_SETTING,
    simulation=SIMULATION,
    full=_all_methods(5),
    quick=_all_methods(1, count=(SMALL,)),
)


def _compare_found(results: Results) -> Comparisons:
    last = max(results.values("arrived"))
    pairwise = results.mean("redundant", method="pairwise", arrived=last)

    def beyond(**where: int | str) -> str | None:
        found = results.mean("redundant", arrived=last, **where)
        return None if found is None or pairwise is None else number(found - pairwise)

    yield Comparison(
        f"subsumed beyond covering of {last:,}, k = 10 / 50 / 100",
        "10 to 50 gains considerably, 50 to 100 does not",
        join(beyond(method="approximate", k=k) for k in KS),
        "as in the paper",
    )
    yield Comparison("the same, exact", "–", beyond(method="exact"), "all that can be found")


FIG12 = _by_k(
    name="jafarpour2008/fig12",
    title="effect of k on what is found",
    statement="From k = 10 to 50 considerably more is found, from 50 to 100 hardly more.",
    compare=_compare_found,
    plots=(Plot("Redundant subscriptions, 3-D", "arrived", "redundant", by=("method", "k")),),
)


def _compare_boxes(results: Results) -> Comparisons:
    last = max(results.values("arrived"))
    yield Comparison(
        f"boxes after {last:,}, k = 10 / 50 / 100",
        "considerably more from 50 to 100",
        results.show_means("boxes", method="approximate", k=KS, arrived=last),
        "rising with k, below the exact form",
    )
    yield Comparison("the same, exact", "–", results.show_means("boxes", method="exact", arrived=last))


FIG13 = _by_k(
    name="jafarpour2008/fig13",
    title="boxes for different k",
    statement="The number of boxes rises considerably from k = 50 to 100.",
    compare=_compare_boxes,
    plots=plot_each("method", ("approximate", "exact"), "Boxes, 3-D, {}", "arrived", "boxes", by=("k",)),
)


_METRICS = ("ratio", "benefit", "cost")  # benefit / cost, benefit, 1 / cost
METRICS_SETTING = (
    SETTING
    + "3-D, scattered, k = 10 and 50; `ratio` is benefit / cost, `cost` its inverse alone. Five seeds, means."
)

_metrics = partial(streams, dimensions=(3,), method=("approximate",), k=(10, 50), metric=_METRICS)
_WHY = {10: "the paper's order, 1/cost further behind", 50: "the paper's order, the first two almost alike"}


def _by_metric(
    value: str, drawn: str, what: str, paper: str, *, name: str, title: str, statement: str
) -> Experiment:
    """The paper's order of metrics beside our values at the end of the streams."""

    def compare(results: Results) -> Comparisons:
        last = max(results.values("arrived"))
        for k, why in _WHY.items():
            ours = results.show_means(value, k=k, metric=_METRICS, arrived=last)
            yield Comparison(f"{what} {last:,}, k = {k}, benefit/cost | benefit | 1/cost", paper, ours, why)

    return Experiment(
        name=name,
        title=title,
        statement=statement,
        setting=METRICS_SETTING,
        simulation=SIMULATION,
        full=_metrics(5),
        quick=_metrics(1, count=(SMALL,)),
        compare=compare,
        plots=(Plot(drawn, "arrived", value, by=("metric", "k")),),
    )


FIG14 = _by_metric(
    "redundant",
    "Redundant subscriptions, 3-D",
    "redundant of",
    "benefit/cost best, benefit slightly better than 1/cost",
    name="jafarpour2008/fig14",
    title="effect of the selection metric on what is found",
    statement="Benefit/cost finds most; benefit alone is slightly better than cost alone.",
)


FIG15 = _by_metric(
    "boxes",
    "Boxes, 3-D",
    "boxes after",
    "benefit/cost fewest, benefit fewer than 1/cost",
    name="jafarpour2008/fig15",
    title="boxes for different selection metrics",
    statement="Benefit/cost leaves the fewest boxes; benefit alone leaves fewer than cost alone.",
)
