"""Scenario 2.c (section 6.3), figures 9 and 10: the box is covered except for a narrow slice of one attribute."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from thatch.experiments.experiment import Comparison, Comparisons, Experiment, Plot
from thatch.experiments.results import Results, number, percent
from thatch.experiments.trials import Row, Simulation, columns, grid, random_of
from thatch.workloads.ouksel2006 import GAP_FORMS, extreme_non_cover

__all__ = ["FIG9", "FIG10"]

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


def _trial(seed: int, *, form: str, gap: float, delta: float, literal: bool) -> Sequence[Row]:
    from thatch.reduction.probabilistic import rspc

    rng = random_of(seed, form, gap, delta, literal)
    made = extreme_non_cover(rng, ROWS, ATTRIBUTES, gap, form)
    question = made.low, made.high, made.lows, made.highs
    verdict = rspc(*question, delta=delta, rng=rng, literal=literal, cap=CAP)
    return [{"guesses": verdict.work.trials, "is_wrong": verdict.covered is not False}]


SIMULATION = Simulation(
    name="ouksel2006/extreme_non_cover", trial=_trial, results=columns(int="guesses", bool="is_wrong")
)

_figure = partial(Experiment, setting=SETTING, simulation=SIMULATION, full=FULL, quick=QUICK)


_GAPS_OF_GUESSES = (0.005, 0.01, 0.02, 0.045)


def _compare_guesses(results: Results) -> Comparisons:
    for delta in DELTAS:
        yield Comparison(
            f"mean number of guesses, slabs, error {delta:g}, gap 0.5 / 1 / 2 / 4.5 %",
            "about 1 / gap (200 / 100 / 50 / 22), alike for all errors",
            results.show_means("guesses", form="slabs", literal=True, delta=delta, gap=_GAPS_OF_GUESSES),
            "a loose error stops before the gap is found" if delta == DELTAS[0] else "as in the paper",
        )
    yield Comparison(
        "mean number of guesses, tiling, all errors",
        "–",
        results.show_means("guesses", form="tiling", gap=_GAPS_OF_GUESSES),
        "a sixth needs no guess, since MCS decides; else the gap decides as with slabs",
    )


FIG9 = _figure(
    name="ouksel2006/fig9",
    title="average number of guesses, extreme non-cover",
    statement="The average number of guesses is similar for all errors; it depends on the ratio of the gap to the range.",
    compare=_compare_guesses,
    plots=(
        Plot("Guesses, slabs", "gap", "guesses", by=("delta",), where={"form": "slabs", "literal": True}),
    ),
)


_GAPS_OF_ERRORS = (0.005, 0.01, 0.015, 0.02)
_PAPER = {1e-3: "low from 2 % on", 1e-6: "none for gaps above 1 %", 1e-10: "none for gaps above 1 %"}


def _compare_errors(results: Results) -> Comparisons:
    def wrong(delta: float, *, literal: bool) -> str | None:
        return results.show_means(
            "is_wrong", _runs, form="slabs", delta=delta, gap=_GAPS_OF_ERRORS, literal=literal
        )

    for delta in DELTAS:
        yield Comparison(
            f"false decisions of {RUNS:,}, slabs, error {delta:g}, gap 0.5 / 1 / 1.5 / 2 %",
            _PAPER[delta],
            wrong(delta, literal=True),
            "the paper's witness probability takes a slab's width for the gap's: more errors than were asked for",
        )
    for delta in DELTAS:
        yield Comparison(
            f"the same with the corrected witness probability, error {delta:g}",
            "–",
            wrong(delta, literal=False),
            f"at most {delta * RUNS:g} are allowed in the mean",
        )
    tiling = percent(results.mean("is_wrong", form="tiling"))
    yield Comparison("false decisions, tiling, all gaps and errors", "–", tiling)


def _runs(share: float | None) -> str | None:
    return None if share is None else number(round(share * RUNS))


FIG10 = _figure(
    name="ouksel2006/fig10",
    title="false decisions, extreme non-cover",
    statement="For errors below 10^-6 and gaps above 1 % the decision is always right; for 10^-3 the number of false "
    "decisions is quite low if the gap is at least 2 %.",
    compare=_compare_errors,
    plots=tuple(
        Plot(
            f"Share of false decisions, slabs, {name} witness probability",
            "gap",
            "is_wrong",
            by=("delta",),
            where={"form": "slabs", "literal": literal},
        )
        for name, literal in (("the paper's", True), ("the corrected", False))
    ),
)
