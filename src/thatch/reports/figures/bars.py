"""Bars: one for each label, or one between each two edges."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import chain, pairwise
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
    tick_layout,
)
from thatch.reports.formatting import format_value, simple
from thatch.reports.texts import plot_text

__all__ = ["bars", "histogram"]

_BAR_HEIGHT = 22  # pixels of a horizontal bar and its gap
_MOST_VERTICAL = 12
_LONGEST_VERTICAL = 10  # characters of a label that fit under a bar


def bars(
    labels: Iterable[object],
    values: Iterable[object] | Mapping[str, Iterable[object]],
    *,
    title: str = "",
    label: str = "",
    value: str | PlotAxis = "",
    most: int = 50,
    total: int | None = None,
) -> Figure:
    """A bar for each label, or for each label and group; horizontal if labels are many or long.

    Parameters
    ----------
    most : number of labels to draw; a line says how many are left out
    total : number of all labels, if only the first ones are given
    """
    axis, names = PlotAxis.of(value), [format_value(each, "text") for each in labels]
    groups = values if isinstance(values, Mapping) else {axis.title or "value": values}
    columns = {str(name): [simple(each) for each in column] for name, column in groups.items()}
    for name, column in columns.items():
        same_length(len(names), "labels", len(column), f"values of {name!r}")
    total, names = max(len(names), total or 0), names[:most]
    columns = {name: column[:most] for name, column in columns.items()}
    horizontal = len(names) > _MOST_VERTICAL or max(map(len, names), default=0) > _LONGEST_VERTICAL
    data = [_bars(name, names, column, axis, horizontal=horizontal) for name, column in columns.items()]
    drawn = [each["x" if horizontal else "y"] for each in data]
    cells = [
        (f"{who}, {name}" if len(columns) > 1 else who, each)
        for name, column in columns.items()
        for who, each in zip(names, column, strict=True)
    ]
    return Figure(
        title=title,
        summary=f"{plural(total, 'bar')}. {axis.extremes([who for who, _ in cells], [each for _, each in cells])}",
        data=data,
        layout=_bar_layout(label, names, axis, list(chain(*drawn)), horizontal=horizontal)
        | {"legend": len(columns) > 1},
        rows=rows_of(
            [label or "label", *columns],
            [[who, *(column[place] for column in columns.values())] for place, who in enumerate(names)],
        ),
        formats=axis.formats(columns),
        height=max(HEIGHT // 2, 100 + _BAR_HEIGHT * len(names) * max(1, len(columns)))
        if horizontal
        else HEIGHT,
        shown=len(names),
        total=total,
        what="bars" if len(columns) == 1 else "labels",
        undrawn=sum(column.count(None) for column in drawn),
    )


def histogram(
    edges: Iterable[object],
    counts: Iterable[object],
    *,
    title: str = "",
    x: str | PlotAxis = "",
    y: str | PlotAxis = "count",
) -> Figure:
    """A bar between each two neighbouring edges; the outermost edges may be infinite."""
    across, up = PlotAxis.of(x), PlotAxis.of(y)
    cuts, heights = [simple(edge) for edge in edges], [simple(count) for count in counts]
    same_length(max(len(cuts) - 1, 0), "gaps between edges", len(heights), "counts")
    at = across.edge_places(cuts)
    drawn, _ = up.places(heights)
    bins = [f"{across.text(low)} to {across.text(high)}" for low, high in pairwise(cuts)]
    names = ["from", "to", up.title or "count"]
    bar = {
        "type": "bar",
        "x": [(low + high) / 2 for low, high in pairwise(at)],
        "width": [0.985 * (high - low) for low, high in pairwise(at)],
        "y": drawn,
        "texts": [hover(each, {names[2]: up.text(n)}) for each, n in zip(bins, heights, strict=True)],
    }
    step = max(1, math.ceil(len(cuts) / 10))
    ticks = {place: across.text(cut) for place, cut in list(zip(at, cuts, strict=True))[::step]}
    return Figure(
        title=title,
        summary=f"Histogram of {plural(len(heights), 'bin')}. {up.extremes(bins, heights)}",
        data=[bar],
        layout={
            "legend": False,
            "x": tick_layout(across.title, ticks, ends=(at[0], at[-1]) if at else (0.0, 1.0)),
            "y": up.layout(drawn, from_zero=True),
        },
        rows=rows_of(names, [[*pair, n] for pair, n in zip(pairwise(cuts), heights, strict=True)]),
        formats=across.formats(names[:2]) | up.formats(names[2:]),
        shown=len(heights),
        total=len(heights),
        what="bins",
        undrawn=drawn.count(None),
    )


def _bars(
    name: str, names: list[str], column: list[object], axis: PlotAxis, *, horizontal: bool
) -> dict[str, Any]:
    drawn, _ = axis.places(column)
    at = list(range(len(names)))
    texts = [hover(who, {name: axis.text(each)}) for who, each in zip(names, column, strict=True)]
    ends = {"x": drawn, "y": at, "lying": True} if horizontal else {"x": at, "y": drawn}
    return {"type": "bar", "name": plot_text(name), "texts": texts} | ends


def _bar_layout(
    label: str, names: list[str], axis: PlotAxis, drawn: list[float | None], *, horizontal: bool
) -> dict[str, Any]:
    of_labels, of_values = (
        label_layout(label, names, is_down=horizontal),
        axis.layout(drawn, from_zero=not axis.log),
    )
    return {"x": of_values, "y": of_labels} if horizontal else {"x": of_labels, "y": of_values}
