"""Figure 6: how many random points the error asked for needs, before MCS and after."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.ouksel2006.redundant_cover import FULL, QUICK, SETTING, SIMULATION
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number
from thatch.workloads.ouksel2006 import FORMS

__all__ = ["FIG6"]


def _compare(results: Results) -> list[Compared]:
    def told(name: str, form: str, rows: int) -> str | None:
        return each(number(results.mean(name, form=form, attributes=m, rows=rows)) for m in (10, 15, 20))

    lines = []
    for form in FORMS:
        lines += [
            Compared(
                f"log10 d before MCS, {form}, k = 100, m = 10 / 15 / 20",
                "extremely high",
                told("log_trials", form, 100),
            ),
            Compared(
                f"log10 d after MCS, {form}, k = 100, m = 10 / 15 / 20",
                "below 5 for m = 10, falling with m",
                told("log_trials_reduced", form, 100),
                "as far as MCS removes rows (figure 5)",
            ),
        ]
    corrected = Compared(
        "log10 d after MCS, anchored, k = 100, with the corrected witness probability",
        "–",
        told("log_trials_corrected", "anchored", 100),
        "gaps between two rows count too; the paper's estimate is no lower bound",
    )
    return [*lines, corrected]


FIG6 = Experiment(
    name="ouksel2006/fig6",
    figure="Figure 6",
    title="theoretical number of iterations, redundant covering",
    statement="RSPC alone needs extremely many iterations; after MCS d is below 10^5 for 100 subscriptions with 10 "
    "attributes, and much lower for more attributes.",
    setting=SETTING + " The error is 10^-10.",
    simulation=SIMULATION,
    full=FULL,
    quick=QUICK,
    compare=_compare,
    plots=tuple(
        Plot(
            title=f"Iterations {when}, {form}",
            across="rows",
            up=name,
            by=("attributes",),
            where={"form": form},
            x="subscriptions k",
            y="log10 d",
        )
        for form in FORMS
        for when, name in (("before MCS", "log_trials"), ("after MCS", "log_trials_reduced"))
    ),
)
