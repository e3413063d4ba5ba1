"""Figure 3(b): the measured cost of clusters with the planned executor, diagrams and segments."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import product

import numpy as np

from thatch.experiments.commonality.expected import cluster
from thatch.experiments.experiment import Comparison, Comparisons, Experiment, Plot
from thatch.experiments.results import Results, join, percent
from thatch.experiments.trials import Row, Simulation, columns, grid, random_of
from thatch.model.events import read_event
from thatch.reports import PlotAxis

__all__ = ["FIG3B"]

_COUNTING = ("planned", "diagrams")
_NAMED = {
    "planned": "planned executor",
    "diagrams": "diagrams, shared predicates at the bottom",
    "chains": "diagrams, once it is known which predicates are true",
    "segments": "the engine's segments",
}
_WAYS = tuple(_NAMED)
_COUNTED = 10  # times as many events for counts, because the expensive ones are rare
_PASSES = 3  # over all events; the fastest counts


def _trial(
    seed: int, *, members: int, size: int, events: int, shared: int, p: float, way: str
) -> Sequence[Row]:
    """Match random events one by one and take the mean time; count evaluations on more of them."""
    from thatch.experiments.commonality.matchers import MATCHERS, cluster_filters, even_events

    rng = random_of(seed, members, size, shared, p)
    filters = cluster_filters(rng, members=members, size=size, shared=shared, p=p)
    matcher = MATCHERS[way](filters, even_events(rng, events, size), p)
    matcher.match(0)  # compiles and fills caches
    passes = []
    for _ in range(_PASSES):
        started = time.process_time()
        matches = [matcher.match(event) for event in range(events)]
        passes.append(time.process_time() - started)
    evaluations = None
    if matcher.evaluations is not None:
        others = even_events(rng, _COUNTED * events, size)
        evaluations = matcher.evaluations([read_event(event) for event in others])
    return [
        {
            "microseconds": min(passes) / events * 1e6,
            "evaluations": evaluations,
            "expected": cluster(shared, members, size, p),
            "matches": float(np.mean(matches)),
        }
    ]


SIMULATION = Simulation(
    name="commonality/matching",
    trial=_trial,
    results=columns(float="microseconds evaluations expected matches"),
)

_PS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.0)


def _compare(results: Results) -> Comparisons:
    top, size = max(results.choices("p")), max(results.values("size"))
    ks = tuple(shared for shared in results.choices("shared") if shared in (0, size // 2, size))
    for way, name in _NAMED.items():
        expected, spent = (_by_setting(results, column, way) for column in ("expected", "microseconds"))
        if way in _COUNTING:
            apart = np.abs(_by_setting(results, "evaluations", way) - expected) / expected
            yield Comparison(
                f"{name}: evaluations differ from equation 6 by, in the mean | at most",
                "closely resembles",
                join(map(percent, (float(apart.mean()), float(apart.max()))), " | "),
                "as in the paper; it differs most where events that pass the shared predicates are rare and expensive",
            )
        times = results.show_means("microseconds", way=way, p=top, shared=ks)
        yield Comparison(
            f"{name}: µs an event, p = {top:g}, k = {' / '.join(map(str, ks))}",
            "falls with k, most at high p",
            f"{times}; ± {_spread_over_seeds(results, way):.0%} over seeds",
            _WHY[way],
        )
        yield Comparison(
            f"{name}: correlation of times with equation 6",
            "the same trend",
            f"{np.corrcoef(spent, expected)[0, 1]:.2f}",
        )


def _seeds(results: Results, name: str, way: str) -> list[np.ndarray]:
    """A result for all seeds, by setting."""
    settings = product(results.choices("shared"), results.choices("p"))
    found = [results.values(name, way=way, shared=shared, p=p).astype(float) for shared, p in settings]
    return [each for each in found if len(each)]


def _by_setting(results: Results, name: str, way: str) -> np.ndarray:
    """The mean of a result over seeds, by setting."""
    return np.array([each.mean() for each in _seeds(results, name, way)])


def _spread_over_seeds(results: Results, way: str) -> float:
    """The standard deviation of times over seeds, as a share of their mean: the median over settings."""
    return float(np.median([each.std() / each.mean() for each in _seeds(results, "microseconds", way)]))


_WHY = {
    "planned": "as in the paper: time follows evaluations",
    "diagrams": "falls with k, hardly with p: nearly all of the time goes into finding the true predicates",
    "chains": "as in the paper",
    "segments": "grows with p, hardly falls with k: sixty-four subscriptions are tested at once, and ten µs go into the event",
}

FIG3B = Experiment(
    name="commonality/fig3b",
    figure="Figure 3(b)",
    title="measured cost of a cluster",
    statement="The general trend of the actual matching times (PADRES, Java, Pentium 4) closely resembles the expected costs.",
    setting="m = 200 subscriptions with a range on each of n = 100 attributes, of which all share k ranges; a range holds a "
    "share p of an attribute's values. 200 random events, even and independent; processor time for an event in the fastest of "
    "three passes, the mean of three seeds. Evaluations are counted on 2,000 more events for each seed; for diagrams, they are tested "
    "nodes. Diagrams and the executor get parsed events, segments dicts.",
    simulation=SIMULATION,
    full=grid(
        3,
        members=(200,),
        size=(100,),
        events=(200,),
        shared=(0, 10, 20, 40, 50, 60, 80, 100),
        p=_PS,
        way=_WAYS,
    ),
    quick=grid(1, members=(30,), size=(20,), events=(40,), shared=(0, 10, 20), p=(0.5, 1.0), way=_WAYS),
    compare=_compare,
    plots=(
        Plot(
            "Evaluations of the planned executor",
            "shared",
            "evaluations",
            by=("p",),
            where={"way": "planned"},
            y=PlotAxis("evaluations", log=True),
            paper={
                f"equation 6, p {p:g}": (
                    list(range(0, 101, 5)),
                    [cluster(k, 200, 100, p) for k in range(0, 101, 5)],
                )
                for p in (0.9, 1.0)
            },
        ),
        *(
            Plot(
                f"Time an event, {name}",
                "shared",
                "microseconds",
                by=("p",),
                where={"way": way},
                y=PlotAxis("µs an event", log=True),
            )
            for way, name in _NAMED.items()
        ),
    ),
)
