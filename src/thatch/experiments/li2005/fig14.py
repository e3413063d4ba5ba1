"""Figure 14: table size over the threshold of imperfect merging, with advertisements and without."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.li2005.setting import SCALE, SETTING, SMALL
from thatch.experiments.li2005.thresholds import SIZES, THRESHOLDS
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number, percent
from thatch.experiments.trials import grid

__all__ = ["FIG14"]

_COUNT = 100_000
_SHAPES = ("A", "A, tails of =")
_ADVERTISED = (1.0, 0.5, 0.25)
_WHY = {
    1.0: "",
    0.5: "smaller up to IMT 0.1; beyond, what is left of the events is denser, and mergers in it cost more",
    0.25: "smaller at every IMT",
}


def _compare(results: Results) -> list[Compared]:
    found = []
    for shape in _SHAPES:
        sizes = [results.mean("size", shape=shape, threshold=each, advertised=1.0) for each in THRESHOLDS]
        first, last, at = sizes[0], sizes[-1], sizes[THRESHOLDS.index(0.15)]
        gain = None if first is None or last is None or at is None else (first - at) / max(first - last, 1)
        found += [
            Compared(f"table at IMT 0, {shape}", "about 32,852 of 100,000", number(first)),
            Compared(f"of the gain up to IMT 1, by 0.15, {shape}", "most", percent(gain)),
        ]
    return [*found, *(_curve(results, advertised) for advertised in _ADVERTISED)]


def _curve(results: Results, advertised: float) -> Compared:
    what = "all values" if advertised == 1 else f"{advertised:.0%} of the values"
    return Compared(
        f"table at IMT {' / '.join(f'{threshold:g}' for threshold in THRESHOLDS)}, A, {what} advertised",
        "falls, slightly beyond 0.15; with advertisements a smaller table at the same IMT",
        each(
            number(results.mean("size", shape="A", threshold=threshold, advertised=advertised))
            for threshold in THRESHOLDS
        ),
        _WHY[advertised],
    )


FIG14 = Experiment(
    name="li2005/fig14",
    figure="Figure 14",
    title="imperfect merging and advertisements",
    statement="At IMT 0, after covering and perfect merging, 32,852 of 100,000 subscriptions are left; most mergers are made "
    "with IMT up to 0.15. With advertisements some mergers cost nothing, and tables are smaller.",
    setting=SETTING
    + "Two publishers share the values of one attribute, and advertise all, a half or a quarter of the values "
    "of nine others, which topmost predicates are on; the paper does not tell its own. IMT is the share of the publications "
    "that come, so of what is advertised. One seed.",
    simulation=SIZES,
    full=grid(1, shape=("A",), count=(_COUNT,), scale=(1,), advertised=_ADVERTISED)
    + grid(1, shape=_SHAPES, count=(_COUNT,), scale=(1,), advertised=(1.0,)),
    quick=grid(1, shape=("A",), count=(SMALL,), scale=(SCALE,), advertised=(1.0, 0.25)),
    compare=_compare,
    plots=(
        Plot(
            title="Subscriptions in the table",
            across="threshold",
            up="size",
            by=("shape", "advertised"),
            x="IMT",
            y="subscriptions",
        ),
    ),
)
