"""Figure 10: redundant subscriptions by subsumption and by covering of pairs."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.jafarpour2008.streams import SETTING, SIMULATION, SMALL, streams
from thatch.experiments.results import Results
from thatch.experiments.telling import percent

__all__ = ["FIG10"]

_DIMENSIONS = (2, 3, 4, 5)


def _compare(results: Results) -> list[Compared]:
    last = max(results.values("arrived"))

    def share(method: str, dimensions: int) -> float | None:
        found = results.mean("redundant", method=method, dimensions=dimensions, arrived=last)
        return None if found is None else found / float(last)

    found = [
        Compared(
            f"redundant of {last:,}, {dimensions}-D: subsumed | covered by one",
            ("more than 95 % subsumed in 2-D; " if dimensions == 2 else "")
            + "subsumption always above covering, both fall with the dimension",
            f"{percent(share('checker', dimensions)) or '–'} | {percent(share('pairwise', dimensions)) or '–'}",
            "as in the paper",
        )
        for dimensions in _DIMENSIONS
    ]
    differ = [
        abs(
            (results.mean("redundant", method="checker", dimensions=d) or 0)
            - (results.mean("redundant", method="exact", dimensions=d) or 0)
        )
        for d in (2, 3)
    ]
    told = "none" if not any(differ) else f"{sum(differ):g} on average"
    return [
        *found,
        Compared("decisions of the exact checker that differ from exact negative space", "–", told),
    ]


FIG10 = Experiment(
    name="jafarpour2008/fig10",
    figure="Figure 10",
    title="subsumption and covering",
    statement="Subsumption finds more redundant subscriptions than covering in every dimension; both fall as the dimension "
    "rises. More than 95 % are subsumed in 2-D.",
    setting=SETTING + "The exact checker decides; exact negative space beside it in 2-D and 3-D. Five seeds.",
    simulation=SIMULATION,
    full=streams(5, dimensions=_DIMENSIONS, method=("pairwise", "checker"))
    + streams(5, dimensions=(2, 3), method=("exact",)),
    quick=streams(1, dimensions=_DIMENSIONS, method=("pairwise", "checker"), count=(SMALL,))
    + streams(1, dimensions=(2, 3), method=("exact",), count=(SMALL,)),
    compare=_compare,
    plots=(
        Plot(
            title="Redundant subscriptions",
            across="arrived",
            up="redundant",
            by=("dimensions", "method"),
            x="subscriptions",
            y="redundant",
        ),
    ),
)
