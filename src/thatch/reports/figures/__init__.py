"""Figures of a report: columns in, plotly's JSON out, with a summary and the data as a table.

A specification is plain dicts for plotly.js; plotly's Python objects are not needed. The page chooses colours, for the
reader's light or dark mode.
"""

from __future__ import annotations

from thatch.reports.figures.bars import bars, histogram
from thatch.reports.figures.boxplots import boxplot
from thatch.reports.figures.figure import Figure, PlotAxis
from thatch.reports.figures.heatmaps import heatmap
from thatch.reports.figures.points import Series, lines, scatter
from thatch.reports.figures.triangles import triangles

__all__ = [
    "Figure",
    "PlotAxis",
    "Series",
    "bars",
    "boxplot",
    "heatmap",
    "histogram",
    "lines",
    "scatter",
    "triangles",
]
