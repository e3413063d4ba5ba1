"""Result tables to one self-contained HTML file: values and tables in, a page out."""

from __future__ import annotations

from thatch.reports.figures import Axis
from thatch.reports.formatting import Format
from thatch.reports.report import Report

__all__ = ["Axis", "Format", "Report"]
