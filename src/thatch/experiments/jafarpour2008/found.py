"""Figures 10 and 11: redundant subscriptions found by covering of pairs, by approximate and by exact subsumption."""

from __future__ import annotations

from thatch.experiments.experiment import Comparison, Comparisons, Experiment, Plot
from thatch.experiments.jafarpour2008.streams import SETTING, SIMULATION, SMALL, streams
from thatch.experiments.results import Results, number, percent, ratio

__all__ = ["FIG10", "FIG11"]

_ALL_DIMENSIONS = (2, 3, 4, 5)
_PLOTS = (Plot("Redundant subscriptions", "arrived", "redundant", by=("dimensions", "method")),)


def _compare_covering(results: Results) -> Comparisons:
    last = max(results.values("arrived"))

    def show(count: float | None) -> str | None:
        return percent(ratio(count, float(last)))

    for dimensions in _ALL_DIMENSIONS:
        yield Comparison(
            f"redundant of {last:,}, {dimensions}-D: subsumed | covered by one",
            ("more than 95 % subsumed in 2-D; " if dimensions == 2 else "")
            + "subsumption always above covering, both fall with the dimension",
            results.show_means(
                "redundant",
                show,
                " | ",
                method=("checker", "pairwise"),
                dimensions=dimensions,
                arrived=last,
            ),
            "as in the paper",
        )
    means = {
        method: [results.mean("redundant", method=method, dimensions=d) or 0 for d in (2, 3)]
        for method in ("checker", "exact")
    }
    differ = sum(abs(one - other) for one, other in zip(*means.values(), strict=True))
    ours = f"{differ:g} on average" if differ else "none"
    yield Comparison("decisions of the exact checker that differ from exact negative space", "–", ours)


FIG10 = Experiment(
    name="jafarpour2008/fig10",
    title="subsumption and covering",
    statement="Subsumption finds more redundant subscriptions than covering in every dimension; both fall as the dimension "
    "rises. More than 95 % are subsumed in 2-D.",
    setting=SETTING + "The exact checker decides; exact negative space beside it in 2-D and 3-D. Five seeds.",
    simulation=SIMULATION,
    full=streams(5, dimensions=_ALL_DIMENSIONS, method=("pairwise", "checker"))
    + streams(5, dimensions=(2, 3), method=("exact",)),
    quick=streams(1, dimensions=_ALL_DIMENSIONS, method=("pairwise", "checker"), count=(SMALL,))
    + streams(1, dimensions=(2, 3), method=("exact",), count=(SMALL,)),
    compare=_compare_covering,
    plots=_PLOTS,
)


_DIMENSIONS = (2, 3, 4)
_METHODS = ("pairwise", "approximate", "checker")


def _compare_approximate(results: Results) -> Comparisons:
    last = max(results.values("arrived"))
    for dimensions in _DIMENSIONS:
        yield Comparison(
            f"redundant of {last:,}, {dimensions}-D: covered by one | approximate, k = 50 | exact",
            "approximate above covering",
            results.show_means(
                "redundant", number, " | ", method=_METHODS, dimensions=dimensions, arrived=last
            ),
            "below covering: pairs must be tested first" if dimensions == 4 else "as in the paper",
        )


FIG11 = Experiment(
    name="jafarpour2008/fig11",
    title="extra reduction by approximate subsumption",
    statement="The approximate algorithm with k = 50 finds more redundant subscriptions than covering of pairs, in 2-D, 3-D "
    "and 4-D.",
    setting=SETTING + "The approximate form alone, without a test of pairs before it. Three seeds.",
    simulation=SIMULATION,
    full=streams(3, dimensions=_DIMENSIONS, method=("pairwise", "checker"))
    + streams(3, dimensions=_DIMENSIONS, method=("approximate",), k=(50,)),
    quick=streams(1, dimensions=_DIMENSIONS, method=("pairwise", "checker"), count=(SMALL,))
    + streams(1, dimensions=_DIMENSIONS, method=("approximate",), k=(50,), count=(SMALL,)),
    compare=_compare_approximate,
    plots=_PLOTS,
)
