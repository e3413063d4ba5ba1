"""Figure 7: how many rows MCS removes when the box is not covered."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.ouksel2006.non_cover import FULL, QUICK, SETTING, SIMULATION
from thatch.experiments.results import Results
from thatch.experiments.telling import each, percent
from thatch.reports import Axis
from thatch.workloads.ouksel2006 import FORMS

__all__ = ["FIG7"]

_WHY = {
    "anchored": "the first attribute alone frees every row: those left of the gap never meet those right of it",
    "two-sided": "entries of other attributes conflict, and on the first one rows of one side do",
    "wide": "the same",
}


def _compare(results: Results) -> list[Compared]:
    return [
        Compared(
            f"rows removed, {form}, m = {attributes}, k = 10 / 100 / 310",
            "near 100 %, more than in figure 5",
            each(
                percent(results.mean("removed", form=form, attributes=attributes, rows=rows))
                for rows in (10, 100, 310)
            ),
            _WHY[form],
        )
        for form in FORMS
        for attributes in (10, 15, 20)
    ]


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
    plots=tuple(
        Plot(
            title=f"Rows removed, {form}",
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
