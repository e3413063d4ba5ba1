"""Figure 6: commonality ratio, node count and weighted node count of every migrated cluster."""

from __future__ import annotations

from thatch.experiments.commonality.flood import MIGRATED, MIGRATED_FULL, MIGRATED_QUICK, SETTING
from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number, percent
from thatch.reports import Axis

__all__ = ["FIG6"]

# The paper has plots without numbers; what can be said of them are their shapes and the ends of their axes.
_PAPER = {
    "low": ("high, most predicates are unique", "up to 400", "close to the node count"),
    "high": ("lower", "up to 350", "far below the node count"),
}


def _compare(results: Results) -> list[Compared]:
    lines = []
    stores = results.choices("store")
    for sharing in ("low", "high"):
        ratio, nodes, weighted = _PAPER[sharing]
        lines += [
            Compared(
                f"6, {sharing} sharing: clusters that moved, {' / '.join(map(str, stores))}",
                "about 900",
                each(
                    number(float(len(results.values("move", sharing=sharing, store=store))))
                    for store in stores
                ),
                "ours are larger: 60 classes",
            ),
            Compared(
                f"6, {sharing} sharing: mean commonality ratio",
                ratio,
                percent(results.mean("ratio", sharing=sharing)),
            ),
            Compared(
                f"6, {sharing} sharing: mean node count",
                nodes,
                number(results.mean("nodes", sharing=sharing)),
                "grows with the budget",
            ),
            Compared(
                f"6, {sharing} sharing: mean weighted count",
                weighted,
                number(results.mean("weighted", sharing=sharing)),
            ),
        ]
    return lines


FIG6 = Experiment(
    name="commonality/fig6",
    figure="Figure 6",
    title="how much migrated clusters share",
    statement="The ratio of unique predicates to all, the number of unique ones, and their product, which decides the order: with "
    "little sharing product and number are almost the same, with much sharing they are far apart.",
    setting=SETTING,
    simulation=MIGRATED,
    full=MIGRATED_FULL,
    quick=MIGRATED_QUICK,
    compare=_compare,
    plots=tuple(
        Plot(
            title=title,
            across="move",
            up=up,
            by=("sharing", "store"),
            x="cluster, in the order of moves",
            y=Axis(title, format="percent") if up == "ratio" else title,
        )
        for title, up in (
            ("Commonality ratio", "ratio"),
            ("Node count", "nodes"),
            ("Weighted node count", "weighted"),
        )
    ),
)
