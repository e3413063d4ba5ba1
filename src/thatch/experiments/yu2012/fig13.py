"""Figure 13: the load factor of SLP by how many subscribers are sampled for it."""

from __future__ import annotations

from functools import partial
from itertools import product

from thatch.experiments.experiment import Compared, Experiment
from thatch.experiments.results import Results
from thatch.experiments.telling import number
from thatch.experiments.yu2012.drawings import level_lines
from thatch.experiments.yu2012.levels import LEVEL_NAMES, LEVELS, one_and_two
from thatch.experiments.yu2012.placements import SIMULATION

__all__ = ["FIG13"]

_SAMPLED = (2, 5, 10, 20, 40)
_PAPER = {1: "10 suffice for β = 1.5 to β_max = 1.8", 2: "20 suffice for β = 1.3 to β_max = 1.5"}


def _compare(results: Results) -> list[Compared]:
    found = []
    for levels, sampled in product(LEVEL_NAMES, results.choices("sampled")):
        factor = results.mean("load_factor", levels=levels, sampled=sampled)
        what = (
            f"load factor, {sampled} sampled a {'broker' if levels == 1 else 'child'}, {LEVEL_NAMES[levels]}"
        )
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
    full=one_and_two(5, sampled=_SAMPLED),
    quick=one_and_two(1, is_quick=True, sampled=(2, 10)),
    compare=_compare,
    drawings=tuple(
        partial(
            level_lines, across="sampled", up=up, title=title, x="sampled a broker or child", y=title.lower()
        )
        for up, title in (("load_factor", "Load factor"), ("bandwidth", "Bandwidth"))
    ),
)
