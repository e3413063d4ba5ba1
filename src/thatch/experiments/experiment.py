"""An experiment: a figure or table of a paper, described as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass

from thatch.experiments.results import Results
from thatch.experiments.trials import Grid, Simulation, Value
from thatch.reports import PlotAxis, Report

__all__ = [
    "AXES",
    "Comparison",
    "Comparisons",
    "Drawing",
    "Experiment",
    "Plot",
    "plot_each",
]

Drawing = Callable[[Report, Results], None]

AXES = {
    "arrived": PlotAxis("subscriptions"),
    "bound": PlotAxis("lost", format="percent"),
    "closed": PlotAxis("evaluations"),
    "clusters": PlotAxis("super-interests for each broker"),
    "delay": PlotAxis("maximum delay"),
    "diameter": PlotAxis("diameter, in links"),
    "gap": PlotAxis("gap", format="percent"),
    "hop": PlotAxis("hops from the subscriber"),
    "is_wrong": PlotAxis("false decisions", format="percent"),
    "let_through": PlotAxis("matches"),
    "lost_share": PlotAxis("lost", format="percent"),
    "mean_table": PlotAxis("entries"),
    "memory": PlotAxis("of the budget", format="percent"),
    "move": PlotAxis("cluster, in the order of moves"),
    "p": PlotAxis("selectivity p"),
    "ratio": PlotAxis("commonality ratio", format="percent"),
    "removed": PlotAxis("removed", format="percent"),
    "rows": PlotAxis("subscriptions k"),
    "share": PlotAxis("share", format="percent"),
    "shared": PlotAxis("shared predicates k"),
    "size": PlotAxis("subscriptions"),
    "threshold": PlotAxis("IMT"),
}
"""The axes of columns whose name is no good title, or that have a format."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One value of the paper beside ours.

    Parameters
    ----------
    what : what is measured, at which parameters
    paper : the paper's value or shape, in its words
    ours : our value; None if no trial with these parameters was run
    why : why they differ, or how well they agree
    """

    what: str
    paper: str
    ours: str | None
    why: str = ""


Comparisons = Iterator[Comparison]


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines through the means of a result.

    Parameters
    ----------
    across, up : the parameter or result along the x axis, and the result whose mean is drawn
    by : one line for each combination of these columns
    x, y : axes; by default those of the columns in `AXES`, or with the column's name as title
    where : draw only rows with these values
    paper : lines of the paper by name, where its numbers are known
    """

    title: str
    across: str
    up: str
    _: KW_ONLY
    by: tuple[str, ...] = ()
    x: PlotAxis | str = ""
    y: PlotAxis | str = ""
    where: Mapping[str, Value] | None = None
    paper: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """A figure or table, reproduced.

    Parameters
    ----------
    name : paper and figure, such as `ouksel2006/fig5`
    figure : its name in the paper; by default from `name`, such as Figure 5
    title : what it shows
    statement : what the paper says about it
    setting : how we reproduce it, and how we read the paper where it is not explicit
    simulation : what is run
    full, quick : the trials of the full size, and of a size that takes seconds
    compare : makes the comparisons with the paper's values
    plots : our figures
    drawings : further figures that are not lines through means
    """

    name: str
    figure: str = ""
    title: str
    statement: str
    setting: str
    simulation: Simulation
    full: Grid
    quick: Grid
    compare: Callable[[Results], Iterable[Comparison]]
    plots: tuple[Plot, ...] = ()
    drawings: tuple[Drawing, ...] = ()

    def __post_init__(self) -> None:
        if not self.figure:
            number = self.name.partition("/")[2].replace("fig", "Figure ").replace("table", "Table ")
            object.__setattr__(self, "figure", number)

    @property
    def paper(self) -> str:
        """The paper's key: the first part of the name."""
        return self.name.partition("/")[0]

    def grid(self, *, quick: bool) -> Grid:
        """The trials of one size."""
        return self.quick if quick else self.full


def plot_each(
    column: str,
    values: Iterable[Value],
    title: str,
    across: str,
    up: str,
    *,
    by: tuple[str, ...] = (),
    where: Mapping[str, Value] | None = None,
) -> tuple[Plot, ...]:
    """A plot for each value of a column; the title has `{}` where the value goes."""
    return tuple(
        Plot(title.format(value), across, up, by=by, where={column: value, **(where or {})})
        for value in values
    )
