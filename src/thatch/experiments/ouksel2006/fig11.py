"""Figure 11: how many subscriptions stay active, by pairs and by groups."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.ouksel2006.comparison import (
    FULL,
    POLICIES,
    QUICK,
    SCALES,
    SETTING,
    SIMULATION,
    USUAL,
    WIDTHS,
)
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number, percent

__all__ = ["FIG11"]

_PAPER = {
    "pairwise": "about 15 % / about 15 % / below 50 %",
    "group": "below 10 % / below 10 % / about 33 %",
    "rspc": "(the paper's groups are these)",
}
_WHY = {
    "pairwise": "m = 15 does not fit; no setting tried fits all six",
    "group": "m = 15 does not fit; no setting tried fits all six",
    "rspc": "what is wrongly withheld makes it smaller",
}


def _compare(results: Results) -> list[Compared]:
    last = max(results.values("arrived"))
    lines = [
        Compared(
            f"active of {last:,}, {policy}, m = 10 / 15 / 20",
            _PAPER[policy],
            each(
                percent(results.mean("share", policy=policy, attributes=m, arrived=last, **USUAL))
                for m in (10, 15, 20)
            ),
            _WHY[policy],
        )
        for policy in POLICIES
    ]
    for name, what in (
        ("wrong", "withheld wrongly"),
        ("capped", "withheld after too few points for the error"),
    ):
        told = each(
            number(results.mean(name, policy="rspc", attributes=m, arrived=last, **USUAL))
            for m in (10, 15, 20)
        )
        lines.append(
            Compared(f"subscriptions that RSPC {what}, m = 10 / 15 / 20", "–", told, "the exact checker: 0")
        )
    return [*lines, *_tried(results, int(last))]


def _tried(results: Results, last: int) -> list[Compared]:
    """Other scales and widths, pairwise and group beside each other."""

    def shares(policy: str, **where: float) -> str:
        means = (results.mean("share", policy=policy, attributes=m, **where) for m in (10, 15, 20))
        return each(map(percent, means)) or "–"

    return [
        Compared(
            f"active of {last:,}, scale {scale:g}, width {width:g}: pairwise | group, m = 10 / 15 / 20",
            "about 15 / about 15 / below 50 % | below 10 / below 10 / about 33 %",
            " | ".join(
                shares(policy, arrived=last, scale=scale, width=width, seed=0) for policy in POLICIES[:2]
            ),
            "one seed",
        )
        for scale in SCALES
        for width in WIDTHS
        if (scale, width) != tuple(USUAL.values()) and len(results.values("seed", scale=scale, width=width))
    ]


FIG11 = Experiment(
    name="ouksel2006/fig11",
    figure="Figure 11",
    title="active subscriptions, pairwise and group covering",
    statement="For m = 10 and 15 groups reduce 5,000 subscriptions to less than 10 % and pairs to about 15 %, for m = 20 to "
    "about 33 % and less than 50 %.",
    setting=SETTING,
    simulation=SIMULATION,
    full=FULL,
    quick=QUICK,
    compare=_compare,
    plots=(
        Plot(
            title="Active subscriptions",
            across="arrived",
            up="active",
            by=("policy", "attributes"),
            where=USUAL,
            x="incoming subscriptions",
            y="active subscriptions",
        ),
    ),
)
