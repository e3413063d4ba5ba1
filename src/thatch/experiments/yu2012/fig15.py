"""Figure 15: how many candidate boxes there are, by the number of super-interests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.results import Results
from thatch.experiments.telling import number
from thatch.experiments.trials import Parameters, Row, Simulation, grid, random_of
from thatch.experiments.yu2012.fig14 import CLUSTERS
from thatch.workloads import yu2012

__all__ = ["FIG15"]

_SAMPLED = 10  # subscribers a broker


def _trial(parameters: Parameters, seed: int) -> Sequence[Row]:
    """FilterGen on a sample: as many subscribers as SLP1 draws first, for the load and for the coreset."""
    from thatch.placement.slp.filter_gen import candidate_boxes

    brokers, load = int(parameters["brokers"]), str(parameters["load"])
    rng = random_of(seed, load, brokers)
    network = yu2012.network(rng, brokers)
    size = int(_SAMPLED * brokers + brokers * np.log(brokers))
    people = yu2012.population(rng, network, size, 1, skewness=load[0], broad=load[1])
    boxes = np.hstack([people.lows, people.highs])
    found = candidate_boxes(boxes, people.locations, int(parameters["clusters"]) * brokers, rng)
    return [{"sampled": size, "candidates": len(found)}]


def _compare(results: Results) -> list[Compared]:
    return [
        Compared(
            f"candidate boxes, {clusters} super-interests a broker",
            "grows with them; no numbers in our copy",
            number(results.mean("candidates", clusters=clusters)),
        )
        for clusters in results.choices("clusters")
    ]


FIG15 = Experiment(
    name="yu2012/fig15",
    figure="Figure 15",
    title="candidate boxes by super-interests",
    statement="The set of candidate filters grows with the number of super-interests.",
    setting="set #1 (IS:H, BI:H), 100 brokers, a sample of 10 n + n ln n subscribers; boxes after shrinking to what they "
    "contain, each counted once. Five seeds.",
    simulation=Simulation(
        name="yu2012/candidates",
        trial=_trial,
        parameters={"brokers": int, "load": str, "clusters": int},
        results={"sampled": int, "candidates": int},
    ),
    full=grid(5, brokers=(100,), load=("HH",), clusters=CLUSTERS),
    quick=grid(1, brokers=(12,), load=("HH",), clusters=(1, 5)),
    compare=_compare,
    plots=(
        Plot(
            title="Candidate boxes",
            across="clusters",
            up="candidates",
            x="super-interests a broker",
            y="candidate boxes",
        ),
    ),
)
