"""Figure 9: all algorithms on two levels, with tight and with loose limits of latency."""

from __future__ import annotations

from functools import partial

from thatch.experiments.experiment import Compared, Experiment
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number, percent
from thatch.experiments.yu2012.drawings import triangles
from thatch.experiments.yu2012.instances import LOADS
from thatch.experiments.yu2012.levels import FEW_OF_TWO, LEVELS, TIGHT_LOOSE, tight_and_loose
from thatch.experiments.yu2012.placements import ALGORITHMS, SIMULATION, SMALL, bandwidths

__all__ = ["FIG9", "FULL", "QUICK"]

FULL = tight_and_loose(5, load=LOADS)
QUICK = tight_and_loose(1, load=("LH",), subscribers=(SMALL,), brokers=(FEW_OF_TWO,))

_PAPER = {
    ("tight", "SLP"): "within all limits",
    ("tight", "Gr*"): "load broken",
    ("tight", "Gr"): "load broken",
    ("loose", "SLP"): "within all limits",
    ("loose", "Gr*"): "slightly less bandwidth than SLP",
    ("loose", "Gr"): "comparable to SLP",
}


def _compare(results: Results) -> list[Compared]:
    found = []
    for limits in TIGHT_LOOSE:
        floor = results.mean("floor", limits=limits)
        found.append(
            Compared(f"{limits}: least load factor", "around 6" if limits == "tight" else "–", number(floor))
        )
        for name in ALGORITHMS.values():
            paper = _PAPER.get((limits, name), "as on one level")
            told = _told(results, name, limits)
            found.append(Compared(f"{limits}, {name}: bandwidth / load factor / broken limits", paper, told))
    return found


def _told(results: Results, name: str, limits: str) -> str | None:
    statuses = results.values("status", algorithm=name, limits=limits)
    if not len(statuses):
        return None
    factor = number(results.mean("load_factor", algorithm=name, limits=limits))
    broken = percent(float((statuses == "infeasible").mean()))
    return each([bandwidths(results, [name], limits=limits), factor, broken])


FIG9 = Experiment(
    name="yu2012/fig9",
    figure="Figure 9",
    title="all algorithms on set #1, two levels",
    statement="Loose: Gr and Gr* are comparable to SLP, Gr* slightly lower in bandwidth. Tight: Gr and Gr* break load limits, SLP "
    "keeps them. Those that ignore a space do as badly as on one level.",
    setting=LEVELS + "Means of four workloads, five seeds.",
    simulation=SIMULATION,
    full=FULL,
    quick=QUICK,
    compare=_compare,
    drawings=tuple(
        partial(
            triangles,
            names=tuple(ALGORITHMS.values()),
            title=f"Bandwidth, delay, load: {limits}",
            limits=limits,
        )
        for limits in TIGHT_LOOSE
    ),
)
