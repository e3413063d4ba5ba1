"""Figure 5: how many redundant rows MCS removes when the box is covered."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.ouksel2006.redundant_cover import FULL, QUICK, SETTING, SIMULATION
from thatch.experiments.results import Results
from thatch.experiments.telling import each, percent
from thatch.reports import Axis
from thatch.workloads.ouksel2006 import FORMS

__all__ = ["FIG5"]

_WHY = {
    "anchored": "the paper's shape, but for m = 10 and many rows",
    "two-sided": "every entry conflicts with some row's: nothing is free to be removed",
    "wide": "the same, a little later",
}


def _compare(results: Results) -> list[Compared]:
    return [
        Compared(
            f"redundant rows removed, {form}, m = {attributes}, k = 10 / 100 / 310",
            "80 to 100 %, more for larger m",
            each(
                percent(results.mean("removed", form=form, attributes=attributes, rows=rows))
                for rows in (10, 100, 310)
            ),
            _WHY[form],
        )
        for form in FORMS
        for attributes in (10, 15, 20)
    ]


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
    plots=tuple(
        Plot(
            title=f"Redundant rows removed, {form}",
            across="rows",
            up="removed",
            by=("attributes",),
            where={"form": form},
            x="subscriptions k",
            y=Axis("removed", format="percent"),
        )
        for form in FORMS
    ),
)
