"""Files by their ending, compressed or not, and JSON lines with the reasons why a line is rejected."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from thatch.errors import TableError
from thatch.formats.events import read_events
from thatch.formats.files import content_of, kind_of, open_text, read_lines
from thatch.formats.subscriptions import read_subscriptions


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("-", "jsonl"),
        ("a.jsonl", "jsonl"),
        ("a.ndjson", "jsonl"),
        ("a.json", "jsonl"),
        ("a.jsonl.gz", "jsonl"),
        ("folder.csv/a.JSONL", "jsonl"),
        ("a.csv", "csv"),
        ("a.parquet.csv", "csv"),
        ("a.CSV.GZ", "csv"),
        ("a.parquet", "parquet"),
        ("a.b.c.pq", "parquet"),
    ],
)
def test_the_ending_tells_the_kind(path, kind):
    assert kind_of(path) == kind


@pytest.mark.parametrize(
    "path",
    ["", "a", "a.txt", "a.gz", "a.txt.gz", "csv", ".csv", "a.csv.zip", "a.parquet.gz", "a.jsonl.gz.gz"],
)
def test_an_unknown_ending_is_refused_with_the_known_ones(path):
    for read in (kind_of, read_subscriptions, lambda name: list(read_events(name, print))):
        with pytest.raises(TableError, match=r"\.jsonl.*\.csv.*\.parquet"):
            read(path)


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet", "jsonl.gz", "csv.gz"])
def test_a_missing_file_is_refused_with_its_path(tmp_path, ending):
    path = str(tmp_path / f"missing.{ending}")
    for read in (read_subscriptions, lambda name: list(read_events(name, print))):
        with pytest.raises(TableError, match="No such file") as caught:
            read(path)
        assert caught.value.where == path


@pytest.mark.parametrize("ending", ["jsonl", "csv", "jsonl.gz"])
def test_a_folder_is_refused(tmp_path, ending):
    folder = tmp_path / f"folder.{ending}"
    folder.mkdir()
    with pytest.raises(TableError):
        read_subscriptions(str(folder))


@pytest.mark.parametrize("ending", ["jsonl.gz", "csv.gz"])
def test_a_packed_file_damaged_anywhere_is_refused_or_read(tmp_path, ending):
    path = tmp_path / f"file.{ending}"
    whole = gzip.compress(b'{"subscription": "a", "filter": "x = 1"}\n' * 50)
    broken = [whole[:length] for length in range(0, len(whole), 3)]
    broken += [
        whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :] for place in range(len(whole))
    ]
    refused = 0
    for content in broken:
        path.write_bytes(content)
        try:
            read_subscriptions(str(path))
        except TableError:
            refused += 1
    assert refused > len(broken) / 2


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    path = tmp_path / "file.jsonl"
    path.write_bytes(b"\xef\xbb\xbf{}\n")
    with open_text(str(path)) as stream:
        assert stream.read() == "{}\n"


def test_a_packed_file_is_read_as_what_it_was(tmp_path):
    (tmp_path / "file.csv.gz").write_bytes(gzip.compress(b"a\xff\r\n"))
    assert content_of(str(tmp_path / "file.csv.gz")) == b"a\xff\r\n"
    with open_text(str(tmp_path / "file.csv.gz")) as stream:
        assert stream.read() == "a\udcff\r\n"


def read(path):
    """What is read, and the reasons of the rejects by row."""
    rejects = {}
    return list(read_lines(path, rejects.__setitem__)), rejects


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz"])
def test_objects_come_with_their_rows_and_blank_lines_count(write_bytes, ending):
    path = write_bytes(b'{"a": 1}\n\n  \r\n{"a": [2, {"b": null}]}\r\n{"a":\r3}', ending)
    assert read(path) == ([(0, {"a": 1}), (3, {"a": [2, {"b": None}]}), (4, {"a": 3})], {})


def test_an_empty_file_holds_nothing(write_bytes):
    assert read(write_bytes(b"", "jsonl")) == ([], {})
    assert read(write_bytes(b"\n\n", "jsonl")) == ([], {})


BAD_LINES = {
    b"{": "Expected JSON, got",
    b"price = 5": "Expected JSON, got 'price = 5",
    b'{"a": 1} {"b": 2}': "Extra data",
    b"{'a': 1}": "Expected JSON",
    b"[1, 2]": "Expected a JSON object, got '[1, 2]",
    b'"text"': "Expected a JSON object",
    b"null": "Expected a JSON object",
    b"5": "Expected a JSON object",
    b'{"a": "\xff"}': "Expected UTF-8 text",
    b'{"a": "\xed\xa0\x80"}': "Expected UTF-8 text",
    b"\xff\xfe{\x00}\x00": "Expected UTF-8 text",
    b'{"a": 1, "a": 2}': "Duplicate name in an object: 'a'",
    b'{"o": {"a": 1, "b": 2, "a": 1}}': "Duplicate name in an object: 'a'",
    b'{"a": ' + b"9" * 5_000 + b"}": "Expected JSON",
    b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}": "Expected JSON",
    b"\0" * 1_000: "Expected JSON",
    b"x" * 12_000_000: "Expected JSON",
}


@pytest.mark.parametrize("line", BAD_LINES, ids=lambda line: ascii(line[:30]))
def test_a_bad_line_is_a_reject_and_the_rows_after_it_are_right(write_bytes, line):
    path = write_bytes(b'{"a": 1}\n' + line + b'\n{"a": 2}\n' + line + b'\n{"a": 3}', "jsonl")
    objects, rejects = read(path)
    assert objects == [(0, {"a": 1}), (2, {"a": 2}), (4, {"a": 3})]
    assert list(rejects) == [1, 3]
    for reason in rejects.values():
        assert BAD_LINES[line] in reason
        assert len(reason) < 300


def test_many_rejects_are_never_fatal(write_bytes):
    objects, rejects = read(write_bytes(b'{"a": 1\n{"a": 1}\n' * 20_000, "jsonl"))
    assert [row for row, _ in objects] == list(range(1, 40_000, 2))
    assert list(rejects) == list(range(0, 40_000, 2))


def test_a_cut_file_is_refused_after_the_objects_before_the_cut(write_bytes):
    path = write_bytes(b"".join(b'{"a": %d}\n' % number for number in range(50_000)), "jsonl.gz")
    packed = Path(path).read_bytes()
    Path(path).write_bytes(packed[: len(packed) // 2])
    objects = read_lines(path, pytest.fail)
    before = [next(objects) for _ in range(1_000)]
    assert before[-1] == (999, {"a": 999})
    with pytest.raises(TableError, match="ended before"):
        list(objects)
