"""Figure 9: how many random points it takes to find a narrow gap."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.ouksel2006.extreme_non_cover import DELTAS, FULL, QUICK, SETTING, SIMULATION
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number
from thatch.reports import Axis

__all__ = ["FIG9"]

_GAPS = (0.005, 0.01, 0.02, 0.045)


def _compare(results: Results) -> list[Compared]:
    found = [
        Compared(
            f"mean number of guesses, slabs, error {delta:g}, gap 0.5 / 1 / 2 / 4.5 %",
            "about 1 / gap (200 / 100 / 50 / 22), alike for all errors",
            each(
                number(results.mean("guesses", form="slabs", literal=True, delta=delta, gap=gap))
                for gap in _GAPS
            ),
            "a loose error stops before the gap is found" if delta == DELTAS[0] else "as in the paper",
        )
        for delta in DELTAS
    ]
    tiling = each(number(results.mean("guesses", form="tiling", gap=gap)) for gap in _GAPS)
    return [
        *found,
        Compared(
            "mean number of guesses, tiling, all errors",
            "–",
            tiling,
            "a sixth needs no guess, since MCS decides; else the gap decides as with slabs",
        ),
    ]


FIG9 = Experiment(
    name="ouksel2006/fig9",
    figure="Figure 9",
    title="average number of guesses, extreme non-cover",
    statement="The average number of guesses is similar for all errors; it depends on the ratio of the gap to the range.",
    setting=SETTING,
    simulation=SIMULATION,
    full=FULL,
    quick=QUICK,
    compare=_compare,
    plots=(
        Plot(
            title="Guesses, slabs",
            across="gap",
            up="guesses",
            by=("delta",),
            where={"form": "slabs", "literal": True},
            x=Axis("gap", format="percent"),
            y="guesses",
        ),
    ),
)
