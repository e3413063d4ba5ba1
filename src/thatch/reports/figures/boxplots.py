"""Box plots: the distribution of values, a box for each label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from thatch.reports.figures.figure import Figure, PlotAxis, hover, label_layout, plural, rows_of, same_length
from thatch.reports.formatting import format_value, number
from thatch.reports.texts import plot_text

__all__ = ["boxplot"]

_PARTS = {"least": 0.0, "quarter": 0.25, "half": 0.5, "three quarters": 0.75, "most": 1.0}


def boxplot(
    labels: Iterable[object],
    values: Iterable[Iterable[object]],
    *,
    title: str = "",
    label: str = "",
    value: str | PlotAxis = "",
    marks: Mapping[str, float | None] | None = None,
) -> Figure:
    """A box for each label, from the first to the third quartile of its values, with whiskers to the extremes.

    Parameters
    ----------
    marks : levels at which a line is drawn, by name
    """
    axis, names = PlotAxis.of(value), [format_value(each, "text") for each in labels]
    columns = [sorted(place for each in column if (place := number(each)) is not None) for column in values]
    same_length(len(names), "labels", len(columns), "columns of values")
    fives = [[_quantile(column, part) for part in _PARTS.values()] for column in columns]
    total = sum(map(len, columns))
    lines = {name: level for name, level in (marks or {}).items() if level is not None}
    return Figure(
        title=title,
        summary=f"{plural(len(names), 'box plot')} of {plural(total, 'value')}. "
        + _halves(names, fives, axis),
        data=[_trace(names, fives, axis)] if total else [],
        layout={
            "legend": False,
            "x": label_layout(label, names),
            "y": axis.layout([*(each for five in fives for each in five), *lines.values()]),
            "levels": [[level, plot_text(name)] for name, level in lines.items()],
        },
        rows=rows_of(
            [label or "label", *_PARTS], [[who, *five] for who, five in zip(names, fives, strict=True)]
        ),
        formats=axis.formats(_PARTS),
        shown=total,
        total=total,
        what="values",
    )


def _quantile(column: list[float], part: float) -> float | None:
    """A quantile, interpolated as NumPy does; None if there are no values."""
    if not column:
        return None
    place = part * (len(column) - 1)
    low = int(place)
    high = min(low + 1, len(column) - 1)
    return column[low] + (place - low) * (column[high] - column[low])


def _trace(names: list[str], fives: list[list[float | None]], axis: PlotAxis) -> dict[str, Any]:
    least, first, middle, third, most = (list(part) for part in zip(*fives, strict=True))
    return {
        "type": "box",
        "x": list(range(len(names))),
        "least": least,
        "quarter": first,
        "half": middle,
        "three": third,
        "most": most,
        "texts": [
            hover(who, {part: axis.text(each) for part, each in zip(_PARTS, five, strict=True)})
            for who, five in zip(names, fives, strict=True)
        ],
    }


def _halves(names: list[str], fives: list[list[float | None]], axis: PlotAxis) -> str:
    found = [(five[2], who) for five, who in zip(fives, names, strict=True) if five[2] is not None]
    if not found:
        return "No values."
    (low, at_low), (high, at_high) = min(found), max(found)
    return f"Least middle {axis.text(low)} ({at_low}). Greatest {axis.text(high)} ({at_high})."
