"""Figures of a report: columns in, out come positions, texts and axes for the page's script, a summary, and the data as a table.

Ticks are chosen here, so that figures and tables write numbers in the same way. The script (`assets/figures.js`) knows only
how wide the page is; colours come from its style sheet, for the reader's light or dark mode.
"""

from __future__ import annotations

from thatch.reports.figures.bars import bars, histogram
from thatch.reports.figures.boxplots import boxplot
from thatch.reports.figures.figure import Figure, PlotAxis
from thatch.reports.figures.heatmaps import heatmap
from thatch.reports.figures.places import places
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
    "places",
    "scatter",
    "triangles",
]
