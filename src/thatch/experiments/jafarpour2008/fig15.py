"""Figure 15: boxes with each selection metric."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.jafarpour2008.metrics import FULL, METRICS, METRICS_SETTING, QUICK
from thatch.experiments.jafarpour2008.streams import SIMULATION
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number

__all__ = ["FIG15"]

_WHY = {10: "the paper's order, 1/cost further behind", 50: "the paper's order, the first two almost alike"}


def _compare(results: Results) -> list[Compared]:
    last = max(results.values("arrived"))
    return [
        Compared(
            f"boxes after {last:,}, k = {k}, benefit/cost | benefit | 1/cost",
            "benefit/cost fewest, benefit fewer than 1/cost",
            each(number(results.mean("boxes", k=k, metric=metric, arrived=last)) for metric in METRICS),
            _WHY[k],
        )
        for k in (10, 50)
    ]


FIG15 = Experiment(
    name="jafarpour2008/fig15",
    figure="Figure 15",
    title="boxes for different selection metrics",
    statement="Benefit/cost leaves the fewest boxes; benefit alone leaves fewer than cost alone.",
    setting=METRICS_SETTING,
    simulation=SIMULATION,
    full=FULL,
    quick=QUICK,
    compare=_compare,
    plots=(
        Plot(
            title="Boxes, 3-D",
            across="arrived",
            up="boxes",
            by=("metric", "k"),
            x="subscriptions",
            y="boxes",
        ),
    ),
)
