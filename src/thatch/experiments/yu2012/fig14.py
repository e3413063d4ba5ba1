"""Figure 14: bandwidth of SLP by the number of super-interests."""

from __future__ import annotations

from functools import partial
from itertools import product

from thatch.experiments.experiment import Compared, Experiment
from thatch.experiments.results import Results
from thatch.experiments.yu2012.drawings import level_lines
from thatch.experiments.yu2012.levels import LEVEL_NAMES, LEVELS, one_and_two
from thatch.experiments.yu2012.placements import SIMULATION, bandwidths

__all__ = ["CLUSTERS", "FIG14"]

CLUSTERS = (1, 2, 5, 10)  # super-interests a broker
_PAPER = {1: "falls gradually", 2: "only slightly better with more"}


def _compare(results: Results) -> list[Compared]:
    return [
        Compared(
            f"bandwidth, {clusters} super-interests a broker, {LEVEL_NAMES[levels]}",
            _PAPER[levels],
            bandwidths(results, ("SLP",), levels=levels, clusters=clusters),
        )
        for levels, clusters in product(LEVEL_NAMES, results.choices("clusters"))
    ]


FIG14 = Experiment(
    name="yu2012/fig14",
    figure="Figure 14",
    title="bandwidth by super-interests",
    statement="More super-interests lower bandwidth gradually on one level and hardly on several.",
    setting=LEVELS
    + "Set #1 (IS:H, BI:H); 1, 2, 5 and 10 super-interests a broker or child; two levels loose; five seeds.",
    simulation=SIMULATION,
    full=one_and_two(5, clusters=CLUSTERS),
    quick=one_and_two(1, is_quick=True, clusters=(1, 5)),
    compare=_compare,
    drawings=(
        partial(
            level_lines,
            across="clusters",
            up="bandwidth",
            title="Bandwidth",
            x="super-interests a broker or child",
            y="bandwidth",
        ),
    ),
)
