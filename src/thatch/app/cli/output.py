"""All that the command line prints: results on standard output, everything about them on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

__all__ = ["Meter", "fail", "json_line", "note", "progress", "say", "tasks"]

_console = Console(stderr=True, highlight=False)


def say(text: str) -> None:
    """A line of the result."""
    sys.stdout.write(text + "\n")


def json_line(value: Any) -> None:
    """A line of the result as JSON."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


def note(text: str) -> None:
    """A remark about the result."""
    _console.print(text, markup=False, emoji=False, soft_wrap=True)


def fail(message: str) -> NoReturn:
    """Tell what is wrong and end with status 2."""
    note(f"thatch: {message}")
    sys.exit(2)


class Meter:
    """How far a long piece of work has come."""

    def __init__(self, bar: Progress | None, task: Any) -> None:
        self._bar = bar
        self._task = task
        self._pending = 0

    def step(self, count: int = 1) -> None:
        """Some more is done; the picture follows now and then, so that this costs little."""
        self._pending += count
        if self._bar is not None and self._pending >= 256:
            self._bar.advance(self._task, self._pending)
            self._pending = 0

    def tell(self, what: str) -> None:
        """What is being done now."""
        if self._bar is not None:
            self._bar.update(self._task, description=what)


@contextmanager
def progress(what: str, total: int | None = None, *, beside_results: bool = False) -> Iterator[Meter]:
    """A progress bar on a terminal, nothing elsewhere.

    Parameters
    ----------
    what : what is counted
    total : how many there are, if known
    beside_results : whether results are printed meanwhile; on a terminal they show the progress themselves
    """
    if not _console.is_terminal or (beside_results and sys.stdout.isatty()):
        yield Meter(None, None)
        return
    with _bar() as bar:
        yield Meter(bar, bar.add_task(what, total=total))


@contextmanager
def tasks(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on a terminal for work that comes in tasks, told how many are done of those known; else None."""
    if not _console.is_terminal:
        yield None
        return
    with _bar() as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, known: bar.update(task, completed=done, total=known)


def _bar() -> Progress:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    # Results go past the bar: it would take them from standard output to its own console, standard error.
    return Progress(*columns, console=_console, transient=True, redirect_stdout=False)
