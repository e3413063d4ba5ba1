"""Figures 9 and 10a: all algorithms on two levels of brokers, with tight and with loose limits of latency."""

from __future__ import annotations

from functools import partial
from itertools import product

from thatch.experiments.experiment import Comparison, Comparisons, Experiment
from thatch.experiments.results import Results, number
from thatch.experiments.yu2012.cases import LOADS
from thatch.experiments.yu2012.levels import (
    FEW_OF_TWO,
    LEVELS,
    TIGHT_LOOSE,
    bandwidth_bars,
    tight_and_loose,
    triangles,
)
from thatch.experiments.yu2012.placements import ALGORITHMS, SIMULATION, SMALL, bandwidths, summarize

__all__ = ["FIG9", "FIG10A"]

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


def _compare_algorithms(results: Results) -> Comparisons:
    for limits in TIGHT_LOOSE:
        floor = number(results.mean("floor", limits=limits))
        yield Comparison(f"{limits}: least load factor", "around 6" if limits == "tight" else "–", floor)
        for name in ALGORITHMS.values():
            paper = _PAPER.get((limits, name), "as on one level")
            ours = summarize(results, name, "load_factor", limits=limits)
            yield Comparison(f"{limits}, {name}: bandwidth / load factor / broken limits", paper, ours)


FIG9 = Experiment(
    name="yu2012/fig9",
    title="all algorithms on set #1, two levels",
    statement="Loose: Gr and Gr* are comparable to SLP, Gr* slightly lower in bandwidth. Tight: Gr and Gr* break load limits, SLP "
    "keeps them. Those that ignore a space do as badly as on one level.",
    setting=LEVELS + "Means of four workloads, five seeds.",
    simulation=SIMULATION,
    full=FULL,
    quick=QUICK,
    compare=_compare_algorithms,
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


_NAMES = ("SLP", "Gr*")


def _compare_bandwidth(results: Results) -> Comparisons:
    for limits, load in product(TIGHT_LOOSE, results.choices("load")):
        yield Comparison(
            f"{limits}, {load}: bandwidth of SLP / Gr*",
            "Gr* lower on seven of eight" + (", but its loads are broken" if limits == "tight" else ""),
            bandwidths(results, _NAMES, limits=limits, load=load),
        )


FIG10A = Experiment(
    name="yu2012/fig10a",
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
