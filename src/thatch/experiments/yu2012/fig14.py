"""Figure 14: bandwidth of SLP by the number of super-interests."""

from __future__ import annotations

from itertools import product

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.results import Results
from thatch.experiments.yu2012.levels import FEW_OF_TWO, LEVELS, loose
from thatch.experiments.yu2012.placements import FEW, SIMULATION, SMALL, WITH_SLP, bandwidths, placements

__all__ = ["CLUSTERS", "FIG14"]

CLUSTERS = (1, 2, 5, 10)  # super-interests a broker
_PAPER = {1: "falls gradually", 2: "only slightly better with more"}


def _compare(results: Results) -> list[Compared]:
    return [
        Compared(
            f"bandwidth, {clusters} super-interests a broker, {'one level' if levels == 1 else 'two levels'}",
            _PAPER[levels],
            bandwidths(results, ("SLP",), levels=levels, clusters=clusters),
        )
        for levels, clusters in product((1, 2), results.choices("clusters"))
    ]


FIG14 = Experiment(
    name="yu2012/fig14",
    figure="Figure 14",
    title="bandwidth by super-interests",
    statement="More super-interests lower bandwidth gradually on one level and hardly on several.",
    setting=LEVELS
    + "Set #1 (IS:H, BI:H); 1, 2, 5 and 10 super-interests a broker or child; two levels loose; five seeds.",
    simulation=SIMULATION,
    full=placements(5, clusters=CLUSTERS, algorithms=(WITH_SLP,))
    + loose(5, clusters=CLUSTERS, algorithms=(WITH_SLP,)),
    quick=placements(1, clusters=(1, 5), algorithms=(WITH_SLP,), subscribers=(SMALL,), brokers=(FEW,))
    + loose(1, clusters=(1, 5), algorithms=(WITH_SLP,), subscribers=(SMALL,), brokers=(FEW_OF_TWO,)),
    compare=_compare,
    plots=(
        Plot(
            title="Bandwidth",
            across="clusters",
            up="bandwidth",
            by=("levels",),
            x="super-interests a broker",
            y="bandwidth",
        ),
    ),
)
