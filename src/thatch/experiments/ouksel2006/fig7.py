"""Figure 7: how many rows MCS removes when the box is not covered."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment
from thatch.experiments.ouksel2006.non_cover import FULL, QUICK, SETTING, SIMULATION
from thatch.experiments.ouksel2006.removed import compared, plots
from thatch.experiments.results import Results

__all__ = ["FIG7"]

_WHY = {
    "anchored": "the first attribute alone frees every row: those left of the gap never meet those right of it",
    "two-sided": "entries of other attributes conflict, and on the first one rows of one side do",
    "wide": "the same",
}


def _compare(results: Results) -> list[Compared]:
    return compared(results, "rows removed", "near 100 %, more than in figure 5", _WHY)


FIG7 = Experiment(
    name="ouksel2006/fig7",
    figure="Figure 7",
    title="reduction by MCS, non-cover",
    statement="MCS performs even better than for redundant covering: most subscriptions are removed quickly.",
    setting=SETTING,
    simulation=SIMULATION,
    full=FULL,
    quick=QUICK,
    compare=_compare,
    plots=plots("Rows removed"),
)
