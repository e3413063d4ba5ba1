"""Sections 5 and 6: the policy `Merging`, which goes beyond the paper, beside the paper's way of merging."""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time

from thatch.experiments.experiment import Compared, Experiment
from thatch.experiments.li2005.advertised import Advertised
from thatch.experiments.li2005.covering import uncovered
from thatch.experiments.li2005.merging import merged
from thatch.experiments.li2005.setting import COUNT, SCALE, SETTING, SMALL, THRESHOLD, subscriptions_of
from thatch.experiments.results import Results
from thatch.experiments.telling import number
from thatch.experiments.trials import Parameters, Row, Simulation, grid

__all__ = ["POLICIES"]

_SETS = ("A", "B", "A, tails of =", "B, tails of =")
_COUNT = 5_000
_WHY = {
    0.0: "groups cover more, and more may be merged; but what a later subscription covers stays",
    THRESHOLD: "the policy has a budget, too: of what all its mergers let through in vain, together",
}


def _trial(parameters: Parameters, seed: int) -> Sequence[Row]:
    from thatch.reduction import ForwardingSet, Merging

    threshold = float(parameters["threshold"])
    table = subscriptions_of(parameters, seed)
    covered = uncovered(table)
    filters = table.filters()
    link = ForwardingSet(Merging(threshold=threshold), schema=table.schema)
    moment = process_time()
    for place, each in enumerate(filters):
        link.add(str(place), each)
    spent = process_time() - moment
    return [
        {
            "covered": len(covered),
            "paper_size": len(merged(covered, threshold, Advertised(table.values))),
            "size": link.stats()["active"],
            "us": 1e6 * spent / len(filters),
        }
    ]


def _compare(results: Results) -> list[Compared]:
    return [
        Compared(
            f"table of {number(results.mean('count'))}, IMT {threshold}, {shape}: covering | the paper's merging | the policy",
            "no numbers",
            " | ".join(
                number(results.mean(name, shape=shape, threshold=threshold)) or "–"
                for name in ("covered", "paper_size", "size")
            ),
            _WHY[threshold],
        )
        for shape in _SETS
        if shape in results.choices("shape")
        for threshold in (0.0, THRESHOLD)
    ]


POLICIES = Experiment(
    name="li2005/policies",
    figure="Sections 5 and 6",
    title="the policy Merging beside the paper's merging",
    statement="Which subscriptions to merge is NP-complete; the paper tries those that differ in the topmost predicate, and "
    "says that there may be more rules.",
    setting=SETTING
    + "The policy merges while subscriptions come, over any attribute, under a budget of false positives for "
    "the whole link, and leaves out what groups cover. Five thousand subscriptions of a pool that is smaller by as much, one seed.",
    simulation=Simulation(
        name="li2005/policies",
        trial=_trial,
        parameters={"shape": str, "count": int, "scale": int, "threshold": float},
        results={"covered": int, "paper_size": int, "size": int, "us": float},
    ),
    full=grid(1, shape=_SETS, count=(_COUNT,), scale=(COUNT // _COUNT,), threshold=(0.0, THRESHOLD)),
    quick=grid(
        1, shape=("A", "B, tails of ="), count=(SMALL // 4,), scale=(4 * SCALE,), threshold=(0.0, THRESHOLD)
    ),
    compare=_compare,
)
