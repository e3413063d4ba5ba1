"""An experiment: a figure or table of a paper, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from thatch.experiments.results import Results
from thatch.experiments.trials import Grid, Simulation, Value
from thatch.reports import Axis, Report

__all__ = ["Compared", "Drawing", "Experiment", "Plot"]

Drawing = Callable[[Report, Results], None]


@dataclass(frozen=True, slots=True)
class Compared:
    """A line of a comparison.

    Parameters
    ----------
    what : is measured, at which parameters
    paper : the paper's value or shape, in its words
    ours : ours; None if no trial of these parameters was run
    why : they differ, or how far they agree
    """

    what: str
    paper: str
    ours: str | None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """Lines through the means of a result.

    Parameters
    ----------
    across, up : the parameter or result along the x axis, and the result whose mean is drawn
    by : a line for each combination of these
    where : only rows with these values
    paper : lines of the paper by name, where its numbers are known
    """

    title: str
    across: str
    up: str
    by: tuple[str, ...] = ()
    x: Axis | str = ""
    y: Axis | str = ""
    where: Mapping[str, Value] | None = None
    paper: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """A figure or table made again.

    Parameters
    ----------
    name : paper and figure, such as `ouksel2006/fig5`
    figure : what it is called in the paper
    title : what it shows
    statement : what the paper says about it
    setting : how ours is made, readings of the paper included
    simulation : what is run
    full, quick : its trials in full size, and in a size that takes seconds
    compare : lines that set the paper's values beside ours
    plots : figures of ours
    drawings : further figures, that are no lines through means
    """

    name: str
    figure: str
    title: str
    statement: str
    setting: str
    simulation: Simulation
    full: Grid
    quick: Grid
    compare: Callable[[Results], Sequence[Compared]]
    plots: tuple[Plot, ...] = ()
    drawings: tuple[Drawing, ...] = ()

    @property
    def paper(self) -> str:
        """The paper's key: the first part of the name."""
        return self.name.partition("/")[0]

    def grid(self, *, quick: bool) -> Grid:
        """The trials of one size."""
        return self.quick if quick else self.full
