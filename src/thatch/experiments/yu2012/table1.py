"""Table 1 and figure 8a: bandwidth on set #1, beside the linear program."""

from __future__ import annotations

from functools import partial

from thatch.experiments.experiment import Compared, Experiment
from thatch.experiments.results import Results
from thatch.experiments.trials import Value
from thatch.experiments.yu2012.drawings import bandwidth_bars
from thatch.experiments.yu2012.fig6 import FULL, QUICK
from thatch.experiments.yu2012.placements import ALGORITHMS, SETTING, SIMULATION, bandwidths, beside_bounds

__all__ = ["ORDER", "TABLE1", "bandwidth_lines"]

ORDER = ("SLP", "Gr*", "Gr", "Closest", "Closest¬b", "Balance", "Gr¬l")


def bandwidth_lines(results: Results, what: str, order: str, factors: str, **where: Value) -> list[Compared]:
    """The bandwidths of one workload, and how far the best are above the program and the bound."""
    return [
        Compared(f"bandwidth, {what}: {' / '.join(ORDER)}", order, bandwidths(results, ORDER, **where)),
        Compared(
            f"beside the linear program, {what}: SLP / Gr*; proved bound / program",
            factors,
            beside_bounds(results, **where),
        ),
    ]


def _compare(results: Results) -> list[Compared]:
    return [
        line
        for load in results.choices("load")
        for line in bandwidth_lines(
            results,
            f"IS:{str(load)[0]} BI:{str(load)[1]}",
            "SLP1 ≈ Gr* < Gr ≪ Closest, Closest¬b, Balance; Gr¬l far lower",
            "between 1.3 and 2.7",
            load=load,
        )
    ]


TABLE1 = Experiment(
    name="yu2012/table1",
    figure="Table 1, Figure 8a",
    title="bandwidth on set #1, and the linear program",
    statement="SLP1 and Gr* are good and comparable, between 1.3 and 2.7 times the fractional solution; Gr is worse, those that "
    "ignore event space are worst, Gr¬l is too good to be true. The numbers of the table are not in our copy.",
    setting=SETTING
    + "As figure 6. The proved bound holds for any placement that keeps latencies, whatever its loads.",
    simulation=SIMULATION,
    full=FULL,
    quick=QUICK,
    compare=_compare,
    drawings=(
        partial(bandwidth_bars, names=tuple(ALGORITHMS.values()), by="load", title="Bandwidth by workload"),
    ),
)
