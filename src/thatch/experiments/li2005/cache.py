"""Figure 13, its two curves of the predicate step: with the cache of section 4.4 and without."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.li2005.predicates import SIMULATION
from thatch.experiments.li2005.setting import COUNT, SCALE, SETTING, SMALL
from thatch.experiments.results import Results
from thatch.experiments.telling import number
from thatch.experiments.trials import grid
from thatch.reports import Axis

__all__ = ["CACHE"]

_SETS = ("A", "B")


def _compare(results: Results) -> list[Compared]:
    return [line for shape in _SETS for line in _lines(results, shape)]


def _lines(results: Results, shape: str) -> list[Compared]:
    marks = [int(mark) for mark in results.choices("arrived", shape=shape)]
    compared, remembered, known = (
        [results.mean(name, shape=shape, arrived=mark) or 0.0 for mark in marks]
        for name in ("compared_us", "remembered_us", "known")
    )
    slower = [mark for mark, one, two in zip(marks, remembered, compared, strict=True) if one > two]
    paper = "2.46 ms of 23.41: 0.105" if shape == "B" else "–"
    return [
        Compared(
            f"with the cache / without, {shape}, {number(known[-1])} predicates",
            paper,
            f"{remembered[-1] / max(compared[-1], 1e-9):.3f}",
            "nothing is compared any more; in compiled code a whole step takes a few microseconds either way",
        ),
        Compared(
            f"microseconds at the end, {shape}: without | with the cache",
            paper,
            f"{compared[-1]:.0f} | {remembered[-1]:.1f}",
        ),
        Compared(
            f"subscriptions up to which the cache is slower, {shape}",
            "about 50,000",
            f"{max(slower):,}" if slower else f"below {marks[0]:,}",
            "a complete table is kept up by comparing each new predicate once; the paper minimises its table each time",
        ),
    ]


CACHE = Experiment(
    name="li2005/cache",
    figure="Figure 13, predicates",
    title="covering among predicates, with and without a cache",
    statement="At 5,000 predicates it takes 23.41 ms to find how the predicates of a new subscription relate to all others, and "
    "2.46 ms with a cache; while the index is built the cache costs more, up to about 50,000 subscriptions.",
    setting=SETTING
    + "Predicates are constraints on lines, compared in Python. Without the cache one subscription of fifty "
    "is measured. One seed.",
    simulation=SIMULATION,
    full=grid(1, shape=_SETS, count=(COUNT,), scale=(1,), marks=(100,), every=(50,)),
    quick=grid(1, shape=_SETS, count=(SMALL,), scale=(SCALE,), marks=(5,), every=(10,)),
    compare=_compare,
    plots=tuple(
        Plot(
            title=f"Microseconds for the predicates of a subscription, {what} the cache",
            across="arrived",
            up=name,
            by=("shape",),
            x="subscriptions",
            y=Axis("microseconds", log=True),
        )
        for what, name in (("without", "compared_us"), ("with", "remembered_us"))
    ),
)
