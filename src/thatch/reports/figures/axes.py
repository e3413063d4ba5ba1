"""Axes of figures: what they measure, and plotly's words for it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from thatch.reports.formatting import Format, number, shown, simple
from thatch.reports.texts import plot_text

__all__ = ["Axis", "as_axis", "axis_layout", "edge_places", "label_layout", "places", "tick_layout", "told"]

_LABEL = 28  # characters of a label beside an axis; the table below the figure has the whole
_MOST_LABELS = 30  # more than this many are thinned out
_LARGEST = 1e290  # plotly adds some room around what it draws, and that must be a double too
_TICKS: dict[Format | None, dict[str, Any]] = {
    "percent": {"tickformat": ".3~%"},
    "bytes": {"tickformat": ".3~s", "ticksuffix": "B"},
    "seconds": {"tickformat": ".3~s", "ticksuffix": "s"},
}


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a figure: its title, whether it is logarithmic, and what its numbers measure."""

    title: str = ""
    log: bool = False
    format: Format | None = None


def as_axis(axis: str | Axis) -> Axis:
    """A text is the title of a plain axis."""
    return axis if isinstance(axis, Axis) else Axis(axis)


def places(values: Iterable[object], axis: Axis) -> tuple[list[float | str | None], str]:
    """Where each value is drawn, None where it cannot be; and plotly's type of the axis."""
    found = [simple(value) for value in values]
    if any(isinstance(value, date) for value in found):
        return [_moment(value) for value in found], "date"
    return [_finite(value, axis) for value in found], "log" if axis.log else "linear"


def axis_layout(axis: Axis, kind: str) -> dict[str, Any]:
    """An axis of numbers or moments."""
    layout = {"title": {"text": plot_text(axis.title)}, "type": kind, "automargin": True}
    if kind == "log" and axis.format is None:
        return layout | {"exponentformat": "power"}
    ticks = {} if kind == "date" else _TICKS.get(axis.format, {"tickformat": ",~r", "exponentformat": "e"})
    return layout | ticks


def label_layout(title: str, labels: Sequence[str]) -> dict[str, Any]:
    """An axis of labels, drawn at 0, 1, 2 …: equal or number-like labels stay what they are."""
    step = max(1, math.ceil(len(labels) / _MOST_LABELS))
    ticks = list(range(0, len(labels), step))
    return {
        "title": {"text": plot_text(title)},
        "type": "linear",
        "tickmode": "array",
        "tickvals": ticks,
        "ticktext": [plot_text(labels[tick], _LABEL) for tick in ticks],
        "range": [-0.5, max(len(labels), 1) - 0.5],
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
    }


def tick_layout(title: str, ticks: dict[float, str]) -> dict[str, Any]:
    """An axis whose ticks we choose ourselves."""
    return {
        "title": {"text": plot_text(title)},
        "type": "linear",
        "tickmode": "array",
        "tickvals": list(ticks),
        "ticktext": [plot_text(text) for text in ticks.values()],
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
    }


def edge_places(edges: Sequence[object], axis: Axis) -> list[float]:
    """Where the edges of a histogram are drawn; one that has no place stands a bar's width beside its neighbour.

    On a log axis that is the logarithm: plotly's bars have no widths there.
    """
    found = [_finite(edge, axis) for edge in edges]
    at = [math.log10(each) if each is not None and axis.log else each for each in found]
    known = [each for each in at if each is not None]
    if None in at[1:-1] or known != sorted(set(known)):
        raise ValueError(
            "Expected edges that ascend, of which only the outermost may be infinite, got others"
        )
    if not known:
        return [float(place) for place in range(len(at))]
    wide = (known[-1] - known[0]) / (len(known) - 1) if len(known) > 1 else 1.0
    low = [known[0] - wide] if at[0] is None else []
    high = [known[-1] + wide] if at[-1] is None else []
    return [*low, *known, *high]


def told(value: object, axis: Axis) -> str:
    """The value in words for hovering and summaries."""
    return shown(value, axis.format)


def _finite(value: object, axis: Axis) -> float | None:
    place = number(value)
    if place is None or abs(place) > _LARGEST or (axis.log and place < 1 / _LARGEST):
        return None
    return place


def _moment(value: object) -> str | None:
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(" ")
    return value.isoformat() if isinstance(value, date) else None
