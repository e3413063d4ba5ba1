"""Figure 13: boxes with different k."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.jafarpour2008.streams import SIMULATION
from thatch.experiments.jafarpour2008.thresholds import FULL, KS, QUICK, THRESHOLDS_SETTING
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number

__all__ = ["FIG13"]


def _compare(results: Results) -> list[Compared]:
    last = max(results.values("arrived"))
    found = (results.mean("boxes", method="approximate", k=k, arrived=last) for k in KS)
    return [
        Compared(
            f"boxes after {last:,}, k = 10 / 50 / 100",
            "considerably more from 50 to 100",
            each(map(number, found)),
            "rising with k, below the exact form",
        ),
        Compared("the same, exact", "–", number(results.mean("boxes", method="exact", arrived=last))),
    ]


FIG13 = Experiment(
    name="jafarpour2008/fig13",
    figure="Figure 13",
    title="boxes for different k",
    statement="The number of boxes rises considerably from k = 50 to 100.",
    setting=THRESHOLDS_SETTING,
    simulation=SIMULATION,
    full=FULL,
    quick=QUICK,
    compare=_compare,
    plots=tuple(
        Plot(
            title=f"Boxes, 3-D, {method}",
            across="arrived",
            up="boxes",
            by=("k",),
            where={"method": method},
            x="subscriptions",
            y="boxes",
        )
        for method in ("approximate", "exact")
    ),
)
