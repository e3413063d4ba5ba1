"""The rows as text."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.console import figure, table_text
from benchmarks.matching.rows import Row

__all__ = ["matching_table"]

_HEAD = (
    "what", "subscriptions", "matches", "ours", "beside", "theirs", "ratio", "must", "aim", "reached", "more",
)  # fmt: skip


def matching_table(rows: Sequence[Row], *, is_full: bool) -> str:
    """All rows under one head.

    Parameters
    ----------
    is_full : whether the sizes are those that the goals are for; else nothing is judged
    """
    return table_text(_HEAD, [_cells(row, is_full=is_full) for row in rows])


def _cells(row: Row, *, is_full: bool) -> tuple[str, ...]:
    goal = row.goal
    unit = row.unit if row.ratio is None else "×"
    return (
        row.what,
        f"{row.subscriptions:,}",
        figure(row.matches),
        figure(row.ours, row.unit),
        row.peer,
        figure(row.theirs, row.unit),
        figure(row.ratio, "×"),
        "" if goal is None else f"{goal.sign} {figure(goal.must, unit)}",
        "" if goal is None or goal.aim is None else f"{goal.sign} {figure(goal.aim, unit)}",
        row.verdict() if is_full or goal is None else "not judged",
        ", ".join(f"{name} {figure(value)}" for name, value in row.details.items()),
    )
