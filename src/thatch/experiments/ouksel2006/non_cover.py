"""Scenario 2.b: rows that leave a small random range of one attribute uncovered (section 6.2)."""

from __future__ import annotations

from collections.abc import Sequence

from thatch.experiments.trials import Parameters, Row, Simulation, grid, random_of
from thatch.workloads.ouksel2006 import FORMS, non_cover

__all__ = ["FULL", "QUICK", "SETTING", "SIMULATION"]

DELTA = 1e-10  # table 8
CAP = 1_000_000  # random points; a gap of half a percent is found long before
ROWS = range(10, 311, 30)
ATTRIBUTES = (10, 15, 20)

SETTING = (
    "rows lie at either side of a gap of 0.5 to 10 % of the first attribute; on the others they are drawn as in figure 5, "
    "in the same three readings. 1,000 runs for anchored rows, 200 for the others; error 10^-10, at most 10^6 points."
)

FULL = grid(1_000, form=FORMS[:1], rows=ROWS, attributes=ATTRIBUTES) + grid(
    200, form=FORMS[1:], rows=ROWS, attributes=ATTRIBUTES
)
QUICK = grid(4, form=FORMS, rows=(10, 100), attributes=(10, 20))


def _trial(parameters: Parameters, seed: int) -> Sequence[Row]:
    from thatch.reduction.probabilistic import ConflictTable, rspc

    form, rows, attributes = str(parameters["form"]), int(parameters["rows"]), int(parameters["attributes"])
    rng = random_of(seed, form, rows, attributes)
    made = non_cover(rng, rows, attributes, form)
    question = made.low, made.high, made.lows, made.highs
    kept = len(ConflictTable(*question).reduced().kept)
    verdict = rspc(*question, delta=DELTA, rng=rng, literal=True, cap=CAP)
    return [
        {
            "removed": 1 - kept / rows,
            "guesses": verdict.work.trials,
            "is_wrong": verdict.covered is not False,
            "decided_by": verdict.decided_by,
        }
    ]


SIMULATION = Simulation(
    name="ouksel2006/non_cover",
    trial=_trial,
    parameters={"form": str, "rows": int, "attributes": int},
    results={"removed": float, "guesses": int, "is_wrong": bool, "decided_by": str},
)
