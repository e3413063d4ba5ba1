"""Figure 11: the running time of SLP, and bandwidth by filter complexity."""

from __future__ import annotations

from functools import partial

from thatch.experiments.experiment import Compared, Experiment
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number
from thatch.experiments.yu2012.drawings import bandwidth_by, level_lines
from thatch.experiments.yu2012.levels import LEVEL_NAMES, LEVELS, one_and_two
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

__all__ = ["FIG11A", "FIG11B"]

_SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
_PAPER = {(1, 1_000_000): "23 h", (2, 1_000_000): "4 h"}
_COMPLEXITIES = (1, 2, 3, 4, 6, 8)


def _compare_time(results: Results) -> list[Compared]:
    found = []
    for levels, name in LEVEL_NAMES.items():
        for size in results.choices("subscribers", levels=levels):
            seconds = results.mean("processor_time", algorithm="SLP", levels=levels, subscribers=size)
            what = f"processor seconds of SLP, {size:,} subscribers, {name}"
            paper = _PAPER.get((levels, int(size)), "grows with subscribers; read off no figure")
            found.append(Compared(what, paper, number(None if seconds is None else round(seconds, 1))))
    return found


FIG11A = Experiment(
    name="yu2012/fig11a",
    figure="Figure 11a",
    title="running time of SLP",
    statement="A million subscribers take 23 hours on one level of 100 brokers and 4 hours on two levels of 200, on a desktop "
    "of 2009 with CPLEX 10.",
    setting=LEVELS
    + "One level: 100 brokers, (IS:H, BI:H). Two levels: loose, 200 brokers. Processor time, the certificate "
    "included, kernels compiled before. Three seeds.",
    simulation=SIMULATION,
    full=one_and_two(3, subscribers=_SIZES),
    quick=one_and_two(1, is_quick=True, subscribers=(200, SMALL)),
    compare=_compare_time,
    drawings=(
        partial(
            level_lines,
            title="Processor time of SLP",
            across="subscribers",
            up="processor_time",
            x=Axis("subscribers", log=True),
            y=Axis("processor time", log=True, format="seconds"),
            paper={"one level": ([1_000_000], [82_800]), "two levels": ([1_000_000], [14_400])},
        ),
    ),
)


def _compare_complexity(results: Results) -> list[Compared]:
    names = ("SLP", "Gr*", "Gr")
    return [
        *(
            Compared(
                f"bandwidth with {complexity} boxes a filter: {' / '.join(names)}",
                "SLP1 weaker than Gr and Gr*" if int(complexity) <= 2 else "falls with α, little beyond 3",
                bandwidths(results, names, complexity=complexity),
            )
            for complexity in results.choices("complexity")
        ),
        Compared(
            "bandwidth at α = 8 beside α = 3: SLP / Gr*",
            "diminishing",
            each(_gain(results, name) for name in names[:2]),
        ),
    ]


def _gain(results: Results, name: str) -> str | None:
    three, eight = (results.mean("bandwidth", algorithm=name, complexity=each) for each in (3, 8))
    return None if not three or eight is None else number(round(eight / three, 2))


FIG11B = Experiment(
    name="yu2012/fig11b",
    figure="Figure 11b",
    title="bandwidth by filter complexity",
    statement="Bandwidth falls as α grows, for SLP1, Gr and Gr* alike; 3 is the knee. At 1 and 2 SLP1 is more vulnerable.",
    setting=SETTING
    + "Set #1 (IS:H, BI:H), 100,000 subscribers, 100 brokers, α of 1, 2, 3, 4, 6 and 8, five seeds.",
    simulation=SIMULATION,
    full=placements(5, complexity=_COMPLEXITIES, algorithms=(GREEDY, WITH_SLP)),
    quick=placements(
        1, complexity=(1, 3), algorithms=(GREEDY, WITH_SLP), subscribers=(SMALL,), brokers=(FEW,)
    ),
    compare=_compare_complexity,
    plots=(bandwidth_by("complexity", "boxes a filter"),),
)
