"""Triangles: three costs in one figure, a triangle for each name; the smaller, the better."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import cos, pi, sin
from typing import Any

from thatch.reports.figures.figure import (
    Figure,
    PlotAxis,
    hover,
    plural,
    rows_of,
    same_length,
    tick_layout,
)
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
        | {"dash": DASHES[place // 8 % 4], "symbol": SYMBOLS[place % 8], "size": 3.5}
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
            "legend": True,
            "x": tick_layout("", {}, ends=(-1.5, 1.5)),
            "y": tick_layout("", {}, ends=(-0.8, 1.25)),
            "equal": True,
            "rings": [[[x * reach, y * reach] for x, y in _SPOKES] for reach in _RINGS],
            "notes": [_corner(*each) for each in zip(_SPOKES, corners, largest, strict=True)],
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
    found = [each for each in PlotAxis().places(row)[0] if each is not None and each >= 0]
    return found if len(found) == len(row) else None


def _trace(name: str, row: list[float], largest: list[float], corners: Sequence[str]) -> dict[str, Any]:
    reaches = [each / (most or 1.0) for each, most in zip(row, largest, strict=True)]
    ends = [(x * reach, y * reach) for (x, y), reach in zip(_SPOKES, reaches, strict=True)]
    text = hover(name, {corner: format_value(each) for corner, each in zip(corners, row, strict=True)})
    return {
        "type": "points",
        "name": plot_text(name),
        "x": [x for x, _ in [*ends, ends[0]]],
        "y": [y for _, y in [*ends, ends[0]]],
        "texts": [text] * (len(ends) + 1),
    }


def _corner(spoke: tuple[float, float], corner: str, most: float) -> dict[str, Any]:
    """The name of a corner and the largest value there, outside the triangle."""
    x, y = spoke
    side = "middle" if abs(x) < 1e-9 else "end" if x < 0 else "start"
    return {
        "x": x,
        "y": y,
        "anchor": side,
        "above": y > 0,
        "text": f"{plot_text(corner)}\nat most {format_value(most)}",
    }
