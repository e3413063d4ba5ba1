"""The curves as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import plotly.graph_objects as go  # type: ignore[import-untyped]
from plotly.subplots import make_subplots  # type: ignore[import-untyped]

from benchmarks.curves.points import Point

__all__ = ["write_page"]

_FIGURES = {
    "microseconds": "µs per event",
    "hot_bytes": "hot bytes per subscription",
    "build_seconds": "seconds to build",
}


def write_page(path: Path, points: Sequence[Point], machine: str) -> None:
    """Write a row of plots for each curve."""
    names = list(dict.fromkeys(point.curve for point in points))
    titles = [f"{title} over {name}" for name in names for title in _FIGURES.values()]
    figure = make_subplots(rows=len(names), cols=len(_FIGURES), subplot_titles=titles)
    for row, name in enumerate(names, start=1):
        line = [point for point in points if point.curve == name]
        for column, key in enumerate(_FIGURES, start=1):
            figure.add_trace(_trace(line, key), row=row, col=column)
            figure.update_xaxes(type="log", title_text=name, row=row, col=column)
            figure.update_yaxes(rangemode="tozero", row=row, col=column)
        figure.update_yaxes(type="log", row=row, col=1)
    figure.update_layout(
        title=f"Thatch, one event per call<br><sup>{escape(machine)}</sup>",
        height=360 * len(names),
        showlegend=False,
        template="plotly_white",
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.write_html(path, include_plotlyjs=True)


def _trace(line: Sequence[Point], key: str) -> Any:
    return go.Scatter(
        x=[point.value for point in line],
        y=[getattr(point, key) for point in line],
        text=[f"{point.matches:,.1f} matches, {point.subscriptions:,} subscriptions" for point in line],
        mode="lines+markers",
    )
