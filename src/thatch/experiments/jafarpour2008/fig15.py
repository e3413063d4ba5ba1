"""Figure 15: boxes with each selection metric."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment
from thatch.experiments.jafarpour2008.metrics import FULL, METRICS_SETTING, QUICK, compared, plotted
from thatch.experiments.jafarpour2008.streams import SIMULATION
from thatch.experiments.results import Results

__all__ = ["FIG15"]


def _compare(results: Results) -> list[Compared]:
    return compared(results, "boxes", "boxes after", "benefit/cost fewest, benefit fewer than 1/cost")


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
    plots=(plotted("boxes", "Boxes, 3-D"),),
)
