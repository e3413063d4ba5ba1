"""Scenario 2.c: all of the box is covered but a narrow slice of one attribute (section 6.3)."""

from __future__ import annotations

from collections.abc import Sequence

from thatch.experiments.trials import Parameters, Row, Simulation, grid, random_of
from thatch.workloads.ouksel2006 import GAP_FORMS, extreme_non_cover

__all__ = ["DELTAS", "FULL", "GAPS", "QUICK", "RUNS", "SETTING", "SIMULATION"]

ROWS, ATTRIBUTES = 50, 5  # table 8
DELTAS = (1e-3, 1e-6, 1e-10)
GAPS = tuple(step / 200 for step in range(1, 10))  # 0.5 % to 4.5 %
RUNS = 3_000
CAP = 10_000_000

SETTING = (
    "`slabs`: the first attribute is cut into 50 equal slabs, with the gap between two of them, 3,000 runs for each gap "
    "and error as in table 8; `tiling`: 50 boxes cut along random attributes, 300 runs. MCS removes nothing from slabs. "
    "The witness probability is the paper's (`literal`) or the corrected one."
)

FULL = grid(RUNS, form=("slabs",), gap=GAPS, delta=DELTAS, literal=(True, False)) + grid(
    300, form=("tiling",), gap=GAPS, delta=DELTAS, literal=(True,)
)
QUICK = grid(40, form=("slabs",), gap=(0.005, 0.02), delta=(1e-3, 1e-10), literal=(True, False)) + grid(
    3, form=GAP_FORMS[1:], gap=(0.02,), delta=(1e-3,), literal=(True,)
)


def _trial(parameters: Parameters, seed: int) -> Sequence[Row]:
    from thatch.reduction.probabilistic import rspc

    form, gap, delta = str(parameters["form"]), float(parameters["gap"]), float(parameters["delta"])
    rng = random_of(seed, form, gap, delta, parameters["literal"])
    made = extreme_non_cover(rng, ROWS, ATTRIBUTES, gap, form)
    verdict = rspc(
        made.low,
        made.high,
        made.lows,
        made.highs,
        delta=delta,
        rng=rng,
        literal=bool(parameters["literal"]),
        cap=CAP,
    )
    return [{"guesses": verdict.work.trials, "is_wrong": verdict.covered is not False}]


SIMULATION = Simulation(
    name="ouksel2006/extreme_non_cover",
    trial=_trial,
    parameters={"form": str, "gap": float, "delta": float, "literal": bool},
    results={"guesses": int, "is_wrong": bool},
)
