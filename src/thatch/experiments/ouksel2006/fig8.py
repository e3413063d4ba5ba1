"""Figure 8: how many random points it takes to find that the box is not covered."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.ouksel2006.non_cover import FULL, QUICK, SETTING, SIMULATION
from thatch.experiments.results import Results
from thatch.experiments.telling import number
from thatch.workloads.ouksel2006 import FORMS

__all__ = ["FIG8"]

_WHY = {
    "anchored": "MCS, or the count of entries before it, decides every run",
    "two-sided": "MCS leaves rows, but most of the box is free and the first points find that",
    "wide": "the same with more of the box covered",
}


def _compare(results: Results) -> list[Compared]:
    lines = [
        Compared(
            f"mean number of iterations, {form}, all k and m",
            "below 0.5",
            number(results.mean("guesses", form=form)),
            _WHY[form],
        )
        for form in FORMS
    ]
    wrong = results.total("is_wrong")
    return [*lines, Compared("wrong decisions", "none", number(wrong), f"of {len(results):,} runs")]


FIG8 = Experiment(
    name="ouksel2006/fig8",
    figure="Figure 8",
    title="actual number of iterations, non-cover",
    statement="The average number of iterations is below 0.5, since the reduced set is empty in most cases; the algorithm "
    "always found that the box is not covered.",
    setting=SETTING,
    simulation=SIMULATION,
    full=FULL,
    quick=QUICK,
    compare=_compare,
    plots=tuple(
        Plot(
            title=f"Iterations until a witness was found, {form}",
            across="rows",
            up="guesses",
            by=("attributes",),
            where={"form": form},
            x="subscriptions k",
            y="iterations",
        )
        for form in FORMS
    ),
)
