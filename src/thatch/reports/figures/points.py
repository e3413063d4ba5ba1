"""Points: joined by lines, or as a scatter plot."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from thatch.reports.figures.figure import Figure, PlotAxis, hover, plural, rows_of, same_length
from thatch.reports.formatting import simple
from thatch.reports.texts import plot_text

__all__ = ["DASHES", "SYMBOLS", "Series", "lines", "scatter"]

Series = Mapping[str, tuple[Iterable[object], Iterable[object]]]

_MOST_MARKED = 60  # a longer line has no markers
# Series differ by shape too, for readers who cannot tell colours apart.
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star", "triangle-down")
DASHES = ("solid", "dash", "dot", "dashdot")


def lines(series: Series, *, title: str = "", x: str | PlotAxis = "", y: str | PlotAxis = "") -> Figure:
    """A line for each series, through its points in the given order."""
    read = _read(series)
    data = []
    for place, (name, (xs, ys)) in enumerate(read.items()):
        look: dict[str, Any] = {"dash": DASHES[place // 8 % 4]}
        if len(xs) <= _MOST_MARKED:
            look |= {"symbol": SYMBOLS[place % 8], "size": 3.5}
        data.append(_trace(name, xs, ys, PlotAxis.of(x), PlotAxis.of(y)) | look)
    total = sum(len(xs) for xs, _ in read.values())
    return _figure(read, data, title=title, x=PlotAxis.of(x), y=PlotAxis.of(y), kind="line", total=total)


def scatter(
    series: Series, *, title: str = "", x: str | PlotAxis = "", y: str | PlotAxis = "", most: int = 5_000
) -> Figure:
    """A cloud of points for each series; of more than `most` points in all, every second, third … is drawn."""
    read = _read(series)
    total = sum(len(xs) for xs, _ in read.values())
    step = max(1, math.ceil(total / most))
    read = {name: (xs[::step], ys[::step]) for name, (xs, ys) in read.items()}
    data = [
        _trace(name, xs, ys, PlotAxis.of(x), PlotAxis.of(y)) | {"symbol": SYMBOLS[place % 8], "size": 3}
        for place, (name, (xs, ys)) in enumerate(read.items())
    ]
    return _figure(read, data, title=title, x=PlotAxis.of(x), y=PlotAxis.of(y), kind="cloud", total=total)


_Read = dict[str, tuple[list[object], list[object]]]


def _read(series: Series) -> _Read:
    read = {
        str(name): ([simple(x) for x in xs], [simple(y) for y in ys]) for name, (xs, ys) in series.items()
    }
    for name, (xs, ys) in read.items():
        same_length(len(xs), "xs", len(ys), f"ys of {name!r}")
    return read


def _trace(name: str, xs: list[object], ys: list[object], x: PlotAxis, y: PlotAxis) -> dict[str, Any]:
    texts = [
        hover(name, {x.title or "x": x.text(across), y.title or "y": y.text(up)})
        for across, up in zip(xs, ys, strict=True)
    ]
    at_x, at_y = x.places(xs)[0], y.places(ys)[0]
    return {"type": "points", "name": plot_text(name), "x": at_x, "y": at_y, "texts": texts}


def _figure(
    read: _Read, data: list[dict[str, Any]], *, title: str, x: PlotAxis, y: PlotAxis, kind: str, total: int
) -> Figure:
    points = [
        (name, across, up) for name, (xs, ys) in read.items() for across, up in zip(xs, ys, strict=True)
    ]
    (across, are_moments), (up, up_moments) = (
        x.places([each for _, each, _ in points]),
        y.places([each for *_, each in points]),
    )
    names = [f"{name}, {x.text(each)}" if name else x.text(each) for name, each, _ in points]
    undrawn = sum(
        first is None or second is None
        for each in data
        for first, second in zip(each["x"], each["y"], strict=True)
    )
    columns = ["series", x.title or "x", y.title or "y"]
    return Figure(
        title=title,
        summary=f"{plural(len(read), kind)}, {plural(total, 'point')}. {y.extremes(names, [up for *_, up in points])}",
        data=data,
        layout={
            "legend": len(read) > 1,
            "x": x.layout(across, are_moments=are_moments),
            "y": y.layout(up, are_moments=up_moments),
        },
        rows=rows_of(columns, points),
        formats=x.formats(columns[1:2]) | y.formats(columns[2:]),
        shown=len(points),
        total=total,
        what="points",
        undrawn=undrawn,
    )
