"""Scenario 2.b (section 6.2), figures 7 and 8: rows that leave a small random range of one attribute uncovered."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from thatch.experiments.experiment import Comparison, Comparisons, Experiment, plot_each
from thatch.experiments.ouksel2006.redundant_cover import DELTA, FULL, QUICK, figure_of_removed
from thatch.experiments.results import Results, number
from thatch.experiments.trials import Row, Simulation, columns, random_of
from thatch.workloads.ouksel2006 import FORMS, non_cover

__all__ = ["FIG7", "FIG8"]

CAP = 1_000_000  # random points; a gap of half a percent is found long before

SETTING = (
    "rows lie at either side of a gap of 0.5 to 10 % of the first attribute; on the others they are drawn as in figure 5, "
    "in the same three readings. 1,000 runs for anchored rows, 200 for the others; error 10^-10, at most 10^6 points."
)


def _trial(seed: int, *, form: str, rows: int, attributes: int) -> Sequence[Row]:
    from thatch.reduction.probabilistic import ConflictTable, rspc

    rng = random_of(seed, form, rows, attributes)
    made = non_cover(rng, rows, attributes, form)
    question = made.low, made.high, made.lows, made.highs
    kept = len(ConflictTable(*question).minimised_cover.kept)
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
    results=columns(int="guesses", float="removed", str="decided_by", bool="is_wrong"),
)

_figure = partial(Experiment, setting=SETTING, simulation=SIMULATION, full=FULL, quick=QUICK)


_WHY_REMOVED = {
    "anchored": "the first attribute alone frees every row: those left of the gap never meet those right of it",
    "two-sided": "entries of other attributes conflict, and on the first one rows of one side do",
    "wide": "the same",
}


_WHY_GUESSES = {
    "anchored": "MCS, or the count of entries before it, decides every run",
    "two-sided": "MCS leaves rows, but most of the box is free and the first points find that",
    "wide": "the same with more of the box covered",
}


def _compare_guesses(results: Results) -> Comparisons:
    for form, why in _WHY_GUESSES.items():
        mean = number(results.mean("guesses", form=form))
        yield Comparison(f"mean number of iterations, {form}, all k and m", "below 0.5", mean, why)
    wrong = number(results.total("is_wrong"))
    yield Comparison("wrong decisions", "none", wrong, f"of {len(results):,} runs")


FIG7 = figure_of_removed(
    _figure,
    "rows removed",
    "near 100 %, more than in figure 5",
    _WHY_REMOVED,
    name="ouksel2006/fig7",
    title="reduction by MCS, non-cover",
    statement="MCS performs even better than for redundant covering: most subscriptions are removed quickly.",
)

FIG8 = _figure(
    name="ouksel2006/fig8",
    title="actual number of iterations, non-cover",
    statement="The average number of iterations is below 0.5, since the reduced set is empty in most cases; the algorithm "
    "always found that the box is not covered.",
    compare=_compare_guesses,
    plots=plot_each(
        "form", FORMS, "Iterations until a witness was found, {}", "rows", "guesses", by=("attributes",)
    ),
)
