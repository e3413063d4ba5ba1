"""Heat maps: a cell for each row and column, coloured by its value."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from thatch.reports.figures.figure import (
    HEIGHT,
    Figure,
    PlotAxis,
    hover,
    label_layout,
    plural,
    rows_of,
    same_length,
)
from thatch.reports.figures.ticks import even_ticks
from thatch.reports.formatting import format_value, simple
from thatch.reports.texts import plot_text

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
    value: str | PlotAxis = "",
) -> Figure:
    """A cell for each row and column; the first row is on top."""
    axis = PlotAxis.of(value)
    down, across = (
        [format_value(each, "text") for each in rows],
        [format_value(each, "text") for each in columns],
    )
    cells = [[simple(each) for each in row] for row in values]
    same_length(len(down), "row labels", len(cells), "rows of values")
    for name, row in zip(down, cells, strict=True):
        same_length(len(across), "column labels", len(row), f"values of row {name!r}")
    drawn = [_colours(row, axis) for row in cells]
    named = [f"{who}, {what}" for who in down for what in across]
    flat = [each for row in cells for each in row]
    texts_of_cells = [
        hover(name, {axis.title: axis.text(each)}) for name, each in zip(named, flat, strict=True)
    ]
    width = max(len(across), 1)
    field = {
        "type": "heat",
        "z": drawn,
        "texts": [texts_of_cells[start : start + width] for start in range(0, len(texts_of_cells), width)],
    }
    return Figure(
        title=title,
        summary=f"Heat map of {plural(len(down), 'row')} and {plural(len(across), 'column')}. "
        + axis.extremes(named, flat),
        data=[field],
        layout={
            "legend": False,
            "x": label_layout(x, across),
            "y": label_layout(y, down, is_down=True),
            "colours": _colours_of(axis, drawn),
        },
        rows=rows_of([y or "row", *across], [[who, *row] for who, row in zip(down, cells, strict=True)]),
        formats=axis.formats(across),
        height=min(_TALLEST, max(HEIGHT, 120 + _ROW_HEIGHT * len(down))),
        shown=len(flat),
        total=len(flat),
        what="cells",
        undrawn=sum(row.count(None) for row in drawn),
    )


def _colours(row: list[object], axis: PlotAxis) -> list[float | None]:
    """Numbers for the colour scale: logarithms on a log axis."""
    return [each if each is None or not axis.log else math.log10(each) for each in axis.places(row)[0]]


def _colours_of(axis: PlotAxis, drawn: list[list[float | None]]) -> dict[str, Any]:
    """The scale of colours: its ends, and the texts of ticks at even distances from one end to the other."""
    found = [each for row in drawn for each in row if each is not None]
    if axis.log:
        low, high = math.floor(min(found, default=0)), math.ceil(max(found, default=0))
        ticks = [float(power) for power in range(low, max(high, low + 1) + 1)]
        texts = [axis.text(10**power if power >= 0 else 10.0**power) for power in map(int, ticks)]
    else:
        _, ticks = even_ticks(found, is_tight=True)
        texts = [axis.text(int(each) if each.is_integer() else each) for each in ticks]
    return {"title": plot_text(axis.title), "range": [ticks[0], ticks[-1]], "ticks": texts}
