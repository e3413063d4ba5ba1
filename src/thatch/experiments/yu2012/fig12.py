"""Figure 12: candidate sets and bandwidth by maximum delay."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.results import Results
from thatch.experiments.telling import percent
from thatch.experiments.yu2012.drawings import bandwidth_by
from thatch.experiments.yu2012.placements import (
    FEW,
    GREEDY,
    SETTING,
    SIMULATION,
    SMALL,
    WITH_SLP,
    bandwidths,
    placements,
)
from thatch.reports import Axis

__all__ = ["FIG12"]

_DELAYS = (0.1, 0.2, 0.3, 0.5, 1.0)


def _compare(results: Results) -> list[Compared]:
    found = []
    for delay in results.choices("delay"):
        found += [
            Compared(
                f"brokers in a candidate set, maximum delay {delay}",
                "about 17 %" if delay == 0.3 else "grows with the delay",
                percent(results.mean("candidates", delay=delay)),
            ),
            Compared(
                f"bandwidth, maximum delay {delay}: SLP / Gr* / Gr",
                "falls with the delay",
                bandwidths(results, ("SLP", "Gr*", "Gr"), delay=delay),
            ),
        ]
    return found


FIG12 = Experiment(
    name="yu2012/fig12",
    figure="Figure 12",
    title="candidate sets and bandwidth by maximum delay",
    statement="A larger maximum delay gives larger candidate sets, about 17 % of the brokers at 0.3, and less bandwidth.",
    setting=SETTING
    + "Set #1 (IS:H, BI:H), 100,000 subscribers, 100 brokers, five seeds. Networks are screened at 0.3: below, "
    "load limits may be out of reach (bandwidths in brackets).",
    simulation=SIMULATION,
    full=placements(5, delay=_DELAYS, algorithms=(GREEDY, WITH_SLP)),
    quick=placements(
        1, delay=(0.3, 1.0), algorithms=(GREEDY, WITH_SLP), subscribers=(SMALL,), brokers=(FEW,)
    ),
    compare=_compare,
    plots=(
        Plot(
            title="Candidate sets",
            across="delay",
            up="candidates",
            x="maximum delay",
            y=Axis("of all brokers", format="percent"),
        ),
        bandwidth_by("delay", "maximum delay"),
    ),
)
