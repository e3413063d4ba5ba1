"""Which files are read as what, and what is told of files that cannot be read."""

from __future__ import annotations

import gzip

import pytest

from thatch.errors import TableError
from thatch.formats.events import read_events
from thatch.formats.files import content_of, kind_of, opened
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
    with opened(str(path)) as stream:
        assert stream.read() == "{}\n"


def test_a_packed_file_is_read_as_what_it_was(tmp_path):
    (tmp_path / "file.csv.gz").write_bytes(gzip.compress(b"a\xff\r\n"))
    assert content_of(str(tmp_path / "file.csv.gz")) == b"a\xff\r\n"
    with opened(str(tmp_path / "file.csv.gz")) as stream:
        assert stream.read() == "a\udcff\r\n"
