"""Figures 14 and 15: three ways to choose the boxes that are split, in 3-D."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Plot
from thatch.experiments.jafarpour2008.streams import SETTING, SMALL, streams
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number

__all__ = ["FULL", "METRICS_SETTING", "QUICK", "compared", "plotted"]

_METRICS = ("ratio", "benefit", "cost")  # benefit / cost, benefit, 1 / cost
METRICS_SETTING = (
    SETTING
    + "3-D, scattered, k = 10 and 50; `ratio` is benefit / cost, `cost` its inverse alone. Five seeds, means."
)

FULL = streams(5, dimensions=(3,), method=("approximate",), k=(10, 50), metric=_METRICS)
QUICK = streams(1, dimensions=(3,), method=("approximate",), k=(10, 50), metric=_METRICS, count=(SMALL,))

_WHY = {10: "the paper's order, 1/cost further behind", 50: "the paper's order, the first two almost alike"}


def compared(results: Results, value: str, what: str, paper: str) -> list[Compared]:
    """The paper's order of metrics beside our values at the end of the streams."""
    last = max(results.values("arrived"))
    return [
        Compared(
            f"{what} {last:,}, k = {k}, benefit/cost | benefit | 1/cost",
            paper,
            each(number(results.mean(value, k=k, metric=metric, arrived=last)) for metric in _METRICS),
            _WHY[k],
        )
        for k in (10, 50)
    ]


def plotted(value: str, title: str) -> Plot:
    """A value as subscriptions come, for each metric."""
    return Plot(title=title, across="arrived", up=value, by=("metric", "k"), x="subscriptions", y=value)
