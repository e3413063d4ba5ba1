"""Figures of a report: columns in, plotly's JSON out, with a summary and the data as a table.

A specification is plain dicts that plotly.js reads in the page; plotly's Python objects are not needed. Colours are
the page's business: they follow the reader's choice of light or dark.
"""

from __future__ import annotations

from thatch.reports.figures.axes import Axis
from thatch.reports.figures.bars import bars, histogram
from thatch.reports.figures.boxplots import boxplot
from thatch.reports.figures.figure import Figure
from thatch.reports.figures.heatmaps import heatmap
from thatch.reports.figures.points import Series, lines, scatter
from thatch.reports.figures.triangles import triangles

__all__ = [
    "Axis",
    "Figure",
    "Series",
    "bars",
    "boxplot",
    "heatmap",
    "histogram",
    "lines",
    "scatter",
    "triangles",
]
