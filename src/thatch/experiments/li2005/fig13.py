"""Figure 13, its two curves of covering: one phase and two."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.li2005.insertion import SIMULATION, WAYS
from thatch.experiments.li2005.setting import COUNT, SCALE, SETTING, SMALL
from thatch.experiments.results import Results
from thatch.experiments.telling import percent
from thatch.experiments.trials import grid

__all__ = ["FIG13"]

_SETS = ("A", "B")
_COUNT = 100_000  # all of them would take four times as long: a pass goes through the whole table
_WHY = {
    "pass": "one pass where two are made",
    "walk": "a walk that only asks who covers ends sooner, and what it passes by costs nothing",
}


def _compare(results: Results) -> list[Compared]:
    found = []
    for way in WAYS:
        for shape in _SETS:
            told = {
                name: results.mean(name, shape=shape, way=way)
                for name in ("one_us", "two_us", "one_nodes", "two_nodes")
            }
            found += [
                Compared(
                    f"one phase is quicker than two by, {way}, {shape}: time | nodes evaluated",
                    "45.8 %",
                    f"{_saved(told['one_us'], told['two_us'])} | {_saved(told['one_nodes'], told['two_nodes'])}",
                    _WHY[way],
                ),
                Compared(
                    f"microseconds for a subscription, {way}, {shape}: one phase | two",
                    "milliseconds; the curves are lost",
                    f"{told['one_us'] or 0:.0f} | {told['two_us'] or 0:.0f}",
                ),
            ]
        found.append(_fall(results, way))
    return found


def _saved(one: float | None, two: float | None) -> str:
    return "–" if one is None or not two else percent(1 - one / two) or "–"


def _fall(results: Results, way: str) -> Compared:
    """Whether the time falls at last, as the paper says."""
    marks = [int(mark) for mark in results.choices("arrived", shape="A", way=way)]
    times = [results.mean("one_us", shape="A", way=way, arrived=mark) or 0.0 for mark in marks]
    return Compared(
        f"microseconds in one phase, {way}, A, after {' / '.join(f'{mark:,}' for mark in marks[:: max(len(marks) // 4, 1)])}",
        "rises, then falls as more is covered",
        " / ".join(f"{time:.0f}" for time in times[:: max(len(times) // 4, 1)]),
    )


FIG13 = Experiment(
    name="li2005/fig13",
    figure="Figure 13",
    title="subscription insertion time, one phase and two",
    statement="One algorithm that finds who covers and who is covered at once is 45.8 % quicker than two separate ones. Times "
    "rise while diagrams grow, and fall when most subscriptions are covered.",
    setting=SETTING
    + "`pass` is figure 7: predicates compared, then all nodes evaluated in order until one covers; two separate "
    "algorithms each do both. `walk` is what the policy Diagrams does: from the bottom to what may still hold. Both "
    "phases see the same diagrams. Processor time, compiled; 100,000 subscriptions from pools half as large, one seed.",
    simulation=SIMULATION,
    full=grid(1, shape=_SETS, count=(_COUNT,), scale=(COUNT // _COUNT,), marks=(20,), way=WAYS),
    quick=grid(1, shape=_SETS, count=(SMALL,), scale=(SCALE,), marks=(3,), way=WAYS),
    compare=_compare,
    plots=tuple(
        Plot(
            title=f"Microseconds for a subscription, {phases}",
            across="arrived",
            up=name,
            by=("way", "shape"),
            x="subscriptions",
            y="microseconds",
        )
        for phases, name in (("one phase", "one_us"), ("two phases", "two_us"))
    ),
)
