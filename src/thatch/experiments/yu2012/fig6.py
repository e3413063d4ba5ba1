"""Figure 6: bandwidth, delay and load of every algorithm on set #1."""

from __future__ import annotations

from functools import partial

from thatch.experiments.experiment import Compared, Experiment
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number, percent
from thatch.experiments.yu2012.drawings import triangles
from thatch.experiments.yu2012.instances import LOADS
from thatch.experiments.yu2012.placements import (
    ALGORITHMS,
    FEW,
    SETTING,
    SIMULATION,
    SMALL,
    bandwidths,
    placements,
)

__all__ = ["FIG6", "FULL", "QUICK"]

FULL = placements(5, load=LOADS)
QUICK = placements(1, load=("LL", "HH"), subscribers=(SMALL,), brokers=(FEW,))

_NAMES = tuple(ALGORITHMS.values())
_PAPER = {
    "SLP": "little bandwidth within all limits",
    "Gr*": "as SLP1",
    "Gr": "more bandwidth; load broken on all four workloads",
    "Gr, evicted next": "load broken",
    "Gr, evicted last": "load broken",
    "Gr¬l": "far less bandwidth, unacceptable delays",
    "Closest": "huge bandwidth",
    "Closest¬b": "huge bandwidth, load okay only where brokers are spread as subscribers are",
    "Balance": "huge bandwidth",
}

_WHY = {
    "SLP": "further below Gr* than in the paper: samples grow by what was missed, and loads are mended",
    "Gr, evicted next": "kept here, for twice the bandwidth of Gr*: screened networks leave room",
    "Gr, evicted last": "the same",
}


def _compare(results: Results) -> list[Compared]:
    return [
        Compared(
            f"{name}: bandwidth / RMS delay / deviation of loads / load factor / broken limits",
            _PAPER[name],
            _told(results, name),
            _WHY.get(name, ""),
        )
        for name in _NAMES
    ]


def _told(results: Results, name: str) -> str | None:
    statuses = results.values("status", algorithm=name)
    if not len(statuses):
        return None
    figures = [number(results.mean(what, algorithm=name)) for what in ("rms_delay", "load_deviation")]
    factor = number(results.mean("load_factor", algorithm=name))
    broken = percent(float((statuses == "infeasible").mean()))
    return each([bandwidths(results, [name]), *figures, factor, broken])


FIG6 = Experiment(
    name="yu2012/fig6",
    figure="Figure 6",
    title="all algorithms on set #1, one level",
    statement="Triangles of bandwidth, RMS delay and deviation of loads, means of four workloads: SLP1 and Gr* do well in all; "
    "Gr needs more and breaks load limits on every workload, its variants with eviction too; Closest¬b, Closest and Balance "
    "need huge bandwidth, Gr¬l has unacceptable delays.",
    setting=SETTING
    + "100,000 subscribers, 100 brokers, four workloads, five seeds. Bandwidths in brackets are of "
    "placements that broke a limit in some trial; the last figure is in how many.",
    simulation=SIMULATION,
    full=FULL,
    quick=QUICK,
    compare=_compare,
    drawings=(partial(triangles, names=_NAMES, title="Bandwidth, delay, load"),),
)
