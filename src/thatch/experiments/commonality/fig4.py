"""Figure 4: memory of a broker under a flood of subscriptions, without defence and with migration."""

from __future__ import annotations

from thatch.experiments.commonality.flood import FLOOD, FLOOD_FULL, FLOOD_QUICK, SETTING
from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.results import Results
from thatch.experiments.telling import number, percent
from thatch.experiments.trials import Value
from thatch.reports import Axis

__all__ = ["FIG4"]


def _most(results: Results, **where: Value) -> str | None:
    values = results.values("memory", **where)
    values = values[values == values].astype(float)
    return percent(float(values.max())) if len(values) else None


def _survived(results: Results, **where: Value) -> str | None:
    is_alive = results.values("alive", **where)
    arrived = results.values("arrived", **where)
    if not len(is_alive):
        return None
    died = arrived[~is_alive.astype(bool)]
    if not len(died):
        return "alive at the end"
    return f"dead before {number(float(died.min()))} of {number(float(arrived.max()))}"


def _first_move(results: Results, sharing: str) -> str | None:
    where: dict[str, Value] = {"defence": "migration", "sharing": sharing, "store": "sqlite"}
    arrived, moves = results.values("arrived", **where), results.values("moves", **where)
    return number(float(arrived[moves > 0].min())) if (moves > 0).any() else None


def _compare(results: Results) -> list[Compared]:
    lines = [
        Compared(
            "4(a), no defence, low sharing",
            "memory grows until the broker stops",
            _survived(results, defence="none", sharing="low", fast="diagrams"),
        )
    ]
    lines += [
        Compared(
            f"4(b), migration to {store}, low sharing: most of the budget",
            "memory is freed again and again, the broker stays up",
            _most(results, defence="migration", sharing="low", store=store),
            "the high mark is at 32 %: merging may need the rest for a moment",
        )
        for store in results.choices("store", defence="migration")
    ]
    lines.append(
        Compared(
            "4(c), first move after subscriptions, low / high sharing",
            "high sharing holds more subscriptions before memory runs low",
            " / ".join(_first_move(results, sharing) or "–" for sharing in ("low", "high")),
        )
    )
    return lines


FIG4 = Experiment(
    name="commonality/fig4",
    figure="Figure 4",
    title="memory under a flood of subscriptions",
    statement="Without defence memory is exhausted and the broker no longer functions; by migrating clusters to the database it "
    "stays running; with more sharing more subscriptions fit before memory runs low.",
    setting=SETTING,
    simulation=FLOOD,
    full=FLOOD_FULL,
    quick=FLOOD_QUICK,
    compare=_compare,
    plots=tuple(
        Plot(
            title=f"Memory, {sharing} sharing",
            across="arrived",
            up="memory",
            by=("defence", "store", "fast"),
            where={"sharing": sharing},
            x="subscriptions that have come",
            y=Axis("of the budget", format="percent"),
        )
        for sharing in ("low", "high")
    ),
)
