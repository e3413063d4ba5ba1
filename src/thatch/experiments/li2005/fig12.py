"""Figure 12: routing table sizes of sets A and B."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment
from thatch.experiments.li2005.setting import COUNT, SCALE, SETTING, SHAPES, SMALL
from thatch.experiments.li2005.tables import SIMULATION, STAGES, share_of
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number, percent
from thatch.experiments.trials import grid

__all__ = ["FIG12"]

# Table 2's times of the naive scan, which is linear in the size of the table, stand for the bars, which are lost.
PAPER = {"A": "24.4 / 16.6 / 14.6 %", "B": "55.0 / 50.6 / 46.9 %"}
_WHY = {
    "A": "the pool and the operators were fitted to this",
    "B": "the pool and the operators were fitted to this",
    "A, tails of =": "with `=` below, hardly a publication reaches the top: the threshold keeps nothing apart",
    "B, tails of =": "likewise, and more so: three `=` of 84 values each hold one publication of 592,704",
    "A, independent": "the paper's covering rate, but no two tails are alike: nothing to merge",
    "B, independent": "likewise",
}


def _compare(results: Results) -> list[Compared]:
    return [
        Compared(
            f"left of {number(results.mean('size', stage='none', shape=shape))} by covering / perfect / imperfect merging, "
            f"{shape}: {number(results.mean('distinct', shape=shape))} predicates",
            PAPER[shape[0]],
            each(percent(share_of(results, stage, shape=shape)) for stage in STAGES[1:]),
            why,
        )
        for shape, why in _WHY.items()
    ]


FIG12 = Experiment(
    name="li2005/fig12",
    figure="Figure 12",
    title="routing table size",
    statement="Covering removes 75 % of set A, which overlaps more, and 45 % of set B; perfect merging removes more, and "
    "imperfect merging still more.",
    setting=SETTING + "Imperfect merging is up to IMT 0.1; the paper does not tell its own. One seed.",
    simulation=SIMULATION,
    full=grid(1, shape=tuple(SHAPES), count=(COUNT,), scale=(1,), order=("given",)),
    quick=grid(1, shape=tuple(SHAPES), count=(SMALL,), scale=(SCALE,), order=("given",)),
    compare=_compare,
)
