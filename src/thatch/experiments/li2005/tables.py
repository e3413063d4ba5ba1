"""Figure 12 and section 6: sizes of a routing table after covering, perfect and imperfect merging; the order of attributes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from thatch.experiments.experiment import Comparison, Comparisons, Experiment
from thatch.experiments.li2005.covering import remove_covered
from thatch.experiments.li2005.merging import Advertised, diagrams_of, merge_table
from thatch.experiments.li2005.setting import (
    COUNT,
    SCALE,
    SETTING,
    SHAPES,
    SMALL,
    THRESHOLD,
    subscriptions_of,
)
from thatch.experiments.results import Results, join, number, percent, ratio
from thatch.experiments.trials import Row, Simulation, columns, grid, random_of
from thatch.workloads.li2005 import ATTRIBUTES, Predicates

__all__ = ["FIG12", "RANDOM_ORDER", "STAGES", "reduce_by_stages", "share_of"]

STAGES = ("none", "covering", "perfect", "imperfect")


def reduce_by_stages(table: Predicates, order: Sequence[int] = range(ATTRIBUTES)) -> dict[str, Predicates]:
    """The routing table without reduction, after covering, and after perfect and imperfect merging."""
    covered, expected = remove_covered(table), Advertised(table.values)
    perfect, imperfect = (merge_table(covered, most, expected, order) for most in (0.0, THRESHOLD))
    return dict(zip(STAGES, (table, covered, perfect, imperfect), strict=True))


def _trial(seed: int, *, shape: str, count: int, scale: int, order: str) -> Iterator[Row]:
    is_random = order == "random"
    attributes = random_of(seed, "order").permutation(ATTRIBUTES) if is_random else np.arange(ATTRIBUTES)
    tables = reduce_by_stages(subscriptions_of(seed, shape, count, scale), attributes.tolist())
    diagrams = len({each.tail for each in diagrams_of(tables["covering"], attributes.tolist())})
    distinct = len(np.unique(tables["none"].numbers))
    for stage, each in tables.items():
        yield {"stage": stage, "size": len(each), "distinct": distinct, "diagrams": diagrams}


def share_of(results: Results, stage: str, **where: str | int) -> float | None:
    """The mean size of a table as a share of all subscriptions."""
    return ratio(*(results.mean("size", stage=each, **where) for each in (stage, "none")))


SIMULATION = Simulation(
    name="li2005/tables", trial=_trial, results=columns(int="size distinct diagrams", str="stage")
)


# The bars are lost; table 2's times of the naive scan, which is linear in the size of the table, stand for them.
_PAPER = {"A": "24.4 / 16.6 / 14.6 %", "B": "55.0 / 50.6 / 46.9 %"}
_WHY = {
    "A": "the pool and the operators were fitted to this",
    "B": "the pool and the operators were fitted to this",
    "A, tails of =": "with `=` below, hardly a publication reaches the top: the threshold prevents no merger",
    "B, tails of =": "likewise, and more so: three `=` of 84 values each hold one publication of 592,704",
    "A, independent": "the paper's covering rate, but no two tails are alike: nothing to merge",
    "B, independent": "likewise",
}


def _compare_sizes(results: Results) -> Comparisons:
    for shape, why in _WHY.items():
        yield Comparison(
            f"left of {number(results.mean('size', stage='none', shape=shape))} by covering / perfect / imperfect merging, "
            f"{shape}: {number(results.mean('distinct', shape=shape))} predicates",
            _PAPER[shape[0]],
            join(percent(share_of(results, stage, shape=shape)) for stage in STAGES[1:]),
            why,
        )


FIG12 = Experiment(
    name="li2005/fig12",
    title="routing table size",
    statement="Covering removes 75 % of set A, which overlaps more, and 45 % of set B; perfect merging removes more, and "
    "imperfect merging still more.",
    setting=SETTING + "Imperfect merging goes up to IMT 0.1; the paper does not give its own. One seed.",
    simulation=SIMULATION,
    full=grid(1, shape=tuple(SHAPES), count=(COUNT,), scale=(1,), order=("given",)),
    quick=grid(1, shape=tuple(SHAPES), count=(SMALL,), scale=(SCALE,), order=("given",)),
    compare=_compare_sizes,
)


_SETS = ("A", "B")


def _compare_orders(results: Results) -> Comparisons:
    for shape in _SETS:
        larger, diagrams = (_difference(results, name, shape) for name in ("size", "diagrams"))
        yield Comparison(
            f"more subscriptions after perfect merging, {shape}",
            "6,076; it does not say of which set",
            larger,
            "the orders differ much; A has more to lose" if shape == "A" else "",
        )
        yield Comparison(f"more tails, {shape}", "more diagrams with fewer outputs; no numbers", diagrams)


def _difference(results: Results, name: str, shape: str) -> str | None:
    given, random = (
        results.mean(name, shape=shape, order=order, stage="perfect") for order in ("given", "random")
    )
    return None if given is None or random is None else f"{number(round(random - given))}"


RANDOM_ORDER = Experiment(
    name="li2005/random_order",
    figure="Section 6",
    title="a random order of attributes",
    statement="With a random order of attributes there are more diagrams with fewer outputs each, so that less is merged: "
    "6,076 subscriptions more after perfect merging.",
    setting=SETTING
    + "The given order has the attributes of tails at the bottom. Three random orders, means.",
    simulation=SIMULATION,
    full=grid(1, shape=_SETS, count=(COUNT,), scale=(1,), order=("given",))
    + grid(3, shape=_SETS, count=(COUNT,), scale=(1,), order=("random",)),
    quick=grid(1, shape=_SETS, count=(SMALL,), scale=(SCALE,), order=("given", "random")),
    compare=_compare_orders,
)
