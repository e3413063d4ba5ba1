"""Figure 15: false positives of imperfect merging."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.li2005.setting import SCALE, SETTING, SMALL
from thatch.experiments.li2005.thresholds import FALSE_POSITIVES, THRESHOLDS
from thatch.experiments.results import Results
from thatch.experiments.telling import each, percent
from thatch.experiments.trials import grid

__all__ = ["FIG15"]

_SHAPES = ("A", "B", "A, tails of =")
_PUBLICATIONS = 10_000


def _compare(results: Results) -> list[Compared]:
    return [
        Compared(
            f"let through in vain at IMT {' / '.join(f'{threshold:g}' for threshold in THRESHOLDS)}, {shape}, {what}",
            "at most 2.5 % below IMT 0.1, growing",
            each(percent(_share(results, wanted, found, shape, threshold)) for threshold in THRESHOLDS),
            why,
        )
        for shape in _SHAPES
        for what, wanted, found, why in (
            ("of pairs of publication and diagram", "wanted", "let_through", ""),
            (
                "of publications",
                "wanted_events",
                "events_let_through",
                "almost every publication is wanted by some subscription",
            ),
        )
    ]


def _share(results: Results, wanted: str, found: str, shape: str, threshold: float) -> float | None:
    """What is let through beyond what is wanted, as a share of the latter."""
    first, second = (results.total(name, shape=shape, threshold=threshold) for name in (wanted, found))
    return None if first is None or second is None else (second - first) / max(first, 1)


FIG15 = Experiment(
    name="li2005/fig15",
    figure="Figure 15",
    title="false positives of imperfect merging",
    statement="More publications match as IMT grows, some of them in vain; up to IMT 0.1 not more than 2.5 %.",
    setting=SETTING
    + "100,000 subscriptions, 10,000 publications of the paper's 50,000. A match is one of a publication and a diagram, whichever of "
    "its subscriptions match; publications that match anything are told too. One seed.",
    simulation=FALSE_POSITIVES,
    full=grid(1, shape=_SHAPES, count=(100_000,), scale=(1,), publications=(_PUBLICATIONS,)),
    quick=grid(1, shape=_SHAPES, count=(SMALL,), scale=(SCALE,), publications=(300,)),
    compare=_compare,
    plots=(
        Plot(
            title="Matches of publications and diagrams",
            across="threshold",
            up="let_through",
            by=("shape",),
            x="IMT",
            y="matches",
        ),
    ),
)
