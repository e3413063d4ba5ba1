"""Figure 12: the active set by groups over that by pairs."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.ouksel2006.comparison import FULL, QUICK, SETTING, SIMULATION, USUAL
from thatch.experiments.results import Results
from thatch.experiments.telling import each, percent
from thatch.reports import Axis

__all__ = ["FIG12"]


def _compare(results: Results) -> list[Compared]:
    arrived = sorted(set(results.values("arrived").tolist()))

    def ratio(attributes: int, at: int) -> float | None:
        sizes = [
            results.total("active", policy=policy, attributes=attributes, arrived=at, **USUAL)
            for policy in ("group", "pairwise")
        ]
        return None if None in sizes else sizes[0] / sizes[1]  # type: ignore[operator]

    early = 1_000 if 1_000 in arrived else arrived[0]
    return [
        Compared(
            f"group / pairwise at {early:,}, m = 10 / 15 / 20",
            "70 to 80 %",
            each(percent(ratio(m, early)) for m in (10, 15, 20)),
            "lower for m = 10, higher for m = 20",
        ),
        Compared(
            f"group / pairwise at {arrived[-1]:,}, m = 10 / 15 / 20",
            "falling, larger for larger m, almost alike for 15 and 20",
            each(percent(ratio(m, arrived[-1])) for m in (10, 15, 20)),
            "falling and larger for larger m; 15 and 20 differ",
        ),
    ]


FIG12 = Experiment(
    name="ouksel2006/fig12",
    figure="Figure 12",
    title="ratio of group to pairwise covering",
    statement="After 1,000 subscriptions the ratio of the set sizes is between 70 and 80 %, and keeps falling; it is larger "
    "for large m and almost alike for 15 and 20.",
    setting=SETTING,
    simulation=SIMULATION,
    full=FULL,
    quick=QUICK,
    compare=_compare,
    plots=tuple(
        Plot(
            title=f"Share of subscriptions that stay active, m = {attributes}",
            across="arrived",
            up="share",
            by=("policy",),
            where={"attributes": attributes, **USUAL},
            x="incoming subscriptions",
            y=Axis("active", format="percent"),
        )
        for attributes in (10, 15, 20)
    ),
)
