"""Cells, encodings and limits of files on Spark are those of the embedded readers."""

from __future__ import annotations

import gzip
import json

import pytest

from tests.pipeline.read_files import embedded, events_of, rejects_of, typed, written
from thatch import Enum, Integer, Number, Schema
from thatch.errors import TableError
from thatch.formats.reading import Reading
from thatch.pipeline.adapter import translate_spark_errors
from thatch.pipeline.sources import read_events

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]

N_A = b"a,b,c\n" + b"1,x,NA\n" * 20 + b"n/a,-,\n2.5,true,many\n" + b"3,x,-\n" * 20
READINGS = {
    "words for missing values": (N_A, {}, 0),
    "words that are given": (N_A, {"missing": ("x", "NA")}, 1),
    "declared types": (N_A, {"schema": Schema({"a": Integer(), "b": Enum("x", "y"), "c": Number()})}, 3),
    "nearly numbers": (b"a\n" + b"1\n" * 30 + b"many\n" + b"2\n" * 30 + b"few\n", {}, 1),
    "nearly numbers, then codes": (b"a\n" + b"1\n" * 30 + b"many\n" + b"2\n" * 30 + b"007\n", {}, 0),
    "words alone": (b"a,b\n" + b"NA,-\n" * 30 + b"NA,true\n", {}, 0),
    "wide numbers and a misfit": (
        b"a\n" + b"9007199254740993\n" * 20 + b"many\n",
        {"schema": Schema({"a": Number()})},
        1,
    ),
}


@pytest.mark.parametrize("name", READINGS)
def test_cells_are_read_and_told_as_the_embedded_reader_does(small_splits, tmp_path, name):
    content, reading, count = READINGS[name]
    path, remarks = written(tmp_path / "events.csv", content), []
    source = read_events(small_splits, path, reading=Reading(**reading))
    events, _ = embedded(path, remarks, **reading)
    assert str(typed(events_of(source))) == str(typed(events))  # as text, since NaN is not NaN
    assert list(source.remarks) == remarks
    assert len(remarks) == count


@pytest.mark.parametrize("ending", ["jsonl", "csv", "csv.gz"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "cp1252"])
def test_other_encodings_are_read_as_the_embedded_reader_reads_them(spark, tmp_path, ending, encoding):
    text = '{"a":"é"}\n' * 3 + '{"a":\n' if ending == "jsonl" else 'é,b\n1,"ü\nü"\n' * 3 + "1\n"
    for file in ("1", "2"):
        path = written(tmp_path / "x" / f"%41 {file}.{ending}", text.encode(encoding))
    reading = Reading(encoding="cp1252")
    source = read_events(spark, path, reading=reading)
    events, rejects = embedded(path, encoding="cp1252")
    if source.json is None:
        assert typed(events_of(source)) == typed(events)
        assert rejects_of(source) == rejects
    else:
        assert [json.loads(line) for _, line in events_of(source)[:3]] == [event for _, event in events]
    both = read_events(spark, str(tmp_path / "x"), reading=reading)
    assert [row for row, _ in events_of(both)] == sorted(
        row + shift * (len(events) + len(rejects)) for row, _ in events_of(source) for shift in (0, 1)
    )


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "csv"])
def test_a_line_over_the_limit_ends_in_the_sentence_of_the_embedded_reader(small_splits, tmp_path, ending):
    path = written(
        tmp_path / "x" / f"a.{ending}", b"\xef\xbb\xbf{}\n\n" * 100 + b"x" * 5_000 + b"\n{}\r\n" * 100
    )
    for content in (b"x" * 5_000, b"{}", b"x\n", b""):
        written(tmp_path / "x" / f"{len(content)}.{ending}", content)
    folder = str(tmp_path / "x")
    reads = [
        lambda limit: read_events(small_splits, folder, reading=Reading(max_line=limit)),
        lambda limit: read_events(
            small_splits, path, with_numbers=False, reading=Reading(max_line=limit)
        ).table.count(),
        lambda limit: embedded(path, max_line=limit),
    ]
    for read in reads:
        with (
            pytest.raises(TableError, match=r"^Expected lines of at most 4,999 bytes .*--max-line") as caught,
            translate_spark_errors(),
        ):
            read(4_999)
        assert str(tmp_path) in str(caught.value)
        if ending != "csv":
            read(5_000)


def test_a_bomb_ends_in_a_sentence_on_spark_too(spark, tmp_path):
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"a" * (1 << 20)) * 64)
    with pytest.raises(TableError, match=r"^Expected lines of at most 16,777,216 bytes"):
        read_events(spark, str(path))
    path.write_bytes(gzip.compress(b"a\n" * (1 << 20)))
    with pytest.raises(TableError, match=r"^Expected at most 65,536 bytes when unpacked"):
        read_events(spark, str(path), reading=Reading(max_unpacked=1 << 16))
