"""Heat maps: a field for each row and column, coloured by its value."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from thatch.reports.figures.axes import Axis, as_axis, axis_layout, label_layout, places, told
from thatch.reports.figures.figure import (
    HEIGHT,
    Figure,
    counted,
    extremes,
    formats_of,
    hover,
    rows_of,
    same_length,
)
from thatch.reports.formatting import shown, simple

__all__ = ["heatmap"]

_ROW_HEIGHT = 26
_TALLEST = 1_000


def heatmap(
    rows: Iterable[object],
    columns: Iterable[object],
    values: Iterable[Iterable[object]],
    *,
    title: str = "",
    x: str = "",
    y: str = "",
    value: str | Axis = "",
) -> Figure:
    """A field for each row and column; the first row is on top."""
    axis = as_axis(value)
    down, across = [shown(each, "text") for each in rows], [shown(each, "text") for each in columns]
    cells = [[simple(each) for each in row] for row in values]
    same_length(len(down), "row labels", len(cells), "rows of values")
    for name, row in zip(down, cells, strict=True):
        same_length(len(across), "column labels", len(row), f"values of row {name!r}")
    drawn = [_colours(row, axis) for row in cells]
    named = [f"{who}, {what}" for who in down for what in across]
    flat = [each for row in cells for each in row]
    told_of = [hover(name, {axis.title: told(each, axis)}) for name, each in zip(named, flat, strict=True)]
    width = max(len(across), 1)
    vertical = label_layout(y, down)
    vertical["range"] = vertical["range"][::-1]
    field = {
        "type": "heatmap",
        "z": drawn,
        "text": [told_of[start : start + width] for start in range(0, len(told_of), width)],
        "hoverinfo": "text",
        "coloraxis": "coloraxis",
        "xgap": 1,
        "ygap": 1,
    }
    return Figure(
        title=title,
        summary=f"Heat map of {counted(len(down), 'row')} and {counted(len(across), 'column')}. "
        + extremes(named, flat, axis),
        data=[field],
        layout={
            "showlegend": False,
            "xaxis": label_layout(x, across),
            "yaxis": vertical,
            "coloraxis": {"colorbar": _colour_bar(axis, drawn)},
        },
        rows=rows_of([y or "row", *across], [[who, *row] for who, row in zip(down, cells, strict=True)]),
        formats=formats_of(across, axis),
        height=min(_TALLEST, max(HEIGHT, 120 + _ROW_HEIGHT * len(down))),
        shown=len(flat),
        total=len(flat),
        what="fields",
        undrawn=sum(row.count(None) for row in drawn),
    )


def _colours(row: list[object], axis: Axis) -> list[float | None]:
    """Numbers that stand for colours: plotly has no logarithmic scale of them."""
    found = (each if isinstance(each, float) else None for each in places(row, axis)[0])
    return [each if each is None or not axis.log else math.log10(each) for each in found]


def _colour_bar(axis: Axis, drawn: list[list[float | None]]) -> dict[str, Any]:
    bar = axis_layout(axis, "linear")
    look = {"title": {"text": bar["title"]["text"], "side": "right"}, "thickness": 12, "outlinewidth": 0}
    if not axis.log:
        return look | {key: each for key, each in bar.items() if key.startswith(("tick", "exponent"))}
    found = [each for row in drawn for each in row if each is not None]
    powers = range(math.floor(min(found, default=0)), math.ceil(max(found, default=0)) + 1)
    texts = [told(10**power if power >= 0 else 10.0**power, axis) for power in powers]
    return look | {"tickmode": "array", "tickvals": list(powers), "ticktext": texts}
