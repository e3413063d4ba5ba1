"""Figures and their axes: what the page draws, a summary in words, and the data as a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

from thatch.reports.figures.ticks import date_ticks, even_ticks, log_ticks
from thatch.reports.formatting import Format, format_value, number, simple
from thatch.reports.tables import TableRows
from thatch.reports.texts import plot_text, shorten

__all__ = [
    "HEIGHT",
    "Figure",
    "PlotAxis",
    "hover",
    "label_layout",
    "plural",
    "rows_of",
    "same_length",
    "tick_layout",
]

_LABEL = 28  # characters of a label on an axis; the table below the figure has the whole text
_MOST_LABELS = 200  # of more labels only some are drawn, and the page leaves out those without room
_LARGEST = 1e290  # with a margin it must be a double too


@dataclass(frozen=True, slots=True)
class PlotAxis:
    """An axis of a figure: its title, whether it is logarithmic, and the format of its numbers."""

    title: str = ""
    log: bool = False
    format: Format | None = None

    @classmethod
    def of(cls, axis: str | PlotAxis) -> PlotAxis:
        """An axis from its title, or the axis itself."""
        return axis if isinstance(axis, PlotAxis) else cls(axis)

    def text(self, value: object) -> str:
        """A value as text, in the format of the axis."""
        return format_value(value, self.format)

    def formats(self, names: Iterable[str]) -> dict[str, Format]:
        """The format of the axis for each of these columns."""
        return {} if self.format is None else dict.fromkeys(names, self.format)

    def places(self, values: Iterable[object]) -> tuple[list[float | None], bool]:
        """The position of each value, None if it cannot be drawn; and whether they are moments, in seconds since 1970."""
        found = [simple(value) for value in values]
        if any(isinstance(value, date) for value in found):
            return [_moment(value) for value in found], True
        return [self._finite(value) for value in found], False

    def edge_places(self, edges: Sequence[object]) -> list[float]:
        """The positions of the edges of a histogram; an infinite edge is drawn a bar's width beside its neighbour.

        On a log axis, positions are logarithms, because bars have no widths there.
        """
        found = [self._finite(edge) for edge in edges]
        at = [math.log10(each) if each is not None and self.log else each for each in found]
        known = [each for each in at if each is not None]
        if None in at[1:-1] or known != sorted(set(known)):
            raise ValueError("Histogram edges must ascend, and only the first and the last may be infinite")
        if not known:
            return [float(place) for place in range(len(at))]
        wide = (known[-1] - known[0]) / (len(known) - 1) if len(known) > 1 else 1.0
        low = [known[0] - wide] if at[0] is None else []
        high = [known[-1] + wide] if at[-1] is None else []
        return [*low, *known, *high]

    def _finite(self, value: object) -> float | None:
        place = number(value)
        if place is None or abs(place) > _LARGEST or (self.log and place < 1 / _LARGEST):
            return None
        return place

    def layout(
        self, places: Iterable[float | None], *, are_moments: bool = False, from_zero: bool = False
    ) -> dict[str, Any]:
        """The axis that these positions need; `from_zero` for bars."""
        write: Callable[[float], str] = self.text
        if are_moments:
            (ends, ticks), write = date_ticks(places)
        elif self.log:
            ends, ticks = log_ticks(places)
        else:
            ends, ticks = even_ticks(places, from_zero=from_zero)
        named = [[each, plot_text(write(_whole(each)))] for each in ticks]
        is_log = self.log and not are_moments
        return {"title": plot_text(self.title), "log": is_log, "range": ends, "ticks": named, "grid": True}

    def extremes(self, names: Sequence[str], values: Sequence[object]) -> str:
        """A sentence with the least and the greatest value and their names."""
        found = [(place, index) for index, each in enumerate(values) if (place := number(each)) is not None]
        if not found:
            return "No values."
        (_, low), (_, high) = min(found), max(found, key=lambda each: each[0])
        return " ".join(
            f"{word} {self.text(values[index])} ({shorten(names[index], 60)})."
            for word, index in (("Least", low), ("Greatest", high))
        )


def label_layout(title: str, labels: Sequence[str], *, is_down: bool = False) -> dict[str, Any]:
    """An axis of labels at 0, 1, 2 …, so that equal or numeric labels stay separate; downwards, the first is on top."""
    step = max(1, math.ceil(len(labels) / _MOST_LABELS))
    ticks = range(0, len(labels), step)
    ends = [-0.5, max(len(labels), 1) - 0.5]
    axis = tick_layout(title, {tick: labels[tick] for tick in ticks}, _LABEL)
    return axis | {"range": ends[::-1] if is_down else ends, "labels": True}


def tick_layout(
    title: str, ticks: Mapping[float, str], length: int = 60, ends: Sequence[float] = (0.0, 1.0)
) -> dict[str, Any]:
    """An axis with these ticks, whose texts are cut to a length."""
    named = [[tick, plot_text(text, length)] for tick, text in ticks.items()]
    return {"title": plot_text(title), "log": False, "range": list(ends), "ticks": named, "grid": False}


def _whole(value: float) -> float | int:
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


def _moment(value: object) -> float | None:
    """Seconds since 1970; a moment without a zone is taken as it is written."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC).timestamp()
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC).timestamp()
    return None


HEIGHT = 360
_MOST_ROWS = 200  # of the table below a figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure as a page needs it.

    Attributes
    ----------
    summary : what is to be seen, in two sentences, for those who do not see it
    data, layout : what the script of the page draws: lists of positions and texts, axes; without colours
    rows, formats : the figures as a table
    height : in pixels; the width is the page's
    shown, total, what : how many of what are drawn
    undrawn : number of values that cannot be drawn: missing, infinite, or not above zero on a log axis
    """

    title: str
    summary: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    rows: TableRows
    formats: Mapping[str, Format] = field(default_factory=dict)
    height: int = HEIGHT
    shown: int
    total: int
    what: str
    undrawn: int = 0


def same_length(expected: int, of: str, got: int, what: str) -> None:
    """Refuse columns of different lengths."""
    if expected != got:
        raise ValueError(f"Expected as many {what} as {of}, {expected:,}, got {got:,}")


def hover(heading: str, figures: Mapping[str, str]) -> str:
    """The lines for the point under the pointer, the first of them in bold."""
    lines = [plot_text(heading)]
    lines += [
        f"{plot_text(name)}: {plot_text(text)}" if name else plot_text(text) for name, text in figures.items()
    ]
    return "\n".join(lines)


def rows_of(names: Sequence[str], rows: Sequence[Sequence[object]]) -> TableRows:
    """The table below a figure."""
    return TableRows(names=list(names), rows=[list(row) for row in rows[:_MOST_ROWS]], total=len(rows))


def plural(count: int, what: str) -> str:
    """«1 bar», «2 bars»."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
