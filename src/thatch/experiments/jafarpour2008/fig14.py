"""Figure 14: what is found with each selection metric."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.jafarpour2008.metrics import FULL, METRICS, METRICS_SETTING, QUICK
from thatch.experiments.jafarpour2008.streams import SIMULATION
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number

__all__ = ["FIG14"]

_WHY = {10: "the paper's order, 1/cost further behind", 50: "the paper's order, the first two almost alike"}


def _compare(results: Results) -> list[Compared]:
    last = max(results.values("arrived"))
    return [
        Compared(
            f"redundant of {last:,}, k = {k}, benefit/cost | benefit | 1/cost",
            "benefit/cost best, benefit slightly better than 1/cost",
            each(number(results.mean("redundant", k=k, metric=metric, arrived=last)) for metric in METRICS),
            _WHY[k],
        )
        for k in (10, 50)
    ]


FIG14 = Experiment(
    name="jafarpour2008/fig14",
    figure="Figure 14",
    title="effect of the selection metric on what is found",
    statement="Benefit/cost finds most; benefit alone is slightly better than cost alone.",
    setting=METRICS_SETTING,
    simulation=SIMULATION,
    full=FULL,
    quick=QUICK,
    compare=_compare,
    plots=(
        Plot(
            title="Redundant subscriptions, 3-D",
            across="arrived",
            up="redundant",
            by=("metric", "k"),
            x="subscriptions",
            y="redundant",
        ),
    ),
)
