"""Sections 5 and 6: the policy `Merging`, which goes beyond the paper, beside the paper's merging."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from time import process_time

from thatch.experiments.experiment import Comparison, Comparisons, Experiment
from thatch.experiments.li2005.covering import remove_covered
from thatch.experiments.li2005.merging import Advertised, merge_table
from thatch.experiments.li2005.setting import COUNT, SCALE, SETTING, SMALL, THRESHOLD, subscriptions_of
from thatch.experiments.results import Results, number
from thatch.experiments.trials import Row, Simulation, columns, grid

__all__ = ["POLICIES"]

_SETS = ("A", "B", "A, tails of =", "B, tails of =")
_COUNT = 5_000
_WHY = {
    0.0: "groups cover more, and more can be merged; but a subscription stays when a later one covers it",
    THRESHOLD: "the policy also has a budget for the false positives of all its mergers together",
}


def _trial(seed: int, *, shape: str, count: int, scale: int, threshold: float) -> Sequence[Row]:
    from thatch.reduction import ForwardingSet, Merging

    table = subscriptions_of(seed, shape, count, scale)
    covered = remove_covered(table)
    filters = table.filters()
    link = ForwardingSet(Merging(threshold=threshold), schema=table.schema)
    moment = process_time()
    for row, each in enumerate(filters):
        link.add(str(row), each)
    spent = process_time() - moment
    return [
        {
            "covered": len(covered),
            "paper_size": len(merge_table(covered, threshold, Advertised(table.values))),
            "size": link.stats()["active"],
            "us": 1e6 * spent / len(filters),
        }
    ]


def _compare(results: Results) -> Comparisons:
    known = results.choices("shape")
    for shape, (threshold, why) in product((each for each in _SETS if each in known), _WHY.items()):
        sizes = ("covered", "paper_size", "size")
        yield Comparison(
            f"table of {number(results.mean('count'))}, IMT {threshold}, {shape}: covering | the paper's merging | the policy",
            "no numbers",
            results.show_means(sizes, number, " | ", shape=shape, threshold=threshold),
            why,
        )


POLICIES = Experiment(
    name="li2005/policies",
    figure="Sections 5 and 6",
    title="the policy Merging beside the paper's merging",
    statement="Which subscriptions to merge is NP-complete; the paper tries those that differ in the topmost predicate, and "
    "says that there may be more rules.",
    setting=SETTING
    + "The policy merges while subscriptions come, over any attribute, under a budget of false positives for "
    "the whole link, and leaves out what groups cover. Five thousand subscriptions from a pool that is smaller in proportion, one seed.",
    simulation=Simulation(
        name="li2005/policies", trial=_trial, results=columns(int="covered paper_size size", float="us")
    ),
    full=grid(1, shape=_SETS, count=(_COUNT,), scale=(COUNT // _COUNT,), threshold=(0.0, THRESHOLD)),
    quick=grid(
        1, shape=("A", "B, tails of ="), count=(SMALL // 4,), scale=(4 * SCALE,), threshold=(0.0, THRESHOLD)
    ),
    compare=_compare,
)
