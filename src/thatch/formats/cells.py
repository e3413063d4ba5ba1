"""What the cells of CSV columns are: their type, missing values, cells that do not fit.

A declared type decides for each cell. A column that is not declared has the first of these types that holds all its values:
whole numbers, numbers, booleans, text. An empty cell is missing. So is one of the words of `MISSING` in a column whose
other cells are numbers or booleans; in a column of text it stays text. Words that are given (`Reading.missing`) are missing
in every column. Values that look like codes stay text: numbers with leading zeros (`01234`), hexadecimal ones (`0x1F`), and
whole ones of more than 64 bits, which a double would round. So do dates.

Parts of a column are surveyed each on its own, here one, on Spark many, and the counts added; then all is decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from thatch.errors import TableError, shown
from thatch.formats.reading import MISSING, PAGE, Reading
from thatch.model.names import key_of
from thatch.model.types import Enum, Line, Text

__all__ = [
    "KINDS",
    "ColumnCounts",
    "add_counts",
    "column_remarks",
    "kind_of_column",
    "survey_column",
    "typed_column",
    "without_words",
]

KINDS = {"long": pa.int64(), "double": pa.float64(), "boolean": pa.bool_(), "string": pa.string()}
_CODE = r"^[+-]?0[0-9xX]"
_MANY_DIGITS = r"^[+-]?[0-9]{19,}$"
_WIDE = r"^[+-]?[0-9]{16,}$"
_NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$|(?i:^[+-]?(?:inf|infinity|nan)$)"
_BOOLEAN = r"(?i:^(?:true|false|0|1)$)"


@dataclass(frozen=True, slots=True)
class ColumnCounts:
    """What the cells of a column, or of a part of one, are.

    Parameters
    ----------
    kinds : those of `KINDS` but text that hold all cells
    values : how many cells are not missing
    words : how many cells are words of `MISSING`
    odd : how many cells are outside the declared type, or, where none is declared, are no numbers
    first : the row and text of the first of them
    is_code : whether some cells look like numbers but are codes, or have so many digits that a double would round them
    """

    kinds: tuple[str, ...]
    values: int = 0
    words: int = 0
    odd: int = 0
    first: tuple[int, str] | None = None
    is_code: bool = False


def add_counts(parts: Iterable[ColumnCounts]) -> ColumnCounts:
    """The counts of a column whose parts come in order."""
    return reduce(_sum, parts, ColumnCounts(("long", "double", "boolean")))


def _sum(one: ColumnCounts, other: ColumnCounts) -> ColumnCounts:
    return ColumnCounts(
        tuple(kind for kind in one.kinds if kind in other.kinds),
        one.values + other.values,
        one.words + other.words,
        one.odd + other.odd,
        one.first or other.first,
        one.is_code or other.is_code,
    )


def survey_column(name: str, column: pa.ChunkedArray, rows: list[int], reading: Reading) -> ColumnCounts:
    """Count what the cells of a column of texts, or of a part of one, are; `rows` numbers them."""
    line = _declared(name, reading)
    cells = _filled(column, reading)
    words, values = cells.null_count - column.null_count, len(cells) - cells.null_count
    if line is not None:
        kinds, misfits = _fit(name, cells, line)
        return ColumnCounts(kinds, values, words, *_first_of(misfits, column, rows), _some(cells, _WIDE))
    kinds = tuple(_allowed(cells))
    if "double" in kinds or not values:
        return ColumnCounts(kinds, values, words)
    is_code = _some(cells, _CODE) or _some(cells, _MANY_DIGITS)
    odd = pc.invert(pc.match_substring_regex(cells, _NUMBER))
    return ColumnCounts(kinds, values, words, *_first_of(odd, column, rows), is_code)


def kind_of_column(name: str, counts: ColumnCounts, reading: Reading) -> str:
    """The type of a column, one of `KINDS`."""
    is_declared = _declared(name, reading) is not None
    if not is_declared and counts.words and not counts.values:
        return "string"  # nothing says that it is a column of numbers
    if is_declared and counts.odd and not counts.is_code and "double" in counts.kinds:
        return "double"  # NaN then stands for cells that do not fit
    return next(iter(counts.kinds), "string")


def typed_column(name: str, column: pa.ChunkedArray, kind: str, reading: Reading) -> pa.ChunkedArray:
    """A column of texts in its type.

    A cell outside a declared type of numbers becomes NaN, which no such type has, so that it is missing even where null is
    a value; and null in a column of whole numbers that doubles would round.
    """
    line = _declared(name, reading)
    if kind == "string":
        is_plain = line is None or isinstance(line, Text)
        return column if is_plain else _filled(column, reading)
    cells = _filled(column, reading)
    if line is None:
        return pc.cast(cells, KINDS[kind])
    fits = pc.match_substring_regex(cells, _BOOLEAN if kind == "boolean" else _NUMBER)
    good = pc.cast(pc.if_else(fits, cells, pa.scalar(None, pa.string())), KINDS[kind])
    return pc.if_else(pc.invert(fits), pa.scalar(float("nan")), good) if kind == "double" else good


def column_remarks(counts: dict[str, ColumnCounts], reading: Reading, path: str) -> list[str]:
    """What people should know about the columns of a CSV file, by name: cells that are not read as they may expect."""
    remarks = []
    for name, each in counts.items():
        if each.first is None:
            continue
        line, kind = _declared(name, reading), kind_of_column(name, each, reading)
        row, text = each.first
        first = f"the first is {shown(text)} in row {row}"
        if line is not None:
            remarks.append(
                f"{path}, column `{name}`: {each.odd:,} of {each.values:,} cells are no {line!r} and count as missing; {first}"
            )
        elif kind == "string" and not each.is_code and 2 * each.odd <= each.values:
            declared = '{"' + name + '": {"type": "Number"}}'
            remarks.append(
                f"{path}, column `{name}` is read as text, so that no comparison with a number matches: {each.odd:,} of "
                f"{each.values:,} cells are no numbers; {first}. If it is missing, give --missing {shown(text)}; else "
                f"declare the column with --schema, as in {declared} ({PAGE})"
            )
    return remarks


# --- one column ------------------------------------------------------------------------------------------------------


def _declared(name: str, reading: Reading) -> Line | None:
    return None if reading.schema is None else reading.schema.line(key_of(name))


def _filled(column: pa.ChunkedArray, reading: Reading) -> pa.ChunkedArray:
    """A column with null for missing cells; words that were given are null already."""
    return without_words(column) if reading.missing is None else column


def without_words(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of texts with null for the words of `MISSING`."""
    is_word = pc.is_in(column, pa.array(MISSING))
    return pc.if_else(is_word, pa.scalar(None, pa.string()), column) if pc.any(is_word).as_py() else column


def _allowed(cells: pa.ChunkedArray) -> Iterator[str]:
    """The types that hold all cells, the narrowest first."""
    if _some(cells, _CODE):
        return
    if _is(cells, "long"):
        yield "long"
    if _some(cells, _MANY_DIGITS):
        return
    for kind in ("double", "boolean"):
        if _is(cells, kind):
            yield kind


def _is(cells: pa.ChunkedArray, kind: str) -> bool:
    try:
        pc.cast(cells, KINDS[kind])
    except pa.ArrowInvalid:
        return False
    return True


def _some(cells: pa.ChunkedArray, expression: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(cells, expression)).as_py())


def _first_of(
    is_odd: pa.ChunkedArray, column: pa.ChunkedArray, rows: list[int]
) -> tuple[int, tuple[int, str] | None]:
    """How many cells are odd, and the row and text of the first."""
    count = pc.sum(is_odd).as_py() or 0
    if not count:
        return 0, None
    at = pc.index(is_odd, pa.scalar(value=True)).as_py()
    return count, (rows[at], column[at].as_py())


# --- a declared column -----------------------------------------------------------------------------------------------


def _fit(name: str, cells: pa.ChunkedArray, line: Line) -> tuple[tuple[str, ...], pa.ChunkedArray]:
    """The types that hold all cells that fit a declared type, and which cells do not fit."""
    base = _base(name, line)
    if base == "string":
        return (), _outside(cells, line)
    expression = _BOOLEAN if base == "boolean" else _NUMBER
    fits = pc.match_substring_regex(cells, expression)
    good = pc.if_else(fits, cells, pa.scalar(None, pa.string()))
    kinds = ("long", "double") if base == "double" and _is(good, "long") else (base,)
    return kinds, pc.or_kleene(pc.invert(fits), _outside(pc.cast(good, KINDS[kinds[0]]), line))


def _base(name: str, line: Line) -> str:
    """The type of the values of a declared type, which must have one."""
    if isinstance(line, Text):
        return "string"
    if not isinstance(line, Enum):
        return "double"
    kinds = {
        "string" if isinstance(each, str) else "boolean" if isinstance(each, bool) else "double"
        for each in line.values
    }
    if len(kinds) > 1:
        expected = "an Enum of texts, of numbers or of booleans for a column of a CSV file"
        raise TableError(expected, repr(line), f"column `{name}`")
    return kinds.pop()


def _outside(values: pa.ChunkedArray, line: Line) -> pa.ChunkedArray:
    """Which values a declared type does not have; null where there is none."""
    if isinstance(line, Text):
        return pc.if_else(pc.is_valid(values), pa.scalar(value=False), pa.scalar(None, pa.bool_()))
    each = pc.unique(values)
    held: list[Any] = [value for value in each.to_pylist() if value is not None and not line.holds(value)]
    is_outside = pc.is_in(values, pa.array(held, values.type))
    return pc.if_else(pc.is_valid(values), is_outside, pa.scalar(None, pa.bool_()))
