"""Figures 7 and 15: the workload itself: interests by region, and candidate boxes by the number of super-interests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from thatch.experiments.experiment import Comparison, Comparisons, Experiment, Plot
from thatch.experiments.results import Results, join, number, percent
from thatch.experiments.trials import Row, Simulation, columns, grid, random_of
from thatch.experiments.yu2012.cases import LOADS
from thatch.reports import PlotAxis, Report
from thatch.workloads import yu2012

__all__ = ["FIG7", "FIG15"]

_CELLS = 20  # a side of the map


def _interests(seed: int, *, load: str, subscribers: int) -> Iterator[Row]:
    """For each cell of event space, the share of a region's subscribers that want events there."""
    rng = random_of(seed, load)
    network = yu2012.network(rng)
    people = yu2012.population(rng, network, subscribers, 1, skewness=load[0], broad=load[1])
    nodes = {point.tobytes(): home for point, home in zip(network.nodes, network.node_regions, strict=True)}
    regions = np.array([nodes[point.tobytes()] for point in people.locations])
    middles = (np.arange(_CELLS) + 0.5) / _CELLS * people.domain[1][:, None]
    for region, name in enumerate(yu2012.REGIONS):
        mine = regions == region
        covers = [
            (people.lows[mine, axis, None] <= middles[axis])
            & (people.highs[mine, axis, None] >= middles[axis])
            for axis in range(2)
        ]
        shares = covers[0].T.astype(float) @ covers[1].astype(float) / max(1, mine.sum())
        for (x, y), share in np.ndenumerate(shares):
            yield {"region": name, "x": x, "y": y, "share": float(share)}


def _compare_interests(results: Results) -> Comparisons:
    for load in map(str, results.choices("load")):
        apart = (_difference(results, load, "Asia", other) for other in ("Europe", "North America"))
        yield Comparison(
            f"interests that regions do not share, {load}: Asia and Europe / Asia and North America",
            "maps that differ by region; no numbers",
            join(map(percent, apart)),
        )


def _difference(results: Results, load: str, one: str, other: str) -> float:
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
                value=PlotAxis("subscribers", format="percent"),
            )


FIG7 = Experiment(
    name="yu2012/fig7",
    title="interests in event space, by region",
    statement="Maps of interests for (IS:H, BI:H) in Asia, North America and Europe: hot spots, of which some are shared and "
    "others belong to a region.",
    setting="our stand-in for the generator from statistics of Google Groups: topics in a square, with popularity by region. A cell "
    f"shows how many of a region's subscribers want events at its middle; {_CELLS} × {_CELLS} cells. Drawn for HH.",
    simulation=Simulation(
        name="yu2012/interests", trial=_interests, results=columns(int="x y", float="share", str="region")
    ),
    full=grid(5, load=LOADS, subscribers=(100_000,)),
    quick=grid(1, load=("HH",), subscribers=(1_000,)),
    compare=_compare_interests,
    drawings=(_maps,),
)


_SAMPLED = 10  # subscribers for each broker
_CLUSTERS = (1, 2, 5, 10)  # super-interests for each broker


def _candidates(seed: int, *, brokers: int, load: str, clusters: int) -> Sequence[Row]:
    """FilterGen on the first sample of SLP1, which is for the load and for the coreset."""
    from thatch.placement.slp.filter_gen import candidate_boxes

    rng = random_of(seed, load, brokers)
    network = yu2012.network(rng, brokers)
    size = int(_SAMPLED * brokers + brokers * np.log(brokers))
    people = yu2012.population(rng, network, size, 1, skewness=load[0], broad=load[1])
    boxes = np.hstack([people.lows, people.highs])
    found = candidate_boxes(boxes, people.locations, clusters * brokers, rng)
    return [{"sampled": size, "candidates": len(found)}]


def _compare_candidates(results: Results) -> Comparisons:
    for clusters in results.choices("clusters"):
        ours = number(results.mean("candidates", clusters=clusters))
        what = f"candidate boxes, {clusters} super-interests a broker"
        yield Comparison(what, "grows with them; no numbers in our copy", ours)


FIG15 = Experiment(
    name="yu2012/fig15",
    title="candidate boxes by super-interests",
    statement="The set of candidate filters grows with the number of super-interests.",
    setting="set #1 (IS:H, BI:H), 100 brokers, a sample of 10 n + n ln n subscribers; boxes after shrinking to what they "
    "contain, each counted once. Five seeds.",
    simulation=Simulation(
        name="yu2012/candidates", trial=_candidates, results=columns(int="sampled candidates")
    ),
    full=grid(5, brokers=(100,), load=("HH",), clusters=_CLUSTERS),
    quick=grid(1, brokers=(12,), load=("HH",), clusters=(1, 5)),
    compare=_compare_candidates,
    plots=(Plot("Candidate boxes", "clusters", "candidates"),),
)
