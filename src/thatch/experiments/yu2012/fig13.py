"""Figure 13: the load factor of SLP by how many subscribers are sampled for it."""

from __future__ import annotations

from itertools import product

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.results import Results
from thatch.experiments.telling import number
from thatch.experiments.yu2012.levels import FEW_OF_TWO, LEVELS, loose
from thatch.experiments.yu2012.placements import FEW, SIMULATION, SMALL, WITH_SLP, placements

__all__ = ["FIG13"]

_SAMPLED = (2, 5, 10, 20, 40)
_PAPER = {1: "10 suffice for β = 1.5 to β_max = 1.8", 2: "20 suffice for β = 1.3 to β_max = 1.5"}


def _compare(results: Results) -> list[Compared]:
    found = []
    for levels, sampled in product((1, 2), results.choices("sampled")):
        factor = results.mean("load_factor", levels=levels, sampled=sampled)
        what = f"load factor, {sampled} sampled a {'broker' if levels == 1 else 'child'}, "
        what += "one level" if levels == 1 else "two levels"
        found.append(Compared(what, _PAPER[levels], number(None if factor is None else round(factor, 3))))
    return found


FIG13 = Experiment(
    name="yu2012/fig13",
    figure="Figure 13",
    title="load factor by sample size",
    statement="Sampling about 10 subscribers a broker is enough to keep loads on one level, 20 a child on two.",
    setting=LEVELS
    + "Set #1 (IS:H, BI:H); samples of 2, 5, 10, 20 and 40 a broker or child; two levels loose; five seeds. Ours "
    "mends loads after rounding, whatever the sample.",
    simulation=SIMULATION,
    full=placements(5, sampled=_SAMPLED, algorithms=(WITH_SLP,))
    + loose(5, sampled=_SAMPLED, algorithms=(WITH_SLP,)),
    quick=placements(1, sampled=(2, 10), algorithms=(WITH_SLP,), subscribers=(SMALL,), brokers=(FEW,))
    + loose(1, sampled=(2, 10), algorithms=(WITH_SLP,), subscribers=(SMALL,), brokers=(FEW_OF_TWO,)),
    compare=_compare,
    plots=(
        Plot(
            title="Load factor",
            across="sampled",
            up="load_factor",
            by=("levels",),
            x="sampled a broker",
            y="load factor",
        ),
        Plot(
            title="Bandwidth",
            across="sampled",
            up="bandwidth",
            by=("levels",),
            x="sampled a broker",
            y="bandwidth",
        ),
    ),
)
