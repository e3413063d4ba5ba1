"""Figure 7: where in event space people's interests are, by region."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thatch.experiments.experiment import Compared, Experiment
from thatch.experiments.results import Results
from thatch.experiments.telling import each, percent
from thatch.experiments.trials import Parameters, Row, Simulation, grid, random_of
from thatch.experiments.yu2012.instances import LOADS
from thatch.reports import Axis, Report
from thatch.workloads import yu2012

__all__ = ["FIG7"]

_CELLS = 20  # a side of the map


def _trial(parameters: Parameters, seed: int) -> Sequence[Row]:
    """For each cell of event space how many of a region's subscribers want events there, as a share."""
    load = str(parameters["load"])
    rng = random_of(seed, load)
    network = yu2012.network(rng)
    people = yu2012.population(
        rng, network, int(parameters["subscribers"]), 1, skewness=load[0], broad=load[1]
    )
    nodes = {
        point.tobytes(): region for point, region in zip(network.nodes, network.node_regions, strict=True)
    }
    regions = np.array([nodes[point.tobytes()] for point in people.locations])
    middles = (np.arange(_CELLS) + 0.5) / _CELLS * people.domain[1][:, None]
    rows: list[Row] = []
    for number, name in enumerate(yu2012.REGIONS):
        mine = regions == number
        covers = [
            (people.lows[mine, axis, None] <= middles[axis])
            & (people.highs[mine, axis, None] >= middles[axis])
            for axis in range(2)
        ]
        shares = covers[0].T.astype(float) @ covers[1].astype(float) / max(1, mine.sum())
        rows += [
            {"region": name, "x": x, "y": y, "share": float(shares[x, y])}
            for x in range(_CELLS)
            for y in range(_CELLS)
        ]
    return rows


def _compare(results: Results) -> list[Compared]:
    found = []
    for load in results.choices("load"):
        apart = [
            _apart(results, str(load), *pair) for pair in (("Asia", "Europe"), ("Asia", "North America"))
        ]
        found.append(
            Compared(
                f"interests that regions do not share, {load}: Asia and Europe / Asia and North America",
                "maps that differ by region; no numbers",
                each(map(percent, apart)),
            )
        )
    return found


def _apart(results: Results, load: str, one: str, other: str) -> float:
    """Half the difference of two maps, each as parts of its sum: 0 if they are alike, 1 if they have nothing in common."""
    maps = [results.values("share", load=load, region=region, seed=0) for region in (one, other)]
    parts = [each / max(each.sum(), 1e-300) for each in maps]
    return float(abs(parts[0] - parts[1]).sum() / 2)


def _maps(report: Report, results: Results) -> None:
    load = "HH"
    for region in yu2012.REGIONS:
        shares = results.values("share", load=load, region=region, seed=0)
        if len(shares) == _CELLS**2:
            report.heatmap(
                range(_CELLS)[::-1],
                range(_CELLS),
                shares.reshape(_CELLS, _CELLS).T[::-1],
                title=f"Interests, {region}",
                x="event space, first axis, in cells",
                y="second axis",
                value=Axis("subscribers", format="percent"),
            )


FIG7 = Experiment(
    name="yu2012/fig7",
    figure="Figure 7",
    title="interests in event space, by region",
    statement="Maps of interests for (IS:H, BI:H) in Asia, North America and Europe: hot spots, of which some are shared and "
    "others belong to a region.",
    setting="our stand-in for the generator on statistics of Google Groups: topics in a square, liked by region. A cell "
    f"tells how many of a region's subscribers want events at its middle; {_CELLS} × {_CELLS} cells. Drawn for HH.",
    simulation=Simulation(
        name="yu2012/interests",
        trial=_trial,
        parameters={"load": str, "subscribers": int},
        results={"region": str, "x": int, "y": int, "share": float},
    ),
    full=grid(5, load=LOADS, subscribers=(100_000,)),
    quick=grid(1, load=("HH",), subscribers=(1_000,)),
    compare=_compare,
    drawings=(_maps,),
)
