"""Figures and their axes: what plotly draws, a summary in words, and the data as a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

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
_MOST_LABELS = 30  # of more labels only some are drawn
_LARGEST = 1e290  # plotly adds a margin, which must be a double too
_TICKS: dict[Format | None, dict[str, Any]] = {
    "percent": {"tickformat": ".3~%"},
    "bytes": {"tickformat": ".3~s", "ticksuffix": "B"},
    "seconds": {"tickformat": ".3~s", "ticksuffix": "s"},
}


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

    @property
    def kind(self) -> str:
        """Plotly's type of the axis, for numbers."""
        return "log" if self.log else "linear"

    def text(self, value: object) -> str:
        """A value as text, in the format of the axis."""
        return format_value(value, self.format)

    def formats(self, names: Iterable[str]) -> dict[str, Format]:
        """The format of the axis for each of these columns."""
        return {} if self.format is None else dict.fromkeys(names, self.format)

    def places(self, values: Iterable[object]) -> tuple[list[float | str | None], str]:
        """The position of each value, None if it cannot be drawn; and plotly's type of the axis."""
        found = [simple(value) for value in values]
        if any(isinstance(value, date) for value in found):
            return [_moment(value) for value in found], "date"
        return [self._finite(value) for value in found], self.kind

    def edge_places(self, edges: Sequence[object]) -> list[float]:
        """The positions of the edges of a histogram; an infinite edge is drawn a bar's width beside its neighbour.

        On a log axis, positions are logarithms, because plotly's bars have no widths there.
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

    def layout(self, kind: str = "") -> dict[str, Any]:
        """The layout of an axis of numbers or times."""
        kind = kind or self.kind
        layout = {"title": {"text": plot_text(self.title)}, "type": kind, "automargin": True}
        if kind == "log" and self.format is None:
            return layout | {"exponentformat": "power"}
        ticks = (
            {} if kind == "date" else _TICKS.get(self.format, {"tickformat": ",~r", "exponentformat": "e"})
        )
        return layout | ticks

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


def label_layout(title: str, labels: Sequence[str]) -> dict[str, Any]:
    """The layout of an axis of labels at 0, 1, 2 …, so that equal or numeric labels stay separate."""
    step = max(1, math.ceil(len(labels) / _MOST_LABELS))
    ticks = range(0, len(labels), step)
    ends = {"range": [-0.5, max(len(labels), 1) - 0.5]}
    return tick_layout(title, {tick: labels[tick] for tick in ticks}, _LABEL) | ends


def tick_layout(title: str, ticks: Mapping[float, str], length: int = 60) -> dict[str, Any]:
    """The layout of an axis with these ticks, whose texts are cut to a length."""
    return {
        "title": {"text": plot_text(title)},
        "type": "linear",
        "tickmode": "array",
        "tickvals": list(ticks),
        "ticktext": [plot_text(text, length) for text in ticks.values()],
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
    }


def _moment(value: object) -> str | None:
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(" ")
    return value.isoformat() if isinstance(value, date) else None


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
    """The text for the point under the pointer."""
    lines = [f"<b>{plot_text(heading)}</b>"] if heading else []
    lines += [
        f"{plot_text(name)}: {plot_text(text)}" if name else plot_text(text) for name, text in figures.items()
    ]
    return "<br>".join(lines)


def rows_of(names: Sequence[str], rows: Sequence[Sequence[object]]) -> TableRows:
    """The table below a figure."""
    return TableRows(names=list(names), rows=[list(row) for row in rows[:_MOST_ROWS]], total=len(rows))


def plural(count: int, what: str) -> str:
    """«1 bar», «2 bars»."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
