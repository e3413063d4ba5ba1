"""Report: the results of a job as one HTML file, built part by part."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import wraps
from typing import Concatenate, ParamSpec

from thatch.outputs import new_file
from thatch.reports import figures
from thatch.reports.figures import Figure
from thatch.reports.formatting import Format
from thatch.reports.page import contents_markup, facts_markup, figure_markup, page, prose
from thatch.reports.tables import ArrowTable, read_rows, table_markup
from thatch.reports.texts import heading

__all__ = ["Report"]

P = ParamSpec("P")

_FEW_SECTIONS = 3  # with more there is a table of contents


def _adds(make: Callable[P, Figure]) -> Callable[Concatenate[Report, P], None]:
    """A method of `Report` that adds the figure which `make` returns."""

    @wraps(make)
    def add(report: Report, /, *args: P.args, **kwargs: P.kwargs) -> None:
        report.draw(make(*args, **kwargs))

    return add


class Report:
    """A page that is built from top to bottom; equal calls give equal files.

    Text is never interpreted as HTML. Values may be those of Python, NumPy and Arrow; what is not a number is shown as
    text.

    Parameters
    ----------
    title : what the report is about
    command : the command that made it, for readers to copy

    Examples
    --------
    >>> report = Report("Matches of quotes.parquet", command="thatch match --spark quotes.parquet")
    >>> report.facts({"events": 200_000, "matched": 0.0321}, formats={"matched": "percent"})
    >>> report.section("Attributes", "How many subscriptions ask for each.")
    >>> report.table([{"attribute": "price", "subscriptions": 712_334}], caption="Attributes")
    >>> "200,000" in report.html() and "3.21 %" in report.html()
    True
    """

    def __init__(self, title: str, *, command: str = "") -> None:
        self._title = title
        self._command = command
        self._before: list[str] = []  # the parts before the first section and the table of contents
        self._sections: list[tuple[str, list[str]]] = []
        self._has_figures = False

    def facts(self, facts: Mapping[str, object], *, formats: Mapping[str, Format] | None = None) -> None:
        """Add a strip of named numbers."""
        self._add(facts_markup(facts, formats or {}))

    def section(self, title: str, text: str = "") -> None:
        """Begin a section; `text` introduces it."""
        self._sections.append((title, [prose(text)]))

    def note(self, text: str) -> None:
        """Add paragraphs, separated by empty lines; text in backquotes is shown as code."""
        self._add(prose(text))

    def table(
        self,
        table: ArrowTable | Sequence[Mapping[str, object]],
        *,
        caption: str = "",
        most: int = 200,
        total: int | None = None,
        formats: Mapping[str, Format] | None = None,
    ) -> None:
        """Add a table that readers can sort.

        Parameters
        ----------
        table : a pyarrow Table or RecordBatch, or one mapping a row
        most : number of rows to show; a line says how many are left out
        total : number of all rows, if `table` has only the first ones
        formats : formats of columns of numbers
        """
        self._add(table_markup(read_rows(table, most, total), caption=caption, formats=formats or {}))

    bars = _adds(figures.bars)
    lines = _adds(figures.lines)
    scatter = _adds(figures.scatter)
    histogram = _adds(figures.histogram)
    heatmap = _adds(figures.heatmap)
    boxplot = _adds(figures.boxplot)
    triangles = _adds(figures.triangles)
    places = _adds(figures.places)

    def html(self, *, made: datetime | None = None) -> str:
        """The text of the file; it says when it was `made`, if that is given."""
        body = list(self._before)
        named = [(f"section-{number}", title) for number, (title, _) in enumerate(self._sections, start=1)]
        if len(named) > _FEW_SECTIONS:
            body.append(contents_markup(named))
        for (name, title), (_, parts) in zip(named, self._sections, strict=True):
            body.append(f'<section id="{name}">\n<h2>{heading(title)}</h2>\n{"".join(parts)}</section>\n')
        return page(self._title, self._command, "".join(body), figures=self._has_figures, made=made)

    def write(
        self, path: str | os.PathLike[str], *, overwrite: bool = False, made: datetime | None = None
    ) -> None:
        """Write the file, whole or not at all; raises `OutputError` if it may not be written, see `thatch.outputs`."""
        data = self.html(made=made).encode()
        with new_file(path, overwrite=overwrite) as file:
            file.write(data)

    def _add(self, part: str) -> None:
        (self._sections[-1][1] if self._sections else self._before).append(part)

    def draw(self, figure: Figure) -> None:
        """Add a figure."""
        self._has_figures = True
        self._add(figure_markup(figure))
