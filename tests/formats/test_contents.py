"""The bytes of files: encodings and byte order marks, limits of lines and of what packed files unpack to."""

from __future__ import annotations

import codecs
import gzip
import tracemalloc
from pathlib import Path

import pytest

from thatch.errors import ParameterError, TableError
from thatch.formats.events import read_events
from thatch.formats.files import content_of
from thatch.formats.reading import Reading, RejectLimit, bytes_of_size
from thatch.formats.subscriptions import read_subscriptions

LINES = '{"a": "é\U0001f600"}\n{"a": "x"}\n'
MARKED = {
    "utf-8-sig": LINES.encode("utf-8-sig"),
    "utf-16-le": codecs.BOM_UTF16_LE + LINES.encode("utf-16-le"),
    "utf-16-be": codecs.BOM_UTF16_BE + LINES.encode("utf-16-be"),
}


def events(path: str, **reading) -> tuple[list[tuple[int, dict]], list[int]]:
    rejects: list[int] = []
    read = read_events(path, lambda row, _: rejects.append(row), reading=Reading(**reading))
    return list(read), rejects


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz"])
@pytest.mark.parametrize("name", MARKED)
def test_a_byte_order_mark_tells_the_encoding(write_bytes, name, ending):
    path = write_bytes(MARKED[name], ending)
    assert events(path) == ([(0, {"a": "é\U0001f600"}), (1, {"a": "x"})], [])
    assert events(path, encoding="latin-1") == events(path)


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be", "latin-1", "cp1252", "utf-32"])
def test_an_encoding_is_given(write_bytes, name):
    path = write_bytes('x,y\né,"a\nb"\n'.encode(name), "csv")
    assert events(path, encoding=name) == ([(0, {"x": "é", "y": "a\nb"})], [])


def test_subscriptions_have_encodings_too(write_bytes):
    for ending, text in (
        ("csv", "subscription,filter\né,x = 'ü'\n"),
        ("jsonl", '{"subscription": "é", "filter": "x = \'ü\'"}\n'),
    ):
        found = read_subscriptions(write_bytes(text.encode("utf-16"), ending))
        assert found.table.select(["subscription", "filter"]).to_pylist() == [
            {"subscription": "é", "filter": "x = 'ü'"}
        ]


@pytest.mark.parametrize("half", [b"\x00\xd8", b"\x00\xdc"])
def test_what_an_encoding_cannot_decode_rejects_its_row_only(write_bytes, half):
    content = codecs.BOM_UTF16_LE + "{}\n".encode("utf-16-le") + half + "\n{}\n".encode("utf-16-le")
    assert events(write_bytes(content, "jsonl")) == ([(0, {}), (2, {})], [1])


@pytest.mark.parametrize("name", ["klingon", "base64", "rot13", "utf-8\x00", ""])
def test_what_is_no_encoding_of_text_is_refused(name):
    with pytest.raises(ParameterError, match="an encoding of text such as utf-8"):
        Reading(encoding=name)


# --- limits ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["jsonl", "csv", "jsonl.gz"])
@pytest.mark.parametrize("limit", [50, 200_000, 700_000])
def test_a_line_over_the_limit_is_refused_and_one_at_the_limit_is_not(write_bytes, ending, limit):
    reading = Reading(max_line=limit)
    longest = b'{"a":"' + b"x" * (limit - 8) + b'"}'
    assert content_of(write_bytes(b"{}\n" + longest + b"\n{}", ending), reading)
    path = write_bytes(b"{}\n{}\n " + longest + b"\n{}", ending)
    with pytest.raises(TableError, match=r"lines of at most .*--max-line") as caught:
        content_of(path, reading)
    assert caught.value.where.startswith(path)


@pytest.mark.parametrize("ending", ["jsonl.gz", "csv.gz"])
def test_a_packed_file_that_unpacks_to_more_than_the_limit_is_refused(write_bytes, ending):
    path = write_bytes(b"{}\n" * 100_000, ending)
    assert len(content_of(path, Reading(max_unpacked=300_000))) == 300_000
    with pytest.raises(TableError, match=r"at most 299,999 bytes when unpacked .*--max-unpacked"):
        content_of(path, Reading(max_unpacked=299_999))


def test_by_default_a_file_may_unpack_to_a_hundred_times_its_size():
    assert Reading().most_unpacked(1) == 1 << 30
    assert Reading().most_unpacked(1 << 30) == 100 << 30


@pytest.mark.parametrize("ending", ["jsonl.gz", "csv.gz"])
def test_a_bomb_of_one_line_ends_in_a_sentence_within_bounded_memory(tmp_path: Path, ending):
    path = tmp_path / f"bomb.{ending}"
    path.write_bytes(gzip.compress(b"a" * (1 << 20)) * 2_000)
    tracemalloc.start()
    try:
        with pytest.raises(TableError, match=r"^Expected lines of at most 16,777,216 bytes"):
            events(str(path))
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("text", "size"), [("100000", 100_000), ("64K", 65_536), ("16MiB", 16 << 20), ("2gb", 2 << 30)]
)
def test_sizes_have_units(text, size):
    assert bytes_of_size(text, "--max-line") == size


@pytest.mark.parametrize("text", ["", "0", "-1", "K", "1.5M", "5X", "9" * 50])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ParameterError, match=r"64K, 16M or 2G.*--max-line"):
        bytes_of_size(text, "--max-line")


# --- rejects ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "strict", "rejected", "is_fine"),
    [
        (None, False, 99, True),
        (None, False, 100, False),
        (None, True, 1, False),
        (None, True, 0, True),
        ("100%", False, 100, True),
        ("5%", False, 5, True),
        ("5%", False, 6, False),
        ("0", False, 1, False),
        ("7", False, 7, True),
        ("7", False, 8, False),
    ],
)
def test_too_many_rejects_are_an_error(text, strict, rejected, is_fine):
    limit = RejectLimit.of(text, strict=strict)
    if is_fine:
        limit.check(rejected, 100, "a.csv")
    else:
        with pytest.raises(TableError, match=r"refused.*a.csv"):
            limit.check(rejected, 100, "a.csv")


@pytest.mark.parametrize("text", ["", "x", "-1", "101%", "1.5", "nan", "inf", "%"])
def test_what_is_no_limit_of_rejects_is_refused(text):
    with pytest.raises(ParameterError, match="a number of rows or a share such as 5%"):
        RejectLimit.of(text)
