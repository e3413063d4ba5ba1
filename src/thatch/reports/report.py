"""Report: the results of a job as one HTML file, built part by part."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from thatch.reports import figures
from thatch.reports.figures import Figure, PlotAxis, Series
from thatch.reports.formatting import Format
from thatch.reports.page import contents_markup, facts_markup, figure_markup, page, prose
from thatch.reports.tables import ArrowTable, read_rows, table_markup
from thatch.reports.texts import heading

__all__ = ["Report"]

_FEW_SECTIONS = 3  # with more there is a table of contents


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

    def bars(
        self,
        labels: Iterable[object],
        values: Iterable[object] | Mapping[str, Iterable[object]],
        *,
        title: str = "",
        label: str = "",
        value: str | PlotAxis = "",
        most: int = 50,
    ) -> None:
        """Add a bar for each label; a mapping gives groups of bars. Bars are horizontal if labels are many or long."""
        self._draw(figures.bars(labels, values, title=title, label=label, value=value, most=most))

    def lines(
        self, series: Series, *, title: str = "", x: str | PlotAxis = "", y: str | PlotAxis = ""
    ) -> None:
        """Add a line for each name, through (xs, ys); xs are numbers or times."""
        self._draw(figures.lines(series, title=title, x=x, y=y))

    def scatter(
        self,
        series: Series,
        *,
        title: str = "",
        x: str | PlotAxis = "",
        y: str | PlotAxis = "",
        most: int = 5_000,
    ) -> None:
        """Add points for each name; of more than `most`, only every second, third … is drawn."""
        self._draw(figures.scatter(series, title=title, x=x, y=y, most=most))

    def histogram(
        self,
        edges: Iterable[object],
        counts: Iterable[object],
        *,
        title: str = "",
        x: str | PlotAxis = "",
        y: str | PlotAxis = "count",
    ) -> None:
        """Add a bar between each two neighbouring edges; the first and last edge may be infinite."""
        self._draw(figures.histogram(edges, counts, title=title, x=x, y=y))

    def heatmap(
        self,
        rows: Iterable[object],
        columns: Iterable[object],
        values: Iterable[Iterable[object]],
        *,
        title: str = "",
        x: str = "",
        y: str = "",
        value: str | PlotAxis = "",
    ) -> None:
        """Add a cell for each row and column, coloured by its value; the first row is on top."""
        self._draw(figures.heatmap(rows, columns, values, title=title, x=x, y=y, value=value))

    def boxplot(
        self,
        labels: Iterable[object],
        values: Iterable[Iterable[object]],
        *,
        title: str = "",
        label: str = "",
        value: str | PlotAxis = "",
        marks: Mapping[str, float | None] | None = None,
    ) -> None:
        """Add a box for each label, around the middle half of its values; `marks` are named levels."""
        self._draw(figures.boxplot(labels, values, title=title, label=label, value=value, marks=marks))

    def triangles(
        self,
        values: Mapping[str, Iterable[object]],
        corners: Sequence[str],
        *,
        title: str = "",
        label: str = "",
    ) -> None:
        """Add a triangle for each name; its corners are three values, each relative to the largest of all names."""
        self._draw(figures.triangles(values, corners, title=title, label=label))

    def html(self) -> str:
        """The text of the file.

        Raises
        ------
        MissingPackageError
            If the report has figures and plotly is not installed.
        """
        body = list(self._before)
        named = [(f"section-{number}", title) for number, (title, _) in enumerate(self._sections, start=1)]
        if len(named) > _FEW_SECTIONS:
            body.append(contents_markup(named))
        for (name, title), (_, parts) in zip(named, self._sections, strict=True):
            body.append(f'<section id="{name}">\n<h2>{heading(title)}</h2>\n{"".join(parts)}</section>\n')
        return page(self._title, self._command, "".join(body), figures=self._has_figures)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the whole file or nothing; missing folders are created."""
        data, path = self.html().encode(), Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():  # a device or pipe is written to, not replaced
            path.write_bytes(data)
            return
        temporary = path.with_name(f".{path.name[:40]}.{uuid4().hex}")
        try:
            temporary.write_bytes(data)
            temporary.replace(path)
        except BaseException:
            with suppress(OSError):  # the error at hand matters more
                temporary.unlink(missing_ok=True)
            raise

    def _add(self, part: str) -> None:
        (self._sections[-1][1] if self._sections else self._before).append(part)

    def _draw(self, figure: Figure) -> None:
        self._has_figures = True
        self._add(figure_markup(figure))
