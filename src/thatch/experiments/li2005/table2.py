"""Table 2: time of a publication."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment
from thatch.experiments.li2005.routing import SIMULATION
from thatch.experiments.li2005.setting import COUNT, SCALE, SETTING, SMALL
from thatch.experiments.li2005.tables import STAGES
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number
from thatch.experiments.trials import grid

__all__ = ["TABLE2"]

# Milliseconds without reduction, after covering, after perfect and after imperfect merging.
PAPER = {
    "A": {"diagrams": (68.73, 19.16, 13.31, 9.96), "naive": (300.71, 73.41, 49.89, 43.83)},
    "B": {"diagrams": (82.28, 38.15, 33.37, 29.19), "naive": (300.92, 165.38, 152.21, 141.06)},
}
_SHAPES = ("A", "B", "A, tails of =", "B, tails of =")
_STEPS = {"diagrams": "evaluated_us", "naive": "scanned_us"}


def _compare(results: Results) -> list[Compared]:
    found = []
    for shape in (name for name in _SHAPES if name in results.choices("shape")):
        for way, step in _STEPS.items():
            paper = PAPER[shape[0]][way]
            means = [results.mean(step, shape=shape, stage=stage) for stage in STAGES]
            found += [
                Compared(
                    f"{way}, {shape}: covering / perfect / imperfect, as shares of none",
                    " / ".join(f"{value / paper[0]:.3f}" for value in paper[1:]),
                    each(_share(mean, means[0]) for mean in means[1:]),
                ),
                Compared(
                    f"{way}, {shape}: microseconds without reduction, after covering, perfect and imperfect merging",
                    " / ".join(f"{1_000 * value:,.0f}" for value in paper),
                    each(None if mean is None else f"{mean:.0f}" for mean in means),
                    "other hardware and another language; only shares compare" if way == "naive" else "",
                ),
            ]
        found += _beside(results, shape)
    return found


def _beside(results: Results, shape: str) -> list[Compared]:
    """What the paper has no column for."""
    paper = PAPER[shape[0]]
    ratios = [
        _share(*(results.mean(step, shape=shape, stage=stage) for step in reversed(_STEPS.values())))
        for stage in STAGES
    ]
    return [
        Compared(
            f"naive / diagrams, {shape}: none / covering / perfect / imperfect",
            " / ".join(
                f"{naive / own:.2f}" for naive, own in zip(paper["naive"], paper["diagrams"], strict=True)
            ),
            each(ratios),
        ),
        Compared(
            f"microseconds for the truth of predicates | a walk from the bottom, {shape}: none and imperfect",
            "–",
            each(
                f"{results.mean('assigned_us', shape=shape, stage=stage) or 0:.0f} | "
                f"{results.mean('walked_us', shape=shape, stage=stage) or 0:.0f}"
                for stage in ("none", "imperfect")
            ),
            "the first in Python; the second is shorter where little matches",
        ),
        Compared(
            f"publications where diagrams and the scan differ, {shape}",
            "–",
            number(results.total("differ", shape=shape)),
            "must be 0",
        ),
    ]


def _share(value: float | None, of: float | None) -> str | None:
    return None if value is None or not of else f"{value / of:.3f}"


TABLE2 = Experiment(
    name="li2005/table2",
    figure="Table 2",
    title="publication routing time",
    statement="Diagrams are quicker than a naive scan, by four to five times; covering and merging make both quicker, those of "
    "set A by 85.5 % (section 6 prints 85.7 % once).",
    setting=SETTING
    + "Compiled code and processor time; 200 publications of the paper's 50,000, the quickest of three rounds. "
    "Diagrams: one pass over all nodes, after the truth of predicates, which is told apart. Naive: one subscription after "
    "the other, up to the first predicate that does not hold. One seed.",
    simulation=SIMULATION,
    full=grid(1, shape=_SHAPES, count=(COUNT,), scale=(1,), publications=(200,)),
    quick=grid(1, shape=("A", "B, tails of ="), count=(SMALL,), scale=(SCALE,), publications=(20,)),
    compare=_compare,
)
