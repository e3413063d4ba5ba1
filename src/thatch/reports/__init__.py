"""Reports: values and tables in, one self-contained HTML file out."""

from __future__ import annotations

from thatch.reports.figures import PlotAxis
from thatch.reports.formatting import Format
from thatch.reports.report import Report

__all__ = ["Format", "PlotAxis", "Report"]
