"""Figures 12 to 15: the approximate form with different k and with different selection metrics, in 3-D."""

from __future__ import annotations

from functools import partial

from thatch.experiments.experiment import Comparison, Experiment, Plot, join, number
from thatch.experiments.jafarpour2008.streams import SETTING, SIMULATION, SMALL, streams
from thatch.experiments.results import Results

__all__ = ["FIG12", "FIG13", "FIG14", "FIG15"]

KS = (10, 50, 100)
THRESHOLDS_SETTING = (
    SETTING + "3-D, scattered; compared with exact negative space and covering of pairs. Five seeds, means."
)

FULL = streams(5, dimensions=(3,), method=("approximate",), k=KS) + streams(
    5, dimensions=(3,), method=("pairwise", "exact")
)
QUICK = streams(1, dimensions=(3,), method=("approximate",), k=KS, count=(SMALL,)) + streams(
    1, dimensions=(3,), method=("pairwise", "exact"), count=(SMALL,)
)

_by_k = partial(Experiment, setting=THRESHOLDS_SETTING, simulation=SIMULATION, full=FULL, quick=QUICK)


def _compare_found(results: Results) -> list[Comparison]:
    last = max(results.values("arrived"))
    pairwise = results.mean("redundant", method="pairwise", arrived=last)

    def beyond(**where: int | str) -> float | None:
        found = results.mean("redundant", arrived=last, **where)
        return None if found is None or pairwise is None else found - pairwise

    return [
        Comparison(
            f"subsumed beyond covering of {last:,}, k = 10 / 50 / 100",
            "10 to 50 gains considerably, 50 to 100 does not",
            join(number(beyond(method="approximate", k=k)) for k in KS),
            "as in the paper",
        ),
        Comparison("the same, exact", "–", number(beyond(method="exact")), "all that can be found"),
    ]


FIG12 = _by_k(
    name="jafarpour2008/fig12",
    title="effect of k on what is found",
    statement="From k = 10 to 50 considerably more is found, from 50 to 100 hardly more.",
    compare=_compare_found,
    plots=(Plot("Redundant subscriptions, 3-D", "arrived", "redundant", by=("method", "k")),),
)


def _compare_boxes(results: Results) -> list[Comparison]:
    last = max(results.values("arrived"))
    found = (results.mean("boxes", method="approximate", k=k, arrived=last) for k in KS)
    return [
        Comparison(
            f"boxes after {last:,}, k = 10 / 50 / 100",
            "considerably more from 50 to 100",
            join(map(number, found)),
            "rising with k, below the exact form",
        ),
        Comparison("the same, exact", "–", number(results.mean("boxes", method="exact", arrived=last))),
    ]


FIG13 = _by_k(
    name="jafarpour2008/fig13",
    title="boxes for different k",
    statement="The number of boxes rises considerably from k = 50 to 100.",
    compare=_compare_boxes,
    plots=tuple(
        Plot(f"Boxes, 3-D, {method}", "arrived", "boxes", by=("k",), where={"method": method})
        for method in ("approximate", "exact")
    ),
)


_METRICS = ("ratio", "benefit", "cost")  # benefit / cost, benefit, 1 / cost
METRICS_SETTING = (
    SETTING
    + "3-D, scattered, k = 10 and 50; `ratio` is benefit / cost, `cost` its inverse alone. Five seeds, means."
)

METRICS_FULL = streams(5, dimensions=(3,), method=("approximate",), k=(10, 50), metric=_METRICS)
METRICS_QUICK = streams(
    1, dimensions=(3,), method=("approximate",), k=(10, 50), metric=_METRICS, count=(SMALL,)
)

_by_metric = partial(
    Experiment, setting=METRICS_SETTING, simulation=SIMULATION, full=METRICS_FULL, quick=METRICS_QUICK
)

_WHY = {10: "the paper's order, 1/cost further behind", 50: "the paper's order, the first two almost alike"}


def _compare_metrics(results: Results, *, value: str, what: str, paper: str) -> list[Comparison]:
    """The paper's order of metrics beside our values at the end of the streams."""
    last = max(results.values("arrived"))
    return [
        Comparison(
            f"{what} {last:,}, k = {k}, benefit/cost | benefit | 1/cost",
            paper,
            join(number(results.mean(value, k=k, metric=metric, arrived=last)) for metric in _METRICS),
            _WHY[k],
        )
        for k in (10, 50)
    ]


def _plot_metrics(value: str, title: str) -> Plot:
    """A result as subscriptions arrive, for each metric."""
    return Plot(title, "arrived", value, by=("metric", "k"))


FIG14 = _by_metric(
    name="jafarpour2008/fig14",
    title="effect of the selection metric on what is found",
    statement="Benefit/cost finds most; benefit alone is slightly better than cost alone.",
    compare=partial(
        _compare_metrics,
        value="redundant",
        what="redundant of",
        paper="benefit/cost best, benefit slightly better than 1/cost",
    ),
    plots=(_plot_metrics("redundant", "Redundant subscriptions, 3-D"),),
)


FIG15 = _by_metric(
    name="jafarpour2008/fig15",
    title="boxes for different selection metrics",
    statement="Benefit/cost leaves the fewest boxes; benefit alone leaves fewer than cost alone.",
    compare=partial(
        _compare_metrics,
        value="boxes",
        what="boxes after",
        paper="benefit/cost fewest, benefit fewer than 1/cost",
    ),
    plots=(_plot_metrics("boxes", "Boxes, 3-D"),),
)
