"""Figure 5: response times of two streams of events under a flood of subscriptions."""

from __future__ import annotations

from thatch.experiments.commonality.flood import FLOOD, FLOOD_FULL, FLOOD_QUICK, SETTING
from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.results import Results
from thatch.experiments.telling import number
from thatch.experiments.trials import Value

__all__ = ["FIG5"]


def _last(results: Results, name: str, **where: Value) -> float | None:
    arrived, values = results.values("arrived", **where), results.values(name, **where).astype(float)
    if not len(arrived):
        return None
    found = float(values[arrived == arrived.max()].mean())
    return found if found == found else None


def _pair(results: Results, **where: Value) -> str | None:
    both = [_last(results, name, **where) for name in ("shared_ms", "unshared_ms")]
    return " / ".join(number(each) or "none" for each in both) if any(both) else None


def _compare(results: Results) -> list[Compared]:
    dead = results.values("alive", defence="none", sharing="low")
    lines = [
        Compared(
            "5(a), no defence, at the end: shared / unshared stream, ms",
            "responses grow, then stop",
            None
            if not len(dead)
            else _pair(results, defence="none", sharing="low", fast="diagrams") or "none: it is dead",
        )
    ]
    for sharing, what in (("low", "5(b)"), ("high", "5(c)")):
        lines += [
            Compared(
                f"{what}, migration to {store}, {sharing} sharing, at the end: shared / unshared stream, ms",
                "one stream stays quick, the other is slow"
                if sharing == "low"
                else "both alike until the second cluster moves, late",
                _pair(results, defence="migration", sharing=sharing, store=store),
                "a stream whose cluster moved waits for the database",
            )
            for store in results.choices("store", defence="migration")
        ]
    return lines


FIG5 = Experiment(
    name="commonality/fig5",
    figure="Figure 5",
    title="response times of two streams under a flood",
    statement="Without defence response times grow until deliveries stop. With migration the stream of high priority stays in "
    "time while the other suffers; with more sharing both are alike for longer.",
    setting=SETTING,
    simulation=FLOOD,
    full=FLOOD_FULL,
    quick=FLOOD_QUICK,
    compare=_compare,
    plots=tuple(
        Plot(
            title=f"Response of the stream whose class shares {most}, {sharing} sharing",
            across="arrived",
            up=up,
            by=("defence", "store", "fast"),
            where={"sharing": sharing},
            x="subscriptions that have come",
            y="ms",
        )
        for sharing in ("low", "high")
        for most, up in (("most", "shared_ms"), ("least", "unshared_ms"))
    ),
)
