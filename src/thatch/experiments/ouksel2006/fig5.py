"""Figure 5: how many redundant rows MCS removes when the box is covered."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment
from thatch.experiments.ouksel2006.redundant_cover import FULL, QUICK, SETTING, SIMULATION
from thatch.experiments.ouksel2006.removed import compared, plots
from thatch.experiments.results import Results

__all__ = ["FIG5"]

_WHY = {
    "anchored": "the paper's shape, but for m = 10 and many rows",
    "two-sided": "every entry conflicts with some row's: nothing is free to be removed",
    "wide": "the same, a little later",
}


def _compare(results: Results) -> list[Compared]:
    return compared(results, "redundant rows removed", "80 to 100 %, more for larger m", _WHY)


FIG5 = Experiment(
    name="ouksel2006/fig5",
    figure="Figure 5",
    title="reduction by MCS, redundant covering",
    statement="MCS removes between 80 % and 100 % of the redundant subscriptions, more for more attributes.",
    setting=SETTING,
    simulation=SIMULATION,
    full=FULL,
    quick=QUICK,
    compare=_compare,
    plots=plots("Redundant rows removed"),
)
