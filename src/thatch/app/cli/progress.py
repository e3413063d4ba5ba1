"""How far a command is: a bar on a terminal, elsewhere a line now and then, always on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

__all__ = ["Meter", "console", "progress", "tasks"]

console = Console(stderr=True, highlight=False)

_REDRAW = 0.1  # seconds between two looks of a bar
_LINE = 30.0  # seconds between two lines where there is no terminal
_ALMOST = 0.99  # the most that is shown of work that may still grow
_MORE = 4  # tasks that are expected beyond those that are known, where there are always more

Show = Callable[[str, float | None, str], None]  # what is done, the finished share if known, and figures


class Meter:
    """The progress of a long task. What it shows only moves forward.

    Parameters
    ----------
    what : is being done
    total : how much there is to do, if known
    show : shows it
    every : seconds between two calls of `show`; those of `step` are cheap
    grows : more work becomes known on the way, as on Spark, where a stage is known when the one before it is done
    """

    def __init__(
        self,
        what: str,
        total: int | None,
        show: Show,
        *,
        every: float,
        grows: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what = what
        self._total = total
        self._show = show
        self._every = every
        self._grows = grows
        self._clock = clock
        self._begun = clock()
        self._due = self._begun + every
        self._done = 0
        self._share = 0.0

    def step(self, count: int = 1) -> None:
        """Count finished work."""
        self._done += count
        if self._total:
            self._share = min(self._done / self._total, 1.0)
        self._tell()

    def report(self, done: int, known: int) -> None:
        """Tell how much is done, of all that is known so far; if more becomes known, the share waits for it."""
        self._done, self._total = done, known
        if known:
            expected = known + max(_MORE, known // 4) if self._grows else known
            self._share = max(self._share, min(done / expected, _ALMOST))
        self._tell()

    def describe(self, what: str) -> None:
        """Show what is being done now."""
        self._what = what
        self._due = min(self._due, self._clock() + (self._every if self._every >= 1 else 0))
        self._tell()

    def _tell(self) -> None:
        now = self._clock()
        if now >= self._due:
            self._due = now + self._every
            self._show(self._what, self._share if self._total else None, self._figures(now - self._begun))

    def _figures(self, seconds: float) -> str:
        if not self._done or seconds <= 0:
            return ""
        rate = self._done / seconds
        figures = f"{self._done:,}" + (f" of {self._total:,}" if self._done <= (self._total or 0) else "")
        figures += f", {rate:,.0f} per second" if rate >= 1 else f", one in {1 / rate:,.0f} seconds"
        if self._total and 0 < self._share < 1:
            figures += f", {_time(seconds * (1 - self._share) / self._share)} left"
        return figures


def _time(seconds: float) -> str:
    """A duration in words: `12 s`, `3:05`, `2:00:10`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@contextmanager
def progress(
    what: str, total: int | None = None, *, beside_results: bool = False, grows: bool = False
) -> Iterator[Meter]:
    """Show the progress of a task until the block ends.

    Parameters
    ----------
    what : is being done
    total : how much there is to do, if known
    beside_results : results are printed meanwhile; if they go to a terminal, nothing is shown
    grows : more work becomes known on the way
    """
    if beside_results and sys.stdout.isatty():
        yield Meter(what, total, lambda *_: None, every=_LINE)
        return
    if not console.is_terminal:
        yield Meter(what, total, _print_line, every=_LINE, grows=grows)
        return
    text, figures = TextColumn("{task.description}"), TextColumn("{task.fields[figures]}")
    columns = (SpinnerColumn(), text, BarColumn(), figures, TimeElapsedColumn())
    # Without this, rich would redirect results from standard output to its console on standard error.
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as bar:
        task = bar.add_task(what, total=None, figures="")

        def redraw(what: str, share: float | None, figures: str) -> None:
            total = None if share is None else 1.0
            bar.update(task, description=what, total=total, completed=share or 0.0, figures=figures)

        yield Meter(what, total, redraw, every=_REDRAW, grows=grows)


def _print_line(what: str, share: float | None, figures: str) -> None:
    percent = "" if share is None else f" {share:.0%}"
    console.print(f"{what}:{percent} {figures}".rstrip(" :"), markup=False, emoji=False, soft_wrap=True)


@contextmanager
def tasks(what: str, *, grows: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Show the progress of a job; gives the function to call with how much is done and how much is known."""
    with progress(what, grows=grows) as meter:
        yield meter.report
