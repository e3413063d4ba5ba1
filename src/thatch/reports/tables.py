"""Tables of a report: rows in, a sortable HTML table out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from thatch.reports.formatting import MISSING, Format, check_formats, format_value, number, simple
from thatch.reports.texts import attribute, heading, markup, shorten

__all__ = ["ArrowTable", "TableRows", "cut_sentence", "read_rows", "table_markup"]

_NARROW = 5  # columns that fit any page
_LONGEST_HEADING = 60  # characters
_SUMMARY = 120  # characters of a long text that are always visible
_LONG_WORD = re.compile(r"\S{25}")  # may be broken anywhere
_LONGEST = 4_000  # characters of one text that a page contains


@runtime_checkable
class ArrowTable(Protocol):
    """The parts of a pyarrow Table or RecordBatch that a report needs."""

    @property
    def column_names(self) -> list[str]: ...

    @property
    def num_rows(self) -> int: ...

    def column(self, i: int) -> Sequence[object]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRows:
    """The rows of a table that are shown, and the number of all."""

    names: list[str]
    rows: list[list[object]]
    total: int


def read_rows(table: ArrowTable | Sequence[Mapping[str, object]], most: int, total: int | None) -> TableRows:
    """The first `most` rows; `total` is the number of all if the table itself has only some."""
    if isinstance(table, ArrowTable):
        names, count = [str(name) for name in table.column_names], table.num_rows
        columns = [_values(table.column(place), min(most, count)) for place in range(len(names))]
        rows = [list(row) for row in zip(*columns, strict=True)]
    else:
        names, count = list(dict.fromkeys(str(name) for row in table for name in row)), len(table)
        named = ({str(name): value for name, value in row.items()} for row in table[:most])
        rows = [[simple(row.get(name)) for name in names] for row in named]
    return TableRows(names=names, rows=rows, total=count if total is None else max(total, count))


def table_markup(
    shown_rows: TableRows,
    *,
    caption: str,
    formats: Mapping[str, Format],
    row_word: str = "rows",
    sortable: bool = True,
) -> str:
    """The table in a frame that scrolls; of a wide one, columns that say the same in every row are a line above it."""
    check_formats(formats)
    shown_rows, same = _fold(shown_rows, formats)
    forms = [formats.get(name) for name in shown_rows.names]
    right = [_is_numeric(shown_rows, place) for place in range(len(forms))]
    head = "".join(
        f'<th scope="col"{_align(each)}>{_heading(name, sortable=sortable)}</th>'
        for name, each in zip(shown_rows.names, right, strict=True)
    )
    body = "".join(f"<tr>{''.join(map(_cell, row, forms, right))}</tr>\n" for row in shown_rows.rows)
    title = f"<caption>{heading(caption)}</caption>" if caption else ""
    label = attribute(shorten(caption, 200) or "Table")
    left_out = cut_sentence(len(shown_rows.rows), shown_rows.total, row_word)
    return (
        f'{same}<div class="table" tabindex="0" role="region" aria-label="{label}">'
        f"<table>{title}<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n{left_out}"
    )


def _fold(table: TableRows, formats: Mapping[str, Format]) -> tuple[TableRows, str]:
    """A table without its constant columns, if it is wide, and a line with what they say; the first column stays."""
    if len(table.names) <= _NARROW or len(table.rows) < 2:
        return table, ""
    columns = [
        [format_value(each, formats.get(name)) for each in column]
        for name, column in zip(table.names, zip(*table.rows, strict=True), strict=True)
    ]
    constant = [
        place > 0 and len(column[0]) <= _SUMMARY and len(set(column)) == 1
        for place, column in enumerate(columns)
    ]
    if not any(constant):
        return table, ""
    said = "; ".join(
        f"{markup(shorten(name, _SUMMARY))}: {markup(shorten(column[0], _SUMMARY)) or MISSING}"
        for name, column, is_constant in zip(table.names, columns, constant, strict=True)
        if is_constant
    )
    kept = [place for place, is_constant in enumerate(constant) if not is_constant]
    rows = [[row[place] for place in kept] for row in table.rows]
    names = [table.names[place] for place in kept]
    return replace(table, names=names, rows=rows), f'<p class="same">In every row shown, {said}.</p>\n'


def cut_sentence(count: int, total: int, what: str) -> str:
    """A sentence that says how many are left out; empty if none."""
    if not total:
        return f'<p class="cut">No {what}.</p>\n'
    if count >= total:
        return ""
    return f'<p class="cut">{count:,} of {total:,} {what} shown; {total - count:,} left out.</p>\n'


def _values(column: Sequence[object], count: int) -> list[object]:
    """The first values of an Arrow column; a value that Python cannot represent becomes text."""
    values: list[object] = []
    for scalar in column[:count]:
        try:
            values.append(simple(scalar))
        except (ValueError, OverflowError):  # nanoseconds, years beyond 9999, broken text
            values.append(_text_of(scalar))
    return values


def _text_of(scalar: object) -> str:
    """The text of an Arrow scalar that Python cannot represent."""
    if (as_buffer := getattr(scalar, "as_buffer", None)) is not None:
        return bytes(as_buffer()).decode("utf-8", "backslashreplace")
    return f"{getattr(scalar, 'value', '?')} {getattr(scalar, 'type', '')}"


def _is_numeric(rows: TableRows, place: int) -> bool:
    values = [row[place] for row in rows.rows if row[place] is not None]
    return bool(values) and all(number(value) is not None or value != value for value in values)


def _align(right: bool) -> str:  # noqa: FBT001 - the only option
    return ' class="n"' if right else ""


def _heading(name: str, *, sortable: bool) -> str:
    text = markup(shorten(name, _LONGEST_HEADING))
    return f'<button type="button">{text}</button>' if sortable else text


def _cell(value: object, form: Format | None, right: bool) -> str:  # noqa: FBT001 - mapped over columns
    text, place = format_value(value, form), number(value)
    # The page sorts by this attribute, because displayed numbers are rounded.
    sort_by = "" if place is None else f' data-v="{repr(place).replace("inf", "Infinity")}"'
    if value is None or text == "NaN":
        sort_by = ' data-v=""'
        text = MISSING if value is None else text
    look = _align(right) or (' class="w"' if _LONG_WORD.search(text) else "")
    return f"<td{look}{sort_by}>{_content(text)}</td>"


def _content(text: str) -> str:
    if len(text) <= _SUMMARY:
        return markup(text)
    rest = f" … ({len(text):,} characters)" if len(text) > _LONGEST else ""
    whole = markup(text[:_LONGEST]) + rest
    return f"<details><summary>{markup(shorten(text, _SUMMARY))}</summary>{whole}</details>"
