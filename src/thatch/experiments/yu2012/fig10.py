"""Figure 10: bandwidth and loads on two levels, tight beside loose."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product

from thatch.experiments.experiment import Compared, Experiment
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number, percent
from thatch.experiments.trials import Value
from thatch.experiments.yu2012.details import LOAD, load_boxes, load_curves
from thatch.experiments.yu2012.details import SIMULATION as DETAILS
from thatch.experiments.yu2012.drawings import bandwidth_bars
from thatch.experiments.yu2012.fig9 import FULL, QUICK
from thatch.experiments.yu2012.levels import FEW_OF_TWO, LEVELS, TIGHT_LOOSE, tight_and_loose
from thatch.experiments.yu2012.placements import SIMULATION, SMALL, bandwidths

__all__ = ["FIG10A", "FIG10B"]

_NAMES = ("SLP", "Gr*")
_DETAILED: dict[str, Sequence[Value]] = {"load": ("LH",), "algorithms": ("slp gr_star",)}
_LOADS = {
    ("tight", "SLP"): "within β_max",
    ("tight", "Gr*"): "more than 10 % of brokers overloaded",
    ("loose", "SLP"): "within β_max",
    ("loose", "Gr*"): "within β_max",
}


def _compare_bandwidth(results: Results) -> list[Compared]:
    return [
        Compared(
            f"{limits}, {load}: bandwidth of SLP / Gr*",
            "Gr* lower on seven of eight" + (", but its loads are broken" if limits == "tight" else ""),
            bandwidths(results, _NAMES, limits=limits, load=load),
        )
        for limits, load in product(TIGHT_LOOSE, results.choices("load"))
    ]


def _compare_loads(results: Results) -> list[Compared]:
    found = []
    for (limits, name), paper in _LOADS.items():
        where = {"limits": limits, "algorithm": name, "part": LOAD}
        loads, most = results.values("x", **where), results.values("beta_max", **where)
        told = (
            [number(float(loads.max())), percent(float((loads > most * (1 + 1e-9)).mean()))]
            if len(loads)
            else []
        )
        found.append(Compared(f"{limits}, {name}: largest load / brokers above β_max", paper, each(told)))
    return found


FIG10A = Experiment(
    name="yu2012/fig10a",
    figure="Figure 10a",
    title="bandwidth on two levels",
    statement="For all but one of the eight workloads SLP needs more bandwidth than Gr*; tight, Gr* breaks the load limits that "
    "SLP keeps; loose, the two are alike.",
    setting=LEVELS + "Five seeds.",
    simulation=SIMULATION,
    full=FULL,
    quick=QUICK,
    compare=_compare_bandwidth,
    drawings=tuple(
        partial(bandwidth_bars, names=_NAMES, by="load", title=f"Bandwidth, {limits}", limits=limits)
        for limits in TIGHT_LOOSE
    ),
)


FIG10B = Experiment(
    name="yu2012/fig10b",
    figure="Figure 10b",
    title="loads on two levels (IS:L, BI:H)",
    statement="SLP keeps all limits; tight, Gr* overloads more than 10 % of the brokers.",
    setting=LEVELS + "Five seeds.",
    simulation=DETAILS,
    full=tight_and_loose(5, **_DETAILED),
    quick=tight_and_loose(1, **_DETAILED, subscribers=(SMALL,), brokers=(FEW_OF_TWO,)),
    compare=_compare_loads,
    drawings=tuple(
        partial(draw, limits=limits) for limits in TIGHT_LOOSE for draw in (load_boxes, load_curves)
    ),
)
