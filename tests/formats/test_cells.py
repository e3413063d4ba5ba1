"""Cells of CSV columns: missing values, declared types, columns that are nearly numbers."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from thatch import Decimal, Engine, Enum, Integer, Number, Schema, Text
from thatch.errors import TableError
from thatch.formats.events import read_events
from thatch.formats.reading import Reading


@pytest.fixture
def read(tmp_path: Path):
    """The values of the column `x` of a CSV file, and the remarks about it."""

    def read(cells: list[str], nulls: str = "missing", **reading) -> tuple[list[object], list[str]]:
        path, remarks = tmp_path / "x.csv", []
        path.write_text("x,y\n" + "".join(f"{cell},1\n" for cell in cells))
        events = read_events(
            str(path), pytest.fail, nulls=nulls, reading=Reading(**reading), tell=remarks.append
        )
        return [event.get("x", "missing") for _, event in events], remarks

    return read


@pytest.mark.parametrize("word", ["n/a", "NA", "null", "-", ""])
def test_words_for_missing_values_do_not_turn_a_column_of_numbers_into_text(read, word):
    assert read(["3", word, "7"]) == ([3, "missing", 7], [])
    assert read(["true", word]) == ([True, "missing"], [])


def test_words_for_missing_values_are_text_in_a_column_of_text(read):
    assert read(["NA", "DE"]) == (["NA", "DE"], [])
    assert read(["NA"]) == (["NA"], [])


def test_words_that_are_given_are_missing_in_every_column_and_are_the_only_ones(read):
    assert read(["unknown", "DE"], missing=("unknown",)) == (["missing", "DE"], [])
    values, remarks = read(["n/a", "3"], missing=("unknown",))
    assert values == ["n/a", "3"]
    assert len(remarks) == 1


def test_a_column_that_is_nearly_numbers_is_told_with_the_cell_the_row_and_what_to_do(read):
    values, remarks = read(["3", "4.5", "many", "7"])
    assert values == ["3", "4.5", "many", "7"]
    (remark,) = remarks
    for part in (
        "x.csv",
        "column `x`",
        "1 of 4",
        "'many' in row 2",
        "--missing",
        '{"x": {"type": "Number"}}',
    ):
        assert part in remark


@pytest.mark.parametrize(
    "cells",
    [["01234", "5"], ["0x1F", "5"], ["12345678901234567890", "5"], ["a", "b", "5"], ["IBM", "MSFT"]],
)
def test_codes_and_texts_are_not_told(read, cells):
    assert read(cells) == (cells, [])


DECLARED = {
    "a number": (Number(), ["3", "4.5", "many", "n/a"], [3, 4.5, "misfit", "missing"], 1),
    "all whole": (Number(), ["3", "4"], [3, 4], 0),
    "whole numbers": (Integer(0, 10), ["3", "4.5", "11"], [3, "misfit", "misfit"], 2),
    "decimals": (Decimal(1), ["3.5", "3.55"], [3.5, "misfit"], 1),
    "codes as numbers": (Number(), ["007", "5"], [7, 5], 0),
    "no hexadecimal": (Number(), ["0x1F", "5"], ["misfit", 5], 1),
    "past 53 bits": (Number(), ["9007199254740993", "x"], [9007199254740993, "missing"], 1),
    "text": (Text(), ["3", "n/a"], ["3", "n/a"], 0),
    "one of some texts": (Enum("buy", "sell"), ["buy", "n/a", "hold"], ["buy", "missing", "misfit"], 1),
    "one of some numbers": (Enum(1, 2), ["1", "3", "x"], [1, "misfit", "misfit"], 2),
    "booleans": (Enum(True, False), ["true", "maybe"], [True, "missing"], 1),
}


@pytest.mark.parametrize("name", DECLARED)
def test_a_declared_type_decides_for_each_cell_and_tells_those_that_do_not_fit(read, name):
    line, cells, expected, odd = DECLARED[name]
    schema = Schema({"x": line})
    values, remarks = read(cells, schema=schema)

    def seen(value: object) -> object:
        return value if value == "missing" or line.holds(value) else "misfit"

    assert [seen(value) for value in values] == expected
    assert len(remarks) == min(odd, 1)
    assert all(f"{odd} of " in each and "count as missing" in each for each in remarks)


def test_a_cell_that_does_not_fit_is_missing_where_null_is_a_value(read):
    schema = Schema({"x": Number()})
    engine = Engine(schema)
    engine.subscribe("missing", "x is missing")
    engine.subscribe("null", "x is null")
    values, _ = read(["3", "many", ""], nulls="null", schema=schema)
    assert math.isnan(values[1])
    assert [engine.match({"x": value}) for value in values] == [[], ["missing"], ["null"]]


def test_a_column_cannot_be_declared_as_values_of_two_kinds(read):
    with pytest.raises(TableError, match=r"Enum of texts, of numbers or of booleans.*column `x`"):
        read(["1"], schema=Schema({"x": Enum(1, "a")}))


def test_without_a_listener_a_remark_is_a_warning(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("x\n1\n2\nmany\n")
    with pytest.warns(UserWarning, match="column `x` is read as text"):
        list(read_events(str(path), pytest.fail))
