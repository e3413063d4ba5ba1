"""Figure 14: what is found with each selection metric."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment
from thatch.experiments.jafarpour2008.metrics import FULL, METRICS_SETTING, QUICK, compared, plotted
from thatch.experiments.jafarpour2008.streams import SIMULATION
from thatch.experiments.results import Results

__all__ = ["FIG14"]


def _compare(results: Results) -> list[Compared]:
    return compared(
        results, "redundant", "redundant of", "benefit/cost best, benefit slightly better than 1/cost"
    )


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
    plots=(plotted("redundant", "Redundant subscriptions, 3-D"),),
)
