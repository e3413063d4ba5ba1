"""The arrays of a table of texts: saved, mapped, damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.test_text_table import (
    copied,
    ids,
    small_tables_fold,  # noqa: F401 - a fixture
    table_of,
)
from thatch.engine.texts import TextTable
from thatch.errors import IndexFileError


@pytest.mark.parametrize("mode", ["r", "c"])
def test_a_saved_table_is_mapped_and_then_changed(mode: Any, tmp_path: Path) -> None:
    held = table_of(ids(20), seed=2**64 - 1)
    held.remove(4)
    for name, array in held.arrays().items():
        np.save(tmp_path / f"{name}.npy", array)
    mapped = {name: np.load(tmp_path / f"{name}.npy", mmap_mode=mode) for name in held.arrays()}
    bytes_before = {name: array.tobytes() for name, array in mapped.items()}
    opened = TextTable.from_arrays(mapped)
    assert [opened.find(text) for text in ids(6)] == [0, 1, 2, 3, -1, 5]
    assert opened.names(np.arange(20)) == ids(20)
    assert opened.arrow().to_pylist() == ids(20)
    opened.remove(5)
    assert [opened.add(text) for text in ("s4", "s5", "ä", "日本")] == [20, 21, 22, 23]
    assert [opened.find(text) for text in ("s3", "s4", "s5", "日本")] == [3, 20, 21, 23]
    opened.fold()
    assert opened.arrow().to_pylist() == [*ids(20), "s4", "s5", "ä", "日本"]
    assert all(np.load(tmp_path / f"{name}.npy").tobytes() == bytes_before[name] for name in mapped)


def test_an_empty_table_can_be_saved_and_opened() -> None:
    opened = TextTable.from_arrays(TextTable(9).arrays())
    assert (len(opened), opened.find(""), opened.arrow().to_pylist()) == (0, -1, [])
    assert [opened.add(text) for text in ids(9)] == list(range(9))


def test_arrays_have_no_spare_room() -> None:
    arrays = table_of(ids(2_000)).arrays()
    assert len(arrays["offsets"]) == 2_001
    assert len(arrays["blob"]) == arrays["offsets"][-1]


def test_the_seed_decides_about_the_buckets_and_is_kept() -> None:
    one, other = (table_of(ids(50), seed).arrays() for seed in (1, 2))
    assert (one["buckets"] != other["buckets"]).any()
    assert [int(arrays["seed"][0]) for arrays in (one, other)] == [1, 2]


DAMAGED = {
    "no blob": {"blob": None},
    "a blob of other numbers": {"blob": np.zeros(200, np.int8)},
    "a blob cut short": {"blob": np.zeros(3, np.uint8)},
    "a blob in two dimensions": {"blob": np.zeros((20, 10), np.uint8)},
    "offsets of 64 bits": {"offsets": np.arange(3, dtype=np.int64)},
    "offsets of the other byte order": {"offsets": np.arange(3).astype(">i4")},
    "no offsets": {"offsets": np.zeros(0, np.int32)},
    "offsets that begin late": {"offsets": np.array([1, 2], np.int32)},
    "offsets that begin below zero": {"offsets": np.array([-4, 2], np.int32)},
    "offsets that fall": {"offsets": np.array([0, 9, 2], np.int32)},
    "no buckets": {"buckets": np.zeros(0, np.int32)},
    "buckets of no power of two": {"buckets": np.zeros(12, np.int32)},
    "buckets above all numbers": {"buckets": np.full(16, 21, np.int32)},
    "buckets below -1": {"buckets": np.full(16, -2, np.int32)},
    "no seed": {"seed": np.zeros(0, np.uint64)},
    "two seeds": {"seed": np.zeros(2, np.uint64)},
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_arrays_are_refused(damage: str) -> None:
    arrays = table_of(ids(20)).arrays() | DAMAGED[damage]
    with pytest.raises(IndexFileError, match="array `"):
        TextTable.from_arrays({name: array for name, array in arrays.items() if array is not None})


def test_bytes_that_are_no_text_are_told_when_they_are_read() -> None:
    arrays = copied(table_of(["abc", "def", "ghi", "jkl"]))
    arrays["blob"][4] = 0xFF
    opened = TextTable.from_arrays(arrays)
    assert opened.text(0) == "abc"
    for read in (lambda: opened.text(1), lambda: opened.names(np.arange(4)), opened.arrow):
        with pytest.raises(IndexFileError, match="UTF-8"):
            read()


@given(
    offsets=st.lists(st.integers(-(2**31), 2**31 - 1) | st.integers(0, 30), min_size=10, max_size=10),
    buckets=st.lists(st.integers(-(2**31), 2**31 - 1) | st.integers(-1, 10), min_size=32, max_size=32),
)
def test_no_content_of_the_arrays_leads_astray(offsets: list[int], buckets: list[int]) -> None:
    """What changes in a file after it was checked gives wrong answers, but no crash and no endless search."""
    arrays = copied(table_of(ids(9)))
    opened = TextTable.from_arrays({**arrays, "buckets": np.zeros(32, np.int32)})
    opened._buckets[:] = buckets
    opened._offsets[:] = offsets
    for text in ids(12):
        assert -1 <= opened.find(text) < 9
    for number in range(9):
        opened.remove(number)
    for text in ids(40):
        opened.add(text)
    assert opened.find("s39") >= -1
