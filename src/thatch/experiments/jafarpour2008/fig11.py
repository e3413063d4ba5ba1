"""Figure 11: what approximate negative space finds beyond covering of pairs."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.jafarpour2008.streams import SETTING, SIMULATION, SMALL, streams
from thatch.experiments.results import Results
from thatch.experiments.telling import number

__all__ = ["FIG11"]

_DIMENSIONS = (2, 3, 4)
_METHODS = ("pairwise", "approximate", "checker")


def _compare(results: Results) -> list[Compared]:
    last = max(results.values("arrived"))
    found = []
    for dimensions in _DIMENSIONS:
        told = [
            number(results.mean("redundant", method=method, dimensions=dimensions, arrived=last)) or "–"
            for method in _METHODS
        ]
        found.append(
            Compared(
                f"redundant of {last:,}, {dimensions}-D: covered by one | approximate, k = 50 | exact",
                "approximate above covering",
                " | ".join(told),
                "below covering: pairs must be tested first" if dimensions == 4 else "as in the paper",
            )
        )
    return found


FIG11 = Experiment(
    name="jafarpour2008/fig11",
    figure="Figure 11",
    title="extra reduction by approximate subsumption",
    statement="The approximate algorithm with k = 50 finds more redundant subscriptions than covering of pairs, in 2-D, 3-D "
    "and 4-D.",
    setting=SETTING + "The approximate form alone, without a test of pairs before it. Three seeds.",
    simulation=SIMULATION,
    full=streams(3, dimensions=_DIMENSIONS, method=("pairwise", "checker"))
    + streams(3, dimensions=_DIMENSIONS, method=("approximate",), k=(50,)),
    quick=streams(1, dimensions=_DIMENSIONS, method=("pairwise", "checker"), count=(SMALL,))
    + streams(1, dimensions=_DIMENSIONS, method=("approximate",), k=(50,), count=(SMALL,)),
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
