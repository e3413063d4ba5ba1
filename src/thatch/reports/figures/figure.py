"""The figure as a page needs it, and what all kinds of figures share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from thatch.reports.figures.axes import Axis, told
from thatch.reports.formatting import Format, number
from thatch.reports.tables import Rows
from thatch.reports.texts import plot_text, shortened

__all__ = ["HEIGHT", "Figure", "counted", "extremes", "formats_of", "hover", "rows_of", "same_length"]

HEIGHT = 360
_MOST_ROWS = 200  # of the table below a figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure as a page needs it.

    Attributes
    ----------
    summary : what is to be seen, in two sentences, for those who do not see it
    data, layout : plotly's specification, without colours
    rows, formats : the figures as a table
    height : in pixels; the width is the page's
    shown, total, what : how many of what are drawn
    undrawn : values that have no place in the picture: missing, infinite, or not above zero on a log axis
    """

    title: str
    summary: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    rows: Rows
    formats: Mapping[str, Format] = field(default_factory=dict)
    height: int = HEIGHT
    shown: int
    total: int
    what: str
    undrawn: int = 0


def same_length(expected: int, of: str, got: int, what: str) -> None:
    """Refuse columns that do not fit each other."""
    if expected != got:
        raise ValueError(f"Expected as many {what} as {of}, {expected:,}, got {got:,}")


def hover(heading: str, figures: Mapping[str, str]) -> str:
    """What is told about the point under the pointer."""
    told_lines = [f"<b>{plot_text(heading)}</b>"] if heading else []
    told_lines += [
        f"{plot_text(name)}: {plot_text(text)}" if name else plot_text(text) for name, text in figures.items()
    ]
    return "<br>".join(told_lines)


def rows_of(names: Sequence[str], rows: Sequence[Sequence[object]]) -> Rows:
    """The table below a figure."""
    return Rows(names=list(names), rows=[list(row) for row in rows[:_MOST_ROWS]], total=len(rows))


def formats_of(names: Iterable[str], axis: Axis) -> dict[str, Format]:
    """The axis' format for each of these columns."""
    return {} if axis.format is None else dict.fromkeys(names, axis.format)


def counted(count: int, what: str) -> str:
    """«1 bar», «2 bars»."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def extremes(names: Sequence[str], values: Sequence[object], axis: Axis) -> str:
    """The least and the greatest value, and where they are."""
    found = [(place, index) for index, each in enumerate(values) if (place := number(each)) is not None]
    if not found:
        return "No values."
    (_, low), (_, high) = min(found), max(found, key=lambda each: each[0])
    return " ".join(
        f"{word} {told(values[index], axis)} ({shortened(names[index], 60)})."
        for word, index in (("Least", low), ("Greatest", high))
    )
