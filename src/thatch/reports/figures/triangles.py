"""Triangles: three costs in one figure, a triangle for each name; the smaller, the better."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import cos, pi, sin
from typing import Any

from thatch.reports.figures.figure import Figure, PlotAxis, hover, plural, rows_of, same_length
from thatch.reports.figures.points import DASHES, SYMBOLS
from thatch.reports.formatting import format_value, simple
from thatch.reports.texts import plot_text

__all__ = ["triangles"]

_HEIGHT = 460
_SPOKES = tuple((cos(angle), sin(angle)) for angle in (pi / 2, pi / 2 + 2 * pi / 3, pi / 2 + 4 * pi / 3))
_RINGS = (0.5, 1.0)  # triangles to compare with: half of the largest, and the largest


def triangles(
    values: Mapping[str, Iterable[object]], corners: Sequence[str], *, title: str = "", label: str = ""
) -> Figure:
    """A triangle for each name; its corners are three values, each relative to the largest of all names.

    Parameters
    ----------
    corners : what the three measure: the first points up, the second to the left, the third to the right
    """
    same_length(len(_SPOKES), "corners of a triangle", len(corners), "names of corners")
    read = {str(name): [simple(each) for each in row] for name, row in values.items()}
    for name, row in read.items():
        same_length(len(_SPOKES), "corners", len(row), f"values of {name!r}")
    whole = [(name, found) for name, row in read.items() if (found := _costs(row)) is not None]
    largest = [max((row[at] for _, row in whole), default=0.0) for at in range(len(_SPOKES))]
    data = [
        _trace(name, row, largest, corners)
        | {
            "line": {"dash": DASHES[place // 8 % 4], "width": 2},
            "marker": {"symbol": SYMBOLS[place % 8], "size": 7},
        }
        for place, (name, row) in enumerate(whole)
    ]
    return Figure(
        title=title,
        summary=f"{plural(len(whole), 'triangle')}. "
        + " ".join(
            f"Largest {corner} {format_value(most)}." for corner, most in zip(corners, largest, strict=True)
        ),
        data=data,
        layout={
            "showlegend": True,
            "hovermode": "closest",
            "xaxis": {"visible": False, "range": [-1.5, 1.5]},
            "yaxis": {"visible": False, "range": [-0.8, 1.2], "scaleanchor": "x"},
            "shapes": [_ring(reach) for reach in _RINGS],
            "annotations": [_corner(*each) for each in zip(_SPOKES, corners, largest, strict=True)],
        },
        rows=rows_of([label or "name", *corners], [[name, *row] for name, row in read.items()]),
        height=_HEIGHT,
        shown=len(whole),
        total=len(read),
        what="triangles",
        undrawn=len(read) - len(whole),
    )


def _costs(row: list[object]) -> list[float] | None:
    """The three values; None if one cannot be drawn: missing, infinite or negative."""
    found = [each for each in PlotAxis().places(row)[0] if isinstance(each, float) and each >= 0]
    return found if len(found) == len(row) else None


def _trace(name: str, row: list[float], largest: list[float], corners: Sequence[str]) -> dict[str, Any]:
    reaches = [each / (most or 1.0) for each, most in zip(row, largest, strict=True)]
    ends = [(x * reach, y * reach) for (x, y), reach in zip(_SPOKES, reaches, strict=True)]
    text = hover(name, {corner: format_value(each) for corner, each in zip(corners, row, strict=True)})
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plot_text(name),
        "x": [x for x, _ in [*ends, ends[0]]],
        "y": [y for _, y in [*ends, ends[0]]],
        "hovertext": [text] * (len(ends) + 1),
        "hoverinfo": "text",
    }


def _ring(reach: float) -> dict[str, Any]:
    path = " L".join(f"{x * reach:.4f},{y * reach:.4f}" for x, y in _SPOKES)
    return {
        "type": "path",
        "path": f"M{path} Z",
        "layer": "below",
        "line": {"dash": "dot", "width": 1, "color": "gray"},
    }


def _corner(spoke: tuple[float, float], corner: str, most: float) -> dict[str, Any]:
    """The name of a corner and the largest value there, outside the triangle."""
    x, y = spoke
    side = "center" if abs(x) < 1e-9 else "right" if x < 0 else "left"
    at = {"x": x, "y": y, "xanchor": side, "yanchor": "bottom" if y > 0 else "top"}
    return at | {"text": f"{plot_text(corner)}<br>at most {format_value(most)}", "showarrow": False}
