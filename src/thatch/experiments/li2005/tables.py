"""Sizes of a routing table: all subscriptions, after covering, after perfect and after imperfect merging."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thatch.experiments.li2005.advertised import Advertised
from thatch.experiments.li2005.covering import uncovered
from thatch.experiments.li2005.merging import diagrams_of, merged
from thatch.experiments.li2005.setting import THRESHOLD, subscriptions_of
from thatch.experiments.results import Results
from thatch.experiments.trials import Parameters, Row, Simulation, random_of
from thatch.workloads.li2005 import ATTRIBUTES

__all__ = ["SIMULATION", "STAGES", "share_of"]

STAGES = ("none", "covering", "perfect", "imperfect")


def _trial(parameters: Parameters, seed: int) -> Sequence[Row]:
    order = np.arange(ATTRIBUTES)
    if parameters["order"] == "random":
        order = random_of(seed, "order").permutation(ATTRIBUTES)
    table = subscriptions_of(parameters, seed)
    covered = uncovered(table)
    expected = Advertised(table.values)
    tables = {
        "none": table,
        "covering": covered,
        "perfect": merged(covered, 0.0, expected, order.tolist()),
        "imperfect": merged(covered, THRESHOLD, expected, order.tolist()),
    }
    diagrams = len({each.tail for each in diagrams_of(covered, order.tolist())})
    distinct = len(np.unique(table.numbers))
    return [
        {"stage": stage, "size": len(each), "distinct": distinct, "diagrams": diagrams}
        for stage, each in tables.items()
    ]


def share_of(results: Results, stage: str, **where: str | int) -> float | None:
    """The size of a table as a share of all subscriptions, in the mean."""
    size, whole = (results.mean("size", stage=each, **where) for each in (stage, "none"))
    return None if size is None or whole is None else size / whole


SIMULATION = Simulation(
    name="li2005/tables",
    trial=_trial,
    parameters={"shape": str, "count": int, "scale": int, "order": str},
    results={"stage": str, "size": int, "distinct": int, "diagrams": int},
)
