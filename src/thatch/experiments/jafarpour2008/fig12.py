"""Figure 12: what is found with different k."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.jafarpour2008.streams import SIMULATION
from thatch.experiments.jafarpour2008.thresholds import FULL, KS, QUICK, THRESHOLDS_SETTING
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number

__all__ = ["FIG12"]


def _compare(results: Results) -> list[Compared]:
    last = max(results.values("arrived"))
    pairwise = results.mean("redundant", method="pairwise", arrived=last)

    def beyond(**where: int | str) -> float | None:
        found = results.mean("redundant", arrived=last, **where)
        return None if found is None or pairwise is None else found - pairwise

    return [
        Compared(
            f"subsumed beyond covering of {last:,}, k = 10 / 50 / 100",
            "10 to 50 gains considerably, 50 to 100 does not",
            each(number(beyond(method="approximate", k=k)) for k in KS),
            "as in the paper",
        ),
        Compared("the same, exact", "–", number(beyond(method="exact")), "all that can be found"),
    ]


FIG12 = Experiment(
    name="jafarpour2008/fig12",
    figure="Figure 12",
    title="effect of k on what is found",
    statement="From k = 10 to 50 considerably more is found, from 50 to 100 hardly more.",
    setting=THRESHOLDS_SETTING,
    simulation=SIMULATION,
    full=FULL,
    quick=QUICK,
    compare=_compare,
    plots=(
        Plot(
            title="Redundant subscriptions, 3-D",
            across="arrived",
            up="redundant",
            by=("method", "k"),
            x="subscriptions",
            y="redundant",
        ),
    ),
)
