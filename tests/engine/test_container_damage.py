"""Containers that are not what they should be: damaged, foreign, of another version, hostile."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.test_checksums import reference
from tests.engine.test_container import HEADER, JSON, same, small
from thatch.engine.container import dumps, loads, read, write
from thatch.errors import IndexFileError, OutputError

MASK = (1 << 64) - 1


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "engine.thatch"


def refused(content: bytes, got: str = "") -> IndexFileError:
    with pytest.raises(IndexFileError, match=re.escape(got) if got else None) as caught:
        loads(content)
    return caught.value


# --- damage ------------------------------------------------------------------------------------------------------


def covered(content: bytes) -> list[tuple[int, int, str]]:
    """The parts of a file that are no padding: start, end, name of the array if it is one."""
    length = int.from_bytes(content[16:24], "little")
    first = -(-(32 + length) // 64) * 64
    parts = [(0, 32 + length, ""), (len(content) - 8, len(content), "")]
    for each in json.loads(content[32 : 32 + length])["arrays"]:
        size = int(np.prod(each["shape"])) * np.dtype(each["dtype"]).itemsize
        parts.append((first + each["offset"], first + each["offset"] + size, f"array {each['name']!r:.50}"))
    return parts


def test_every_flipped_bit_is_found() -> None:
    content = dumps(HEADER, small())
    assert 900 < len(content) < 1600
    for start, end, name in covered(content):
        for bit in range(start * 8, end * 8):
            changed = bytearray(content)
            changed[bit // 8] ^= 1 << bit % 8
            error = refused(bytes(changed))
            assert name.encode("utf-8", "backslashreplace").decode() in error.got


def test_flipped_bits_of_padding_do_no_harm() -> None:
    content = dumps(HEADER, small())
    padding = set(range(len(content))).difference(*(range(start, end) for start, end, _ in covered(content)))
    assert padding
    changed = bytes(byte ^ 0xFF if i in padding else byte for i, byte in enumerate(content))
    assert same(loads(changed)[1], small())


def test_files_cut_at_any_length_are_refused_and_named(path: Path) -> None:
    write(path, HEADER, small())
    for length in reversed(range(path.stat().st_size)):
        os.truncate(path, length)
        with pytest.raises(IndexFileError, match=f"cut short at {length:,}|an empty file") as caught:
            read(path)
        assert caught.value.where == str(path)
        assert str(path) in str(caught.value)


def test_a_cut_file_says_how_long_it_was() -> None:
    content = dumps(HEADER, small())
    refused(content[:-1], f"one cut short at {len(content) - 1:,} of {len(content)} bytes")


def test_a_cut_that_ends_in_its_own_length_is_found() -> None:
    content = dumps({}, {"a": np.zeros(64, np.int64)})
    cut = len(content) - 256
    refused(content[: cut - 8] + cut.to_bytes(8, "little"), "cut short")


@given(added=st.binary(min_size=1, max_size=99))
def test_files_with_something_added_are_refused(added: bytes) -> None:
    refused(dumps(HEADER, small()) + added, "that was written with")


@given(st.binary(max_size=500))
def test_foreign_files_are_refused(content: bytes) -> None:
    refused(content)
    refused(b"THATCH\0\3" + content)


@pytest.mark.parametrize(
    ("content", "got"),
    [
        (b"", "an empty file"),
        (b"T", "cut short at 1"),
        (b"X", "another kind of file"),
        (b"PK\3\4" + bytes(900), "another kind of file"),
        (b"THATCH\0", "cut short at 7"),
        (b"THATCH\0\3" + bytes(30), "checksum of its directory"),
        (b"THATCH\0\1" + bytes(99), "a saved engine of version 3, got version 1"),
        (b"THATCH\0\4" + bytes(99), "a saved engine of version 3, got version 4"),
        (b"THATCH\0\4", "a saved engine of version 3, got version 4"),
    ],
)
def test_what_is_no_container_of_this_version_is_told_clearly(content: bytes, got: str, path: Path) -> None:
    path.write_bytes(content)
    with pytest.raises(IndexFileError, match=re.escape(got)) as caught:
        read(path)
    assert caught.value.where == str(path)
    assert got in str(refused(content))


def test_missing_files_folders_and_pipes_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(b"x")
    for name in ("missing", ".", "pipe", "file/below", "nul\0", "long" * 99):
        with pytest.raises(IndexFileError) as caught:
            read(tmp_path / name)
        assert caught.value.where == str(tmp_path / name)
        if name != "missing":
            with pytest.raises(OutputError):
                write(tmp_path / name, {}, {}, overwrite=True)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "pipe"]


# --- hostile directories -----------------------------------------------------------------------------------------


def forged(directory: bytes, data: bytes = b"", minor: int = 0, mark: int | None = None) -> bytes:
    """A file of any directory and data whose checksums are right, built from the description of the layout."""
    start = b"THATCH\0\3" + minor.to_bytes(8, "little") + len(directory).to_bytes(8, "little")
    content = start + reference(start + directory).to_bytes(8, "little") + directory
    content = content.ljust(-(-len(content) // 64) * 64, b"\0") + data
    return content + (len(content) + 8 if mark is None else mark).to_bytes(8, "little")


DATA = bytes(range(128))


def entry(**changes: Any) -> dict[str, Any]:
    return {
        "name": "a",
        "dtype": "<i8",
        "shape": [8],
        "offset": 0,
        "checksum": f"{reference(DATA[:64]):016x}",
    } | changes


def listing(*entries: Any, **changes: Any) -> bytes:
    return json.dumps({"header": {}, "length": len(DATA), "arrays": entries} | changes).encode()


def test_a_forged_file_without_fault_is_read() -> None:
    _, arrays = loads(forged(listing(entry()), DATA))
    assert same(arrays, {"a": np.frombuffer(DATA[:64], np.int64)})


HUGE = 10**4000
HOSTILE: dict[str, list[Any]] = {
    "name": [None, 1, [], {"a": 1}],
    "dtype": [None, 1, [], "O", "|O", ">i8", "i8", "<f2", "|V8", "<U1", "x" * 999],
    "shape": [
        *(None, 8, "8", {"0": 8}, [], [8, 1, 1], [[8]], ["8"], [8.0], [True], [None], [-8], [-2, -4], [17]),
        *([2**61], [2**64], [2**32, 2**32], [HUGE, HUGE], [0, 2**63], [2**63, 0], [0, HUGE]),
    ],
    "offset": [-64, -(2**64), 1, 8, 128, 2**64, HUGE, 0.0, "0", None, False],
    "checksum": [None, 0, [], "", "0" * 16, reference(DATA[:64])],
}


@pytest.mark.parametrize("change", [{key: each} for key, values in HOSTILE.items() for each in values])
def test_hostile_entries_are_refused(change: dict[str, Any]) -> None:
    refused(forged(listing(entry(**change)), DATA))
    lacking = {key: value for key, value in entry().items() if key not in change}
    refused(forged(listing(lacking), DATA))


@pytest.mark.parametrize(
    "directory",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe{}",
        b"{}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"header":' + b"[" * 100_000 + b"]" * 100_000 + b',"length":128,"arrays":[]}',
        b'{"header":{"x":NaN},"length":128,"arrays":[]}',
        b'{"header":{"x":-Infinity},"length":128,"arrays":[]}',
        b'{"header":{"x":' + b"9" * 5000 + b'},"length":128,"arrays":[]}',
        *(listing(entry(), **{key: None}) for key in ("header", "length", "arrays")),
        listing(header=[]),
        listing(header="x"),
        *(listing(length=length) for length in (-1, 127, 129, 2**64, 10**4000, 128.0, True, "128")),
        *(listing(arrays=arrays) for arrays in ({}, "x", 1, {"a": entry()})),
        listing(None, {}),
        listing("a"),
        listing([]),
        listing({}),
        listing(entry(), entry(offset=64)),
        listing(entry(), entry(name="b")),
        listing(entry(name="b", offset=64, shape=[1]), entry(shape=[9])),
    ],
)
def test_hostile_directories_are_refused(directory: bytes) -> None:
    refused(forged(directory, DATA))


@given(st.recursive(JSON, lambda inner: st.builds(lambda each: listing(each).decode(), inner)), st.data())
def test_any_json_is_refused_or_read(value: Any, data: st.DataObject) -> None:
    key = data.draw(st.sampled_from([*entry(), "header", "length", "arrays"]))
    directory = listing(entry(**{key: value})) if key in entry() else listing(entry(), **{key: value})
    try:
        loads(forged(directory, DATA))
    except IndexFileError:
        return


def test_a_directory_longer_than_the_file_or_the_limit_is_refused() -> None:
    content = bytearray(forged(listing(), DATA))
    for length in (len(content), 2**32, 2**63, MASK):
        content[16:24] = length.to_bytes(8, "little")
        refused(bytes(content), "its directory is not whole")
    limit = (1 << 26) + 1
    content[16:24] = limit.to_bytes(8, "little")
    refused(bytes(content) + bytes(limit), "a directory of at most")


def test_a_wrong_end_mark_is_refused() -> None:
    refused(forged(listing(), DATA, mark=7), "its end mark is wrong")


def test_empty_arrays_may_share_a_place() -> None:
    nothing = f"{reference(b''):016x}"
    entries = [
        entry(name=str(n), shape=shape, checksum=nothing) for n, shape in enumerate([[0], [0, 3], [9, 0]])
    ]
    _, arrays = loads(forged(listing(*entries), DATA))
    assert [each.shape for each in arrays.values()] == [(0,), (0, 3), (9, 0)]


@pytest.mark.parametrize("minor", [1, 7, MASK])
def test_files_of_later_minor_versions_are_read_and_unknown_keys_ignored(minor: int) -> None:
    header, arrays = loads(forged(listing(entry(later=[1]), later={"x": None}, header={"h": 1}), DATA, minor))
    assert header == {"h": 1}
    assert list(arrays) == ["a"]
