"""CSV and Parquet: types of CSV columns, rows with the wrong number of fields, text that is not UTF-8."""

from __future__ import annotations

import io
import random
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from thatch.errors import TableError
from thatch.formats.columns import infer_types, read_csv, read_parquet
from thatch.formats.reading import Reading


def read(reader, path):
    """The table as columns, the row numbers, and the reasons of the rejects by row."""
    rejects = {}
    table, rows = reader(path, rejects.__setitem__)
    return table.to_pydict(), rows, rejects


def column_of(*fields: str | None) -> list[object]:
    table = pa.table({"x": pa.array(fields, pa.string())})
    typed = infer_types(table, list(range(len(fields))), path="x.csv", tell=lambda _: None)
    return typed.column("x").to_pylist()


def same(values: list[object]) -> list[object]:
    """Values with their types, since 1 = 1.0 = True."""
    return [(type(value), value) for value in values]


# --- types of columns ------------------------------------------------------------------------------------------

TYPES = {
    "whole numbers": (["5", "-7", "0", "-0"], [5, -7, 0, 0]),
    "the ends of 64 bits": (["9223372036854775807", "-9223372036854775808"], [2**63 - 1, -(2**63)]),
    "numbers": (["5", "0.5", "-1e3", ".5", "5."], [5.0, 0.5, -1000.0, 0.5, 5.0]),
    "infinities": (["1", "inf", "-Infinity"], [1.0, float("inf"), float("-inf")]),
    "booleans": (["true", "false", "True"], [True, False, True]),
    "empty fields are null": (["5", None, "7"], [5, None, 7]),
    "nothing but empty fields": ([None, None], [None, None]),
    "text": (["a", "5"], ["a", "5"]),
    "text and booleans": (["true", "5"], ["true", "5"]),
    "leading zeros": (["007", "1"], ["007", "1"]),
    "a leading zero and a sign": (["-01", "1"], ["-01", "1"]),
    "leading zeros before a point": (["00.5", "1"], ["00.5", "1"]),
    "zero before a point": (["0.5", "0"], [0.5, 0.0]),
    "hexadecimal": (["0x1F", "0"], ["0x1F", "0"]),
    "past 64 bits": (["9223372036854775808", "5"], ["9223372036854775808", "5"]),
    "long codes": (["12345678901234567890123", "1.5"], ["12345678901234567890123", "1.5"]),
    "dates": (["2026-01-31", "2026-02-01"], ["2026-01-31", "2026-02-01"]),
    "moments": (["2026-01-31T00:00:00Z"], ["2026-01-31T00:00:00Z"]),
    "blanks around": ([" 5", "5 "], [" 5", "5 "]),
    "thousands": (["1,000", "1_000"], ["1,000", "1_000"]),
    "yes and no": (["yes", "no", "t"], ["yes", "no", "t"]),
    "the word null": (["null", "NA"], ["null", "NA"]),
    "other digits": (["٥"], ["٥"]),
}


@pytest.mark.parametrize("name", TYPES)
def test_a_column_has_the_narrowest_type_that_holds_all_its_values(name):
    fields, values = TYPES[name]
    assert same(column_of(*fields)) == same(values)


def test_nan_is_a_number_in_a_column_of_numbers():
    first, second = column_of("nan", "1.5")
    assert first != first
    assert second == 1.5


# --- CSV -------------------------------------------------------------------------------------------------------

TABLES = {
    "plain": (b"a,b\n1,x\n2,y\n", {"a": ["1", "2"], "b": ["x", "y"]}),
    "no line break at the end": (b"a,b\n1,x", {"a": ["1"], "b": ["x"]}),
    "line breaks of two characters": (b"a,b\r\n1,x\r\n", {"a": ["1"], "b": ["x"]}),
    "a byte order mark": (b"\xef\xbb\xbfa,b\n1,x\n", {"a": ["1"], "b": ["x"]}),
    "empty fields": (b'a,b\n,x\n"",y\n', {"a": [None, None], "b": ["x", "y"]}),
    "quotes": (b'a,b\n"x, ""y""","z"\n', {"a": ['x, "y"'], "b": ["z"]}),
    "line breaks in a field": (b'a,b\n"x\n\ny",z\n', {"a": ["x\n\ny"], "b": ["z"]}),
    "names in quotes": (b'"a,\n1",b\n1,x\n', {"a,\n1": ["1"], "b": ["x"]}),
    "empty lines": (b"\n\na,b\n\n1,x\n\n\n2,y\n\n", {"a": ["1", "2"], "b": ["x", "y"]}),
    "only a header": (b"a,b\n", {"a": [], "b": []}),
    "only a header without a line break": (b"a,b", {"a": [], "b": []}),
    "one column": (b"a\n1\n2\n", {"a": ["1", "2"]}),
    "a column without a name": (b"a,\n1,2\n", {"a": ["1"], "": ["2"]}),
    "other alphabets": ("Ä,b\né,\U0001f600\n".encode(), {"Ä": ["é"], "b": ["\U0001f600"]}),
    "a field of 3 MB": (b"a,b\n" + b"x" * 3_000_000 + b",y\n", {"a": ["x" * 3_000_000], "b": ["y"]}),
}


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
@pytest.mark.parametrize("name", TABLES)
def test_a_csv_file_is_read_as_texts(write_bytes, name, ending):
    content, columns = TABLES[name]
    count = len(next(iter(columns.values())))
    assert read(read_csv, write_bytes(content, ending)) == (columns, list(range(count)), {})


REJECTED = {
    "too few fields": (b"1\n", "Expected 2 fields, got 1"),
    "too many fields": (b"1,x,2\n", "Expected 2 fields, got 3"),
    "one field of 2 MB": (b"x" * 2_000_000 + b"\n", "Expected 2 fields, got 1"),
    "not UTF-8": (b"1,\xff\n", "Expected UTF-8 text in column `b`"),
    "a lone surrogate": (b"\xed\xa0\x80,x\n", "Expected UTF-8 text in column `a`"),
    "not UTF-8 and too few fields": (b"\xff\n", "Expected 2 fields, got 1"),
    "not UTF-8 twice": (b"\xff,\xff\n", "Expected UTF-8 text in column"),
}


@pytest.mark.parametrize("name", REJECTED)
def test_a_bad_row_is_a_reject_and_the_rows_after_it_are_right(write_bytes, name):
    row, reason = REJECTED[name]
    content = b'a,b\n1,"x\ny"\n' + row + b"\n2,y\n" + row + row + b"3,z\n"
    columns, rows, rejects = read(read_csv, write_bytes(content, "csv"))
    assert columns == {"a": ["1", "2", "3"], "b": ["x\ny", "y", "z"]}
    assert rows == [0, 2, 5]
    assert sorted(rejects) == [1, 3, 4]
    assert all(reason in each for each in rejects.values())


def test_rejects_of_two_kinds_keep_the_rows_apart(write_bytes):
    content = b"a,b\n1\n\xff,x\n2,y\n1,2,3\n3,\xfe\n4,z\n"
    columns, rows, rejects = read(read_csv, write_bytes(content, "csv"))
    assert (columns["a"], rows, sorted(rejects)) == (["2", "4"], [2, 5], [0, 1, 3, 4])


def test_each_bad_row_is_told_once(write_bytes):
    told = []
    read_csv(write_bytes(b"a,b\n1\n2\n", "csv"), lambda *each: told.append(each))
    assert [row for row, _ in told] == [0, 1]


def test_many_rejects_are_never_fatal(write_bytes):
    columns, rows, rejects = read(read_csv, write_bytes(b"a,b\n" + b"1,x\n1\n2,y,z\n" * 50_000, "csv"))
    assert len(columns["a"]) == 50_000
    assert rows == list(range(0, 150_000, 3))
    assert len(rejects) == 100_000


def test_a_file_of_nothing_but_rejects_has_no_rows(write_bytes):
    columns, rows, rejects = read(read_csv, write_bytes(b"a,b\n1\n\xff,x\n", "csv"))
    assert (columns, rows, sorted(rejects)) == ({"a": [], "b": []}, [], [0, 1])


BAD_FILES = {
    "an empty file": (b"", "is empty"),
    "nothing but line breaks": (b"\n\r\n\n", "is empty"),
    "a column twice": (b"a,b,a\n1,2,3\n", "'a'"),
    "a name that is not UTF-8": (b"a,\xff\n1,2\n", "column"),
    "a name of 1 MB": (b"x" * 1_000_000 + b",b\n1,2\n", "field"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_csv_file_without_a_proper_header_is_refused(write_bytes, name):
    content, reason = BAD_FILES[name]
    path = write_bytes(content, "csv")
    with pytest.raises(TableError, match=reason) as caught:
        read_csv(path, pytest.fail)
    assert caught.value.where == path


# --- Parquet ---------------------------------------------------------------------------------------------------


def text_of(*values: bytes) -> pa.Array:
    """A column of texts that nobody checked."""
    plain = pa.array(values, pa.binary())
    return pa.Array.from_buffers(pa.string(), len(values), plain.buffers())


def parquet_bytes(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


def test_a_parquet_file_is_read_with_its_types(write_bytes):
    table = pa.table({"a": [1, None], "b": ["x", "é"], "c": [[1.5], []], "d": [{"e": "y"}, None]})
    path = write_bytes(parquet_bytes(table), "parquet")
    assert read(read_parquet, path) == (table.to_pydict(), [0, 1], {})


def test_parquet_rows_that_are_not_utf8_are_rejects(write_bytes):
    table = pa.table({"a": [1, 2, 3, 4], "b": text_of(b"x", b"\xff", b"y", b"\xfe")})
    columns, rows, rejects = read(read_parquet, write_bytes(parquet_bytes(table), "parquet"))
    assert (columns, rows) == ({"a": [1, 3], "b": ["x", "y"]}, [0, 2])
    assert rejects == dict.fromkeys((1, 3), "Expected UTF-8 text in column `b`")


def test_parquet_text_inside_of_lists_that_is_not_utf8_is_refused(write_bytes):
    table = pa.table({"a": pa.ListArray.from_arrays([0, 2], text_of(b"x", b"\xff"))})
    with pytest.raises(TableError, match="UTF8"):
        read_parquet(write_bytes(parquet_bytes(table), "parquet"), pytest.fail)


def test_a_parquet_file_cut_short_anywhere_is_refused(write_bytes):
    whole = parquet_bytes(pa.table({"a": list(range(100)), "b": ["x"] * 100}))
    path = write_bytes(whole, "parquet")
    for length in range(0, len(whole), 41):
        Path(path).write_bytes(whole[:length])
        with pytest.raises(TableError, match="Not a Parquet file") as caught:
            read_parquet(path, pytest.fail)
        assert caught.value.where == path


def test_other_content_and_columns_given_twice_are_refused(write_bytes):
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    for content in (b"a,b\n1,2\n", b"PAR1" * 10, parquet_bytes(twice)):
        with pytest.raises(TableError, match="Parquet"):
            read_parquet(write_bytes(content, "parquet"), pytest.fail)


def test_a_parquet_file_that_unpacks_to_more_than_the_limit_is_refused(write_bytes):
    table = pa.table({"same": pa.repeat(pa.scalar(1, pa.int64()), 1_000_000), "other": pa.nulls(1_000_000)})
    path = write_bytes(parquet_bytes(table), "parquet")
    assert read_parquet(path, pytest.fail, Reading(max_unpacked=16_000_000))[0].num_rows == 1_000_000
    limit = Reading(max_unpacked=8_000_000)
    assert read_parquet(path, pytest.fail, limit, ["same"])[0].num_rows == 1_000_000
    with pytest.raises(TableError, match=r"at most 8,000,000 bytes when unpacked .*, got 16,000,000"):
        read_parquet(path, pytest.fail, limit)


def test_a_parquet_file_with_a_lying_footer_is_refused_or_read(write_bytes):
    table = pa.table({"a": list(range(50)), "b": ["x"] * 50, "c": [[1.5]] * 50})
    content = parquet_bytes(table)
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    rng = random.Random(7)
    for _ in range(300):
        damaged = bytearray(content)
        damaged[rng.randrange(start, len(content) - 8)] = rng.randrange(256)
        with suppress(TableError):
            read_parquet(write_bytes(bytes(damaged), "parquet"), lambda *_: None)
