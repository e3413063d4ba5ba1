"""An experiment: a figure or table of a paper, described as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass

from thatch.experiments.results import Results
from thatch.experiments.trials import Grid, Simulation, Value
from thatch.reports import PlotAxis, Report
from thatch.reports.formatting import format_value

__all__ = ["Comparison", "Drawing", "Experiment", "Plot", "join", "number", "percent", "ratio"]

Drawing = Callable[[Report, Results], None]


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


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines through the means of a result.

    Parameters
    ----------
    across, up : the parameter or result along the x axis, and the result whose mean is drawn
    by : one line for each combination of these columns
    x, y : titles of the axes
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
    figure : its name in the paper
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
    figure: str
    title: str
    statement: str
    setting: str
    simulation: Simulation
    full: Grid
    quick: Grid
    compare: Callable[[Results], Sequence[Comparison]]
    plots: tuple[Plot, ...] = ()
    drawings: tuple[Drawing, ...] = ()

    @property
    def paper(self) -> str:
        """The paper's key: the first part of the name."""
        return self.name.partition("/")[0]

    def grid(self, *, quick: bool) -> Grid:
        """The trials of one size."""
        return self.quick if quick else self.full


def number(value: float | None) -> str | None:
    """A number as text, whole numbers without a fraction; None stays None."""
    if value is None:
        return None
    return format_value(int(value) if float(value).is_integer() else value)


def percent(share: float | None) -> str | None:
    """A share as a percentage; None stays None."""
    return None if share is None else format_value(share, "percent")


def ratio(value: float | None, of: float | None) -> float | None:
    """A quotient; None if one of the two is missing or the second is 0."""
    return None if value is None or not of else value / of


def join(values: Iterable[str | None]) -> str | None:
    """Several values separated by slashes; None if all of them are None."""
    texts = list(values)
    return " / ".join(text or "–" for text in texts) if any(texts) else None
