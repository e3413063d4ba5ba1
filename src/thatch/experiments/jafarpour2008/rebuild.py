"""Section 4: the accuracy that approximate negative space loses under churn and regains by a rebuild."""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import deepcopy
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from thatch.experiments.experiment import Comparison, Comparisons, Experiment, Plot
from thatch.experiments.redundancy import is_redundant
from thatch.experiments.results import Results, number
from thatch.experiments.trials import Row, Simulation, columns, grid, random_of
from thatch.workloads.jafarpour2008 import TOP, zipf_boxes

if TYPE_CHECKING:
    from thatch.reduction.negative_space import ApproximateSpace

__all__ = ["REBUILD"]


_WHY = {
    False: "lost to churn; a rebuild regains most of it",
    True: "not lost: later ones cover earlier ones, which counting by arrival leaves out",
}

Ints = npt.NDArray[np.int64]


def _trial(seed: int, *, dimensions: int, live: int, times: int, k: int, reassigns: bool) -> Iterator[Row]:
    """Subscribe, then replace subscriptions one by one; after each turn count those known to be redundant."""
    from thatch.reduction.boxes import Boxes
    from thatch.reduction.negative_space import ApproximateSpace

    rng = random_of(seed, dimensions, live, times)
    lows, highs = zipf_boxes(rng, live * (times + 1), dimensions)
    domain = np.zeros(dimensions, np.int64), np.full(dimensions, TOP, np.int64)

    def box(row: int) -> Boxes:
        return Boxes.of(lows[row : row + 1], highs[row : row + 1])

    space = ApproximateSpace(k, unsubscribe="reassign" if reassigns else "hand back", domain=domain)
    here = list(range(live))
    for row in here:
        space.add(row, box(row))
    yield _count(0, space, lows[here], highs[here], here)
    for turn in range(times):
        for row in range(live * (turn + 1), live * (turn + 2)):
            space.remove(here.pop(int(rng.integers(live))))
            space.add(row, box(row))
            here.append(row)
        yield _count(turn + 1, space, lows[here], highs[here], here)


def _count(turn: int, space: ApproximateSpace, lows: Ints, highs: Ints, here: list[int]) -> Row:
    """Counts of this moment, and of copies that are rebuilt."""
    rebuilt, by_volume = deepcopy(space), deepcopy(space)
    moves = rebuilt.rebuild()
    by_volume.rebuild("volume")
    return {
        "turn": turn,
        "passive": len(space.passive),
        "rebuilt": len(rebuilt.passive),
        "rebuilt_by_volume": len(by_volume.passive),
        "exact": int(is_redundant(lows, highs).sum()),
        "unsafe": _unsafe(space, lows, highs, here),
        "boxes": space.stats()["boxes"],
        "boxes_rebuilt": rebuilt.stats()["boxes"],
        "forwards": len(moves.forward),
        "withdrawals": len(moves.withdraw),
    }


def _unsafe(space: ApproximateSpace, lows: Ints, highs: Ints, here: list[int]) -> int:
    """How many passive subscriptions the active ones do not cover."""
    from thatch.reduction.boxes import Boxes
    from thatch.reduction.index import BoxIndex

    is_active = np.isin(here, space.active)
    index = BoxIndex.of(Boxes.of(lows[is_active], highs[is_active]))
    answers = index.decide_many(Boxes.of(lows[~is_active], highs[~is_active]), budget=math.inf)
    return int((answers.codes != 1).sum())


def _compare(results: Results) -> Comparisons:
    last = int(max(results.values("turn")))
    for reassigns, k in product((False, True), results.choices("k")):
        name = f"{'reassign' if reassigns else 'hand back'}, k = {k}, after {last} turns"
        counts, boxes, messages, unsafe = (
            results.show_means(names.split(), number, " | ", reassigns=reassigns, k=k, turn=last)
            for names in (
                "passive rebuilt rebuilt_by_volume exact",
                "boxes boxes_rebuilt",
                "forwards withdrawals",
                "unsafe",
            )
        )
        yield Comparison(
            f"known redundant, {name}: churned | rebuilt by arrival | by volume | exactly, by arrival",
            "falls under churn, a rebuild regains it; no numbers",
            counts,
            _WHY[reassigns],
        )
        yield Comparison(f"boxes, {name}: churned | rebuilt by arrival", "–", boxes)
        yield Comparison(f"messages of a rebuild, {name}: forwards | withdrawals", "–", messages)
        yield Comparison(f"passive and not covered, {name}", "–", unsafe, "must be 0")


REBUILD = Experiment(
    name="jafarpour2008/rebuild",
    figure="Section 4",
    title="accuracy regained by a rebuild under churn",
    statement="Unsubscription may enlarge the negative space beyond what is uncovered, which costs accuracy; it can be rebuilt "
    "from all subscriptions now and then. No figure shows it.",
    setting="scattered boxes as in table 1; 3-D, k = 10 and 50; 2,000 subscriptions live all the time, one leaves at random "
    "for each that arrives; a turn replaces as many as are live. The passive ones are compared with those after a rebuild (one "
    "pass over all live ones) and with those that lie in the union of earlier ones. `hand back` is figure 9 of the paper, "
    "`reassign` gives freed space to others that cover it. Pairs are tested first.",
    simulation=Simulation(
        name="jafarpour2008/rebuild",
        trial=_trial,
        results=columns(
            int="turn passive rebuilt rebuilt_by_volume exact unsafe boxes boxes_rebuilt forwards withdrawals"
        ),
    ),
    full=grid(3, dimensions=(3,), live=(2_000,), times=(5,), k=(10, 50), reassigns=(False, True)),
    quick=grid(1, dimensions=(2,), live=(100,), times=(2,), k=(10,), reassigns=(False, True)),
    compare=_compare,
    plots=tuple(
        Plot(f"Known to be redundant, {what}", "turn", name, by=("reassigns", "k"))
        for what, name in (("under churn", "passive"), ("after a rebuild", "rebuilt"), ("exactly", "exact"))
    ),
)
