"""Figure 10: how often a narrow gap is missed, and the subscription not forwarded."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.ouksel2006.extreme_non_cover import DELTAS, FULL, QUICK, RUNS, SETTING, SIMULATION
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number, percent
from thatch.reports import Axis

__all__ = ["FIG10"]

_GAPS = (0.005, 0.01, 0.015, 0.02)
_PAPER = {
    1e-3: "low from 2 % on",
    1e-6: "none for gaps above 1 %",
    1e-10: "none for gaps above 1 %",
}


def _compare(results: Results) -> list[Compared]:
    def wrong(delta: float, gap: float, *, literal: bool) -> float | None:
        share = results.mean("is_wrong", form="slabs", delta=delta, gap=gap, literal=literal)
        return None if share is None else round(share * RUNS)

    found = [
        Compared(
            f"false decisions of {RUNS:,}, slabs, error {delta:g}, gap 0.5 / 1 / 1.5 / 2 %",
            _PAPER[delta],
            each(number(wrong(delta, gap, literal=True)) for gap in _GAPS),
            "the paper's witness probability takes a slab's width for the gap's: more errors than were asked for",
        )
        for delta in DELTAS
    ]
    found += [
        Compared(
            f"the same with the corrected witness probability, error {delta:g}",
            "–",
            each(number(wrong(delta, gap, literal=False)) for gap in _GAPS),
            f"at most {delta * RUNS:g} are allowed in the mean",
        )
        for delta in DELTAS
    ]
    tiling = percent(results.mean("is_wrong", form="tiling"))
    return [*found, Compared("false decisions, tiling, all gaps and errors", "–", tiling)]


FIG10 = Experiment(
    name="ouksel2006/fig10",
    figure="Figure 10",
    title="false decisions, extreme non-cover",
    statement="For errors below 10^-6 and gaps above 1 % the decision is always right; for 10^-3 the number of false "
    "decisions is quite low if the gap is at least 2 %.",
    setting=SETTING,
    simulation=SIMULATION,
    full=FULL,
    quick=QUICK,
    compare=_compare,
    plots=tuple(
        Plot(
            title=f"Share of false decisions, slabs, {name} witness probability",
            across="gap",
            up="is_wrong",
            by=("delta",),
            where={"form": "slabs", "literal": literal},
            x=Axis("gap", format="percent"),
            y=Axis("false decisions", format="percent"),
        )
        for name, literal in (("the paper's", True), ("the corrected", False))
    ),
)
