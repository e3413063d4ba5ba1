"""A table of texts that is read while it grows."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tests.engine.test_text_table import (
    ids,
    numbers_of,
    small_tables_fold,  # noqa: F401 - a fixture
    table_of,
)
from thatch.engine.texts import TextTable, table


@pytest.mark.parametrize("recent", [3, 50])
def test_readers_need_no_lock_beside_a_writer(recent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "RECENT", recent)
    interval = sys.getswitchinterval()
    held = table_of(ids(4))
    total = 6_000

    def write() -> None:
        for number in range(4, total, 4):
            held.add(f"s{number}")
            assert len(held.extend([f"s{number + 1}", f"s{number + 2}", f"s{number + 3}"])) == 0

    def read(turns: int) -> None:
        for turn in range(turns):
            count = len(held)
            number = turn * 7_919 % count
            assert held.text(number) == f"s{number}"
            assert held.text(count - 1) == f"s{count - 1}"
            assert held.find(f"s{count - 1}") == count - 1
            numbers = np.arange(max(0, count - 60), count)
            assert held.names(numbers) == [f"s{each}" for each in numbers.tolist()]
            if turn % 16 == 0:
                assert held.arrow()[:count].to_pylist() == ids(count)

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(3) as pool:
            futures = [pool.submit(write), pool.submit(read, 600), pool.submit(read, 600)]
            for future in futures:
                future.result()
    finally:
        sys.setswitchinterval(interval)
    assert held.arrow().to_pylist() == ids(total)


class InterruptedTable(TextTable):
    """A writer comes between, just before a reader's look number `looks` at what writers replace."""

    looks = 0

    def __getattribute__(self, name: str) -> Any:
        if name in {"_base", "_recent"}:
            self.looks -= 1
            if self.looks == 0:
                self.extend(["one", "more", "and", "another"])
                self.add("last")
        return super().__getattribute__(name)


READERS = {
    "text": lambda held: [held.text(number) for number in (0, 3, 6, 7)] == ["s0", "s3", "s6", "s7"],
    "names": lambda held: held.names(numbers_of(7, 0, 6, 3)) == ["s7", "s0", "s6", "s3"],
    "arrow": lambda held: held.arrow().to_pylist()[:8] == ids(8),
    "find": lambda held: [held.find(text) for text in ("s0", "s6", "s7", "x")] == [0, 6, 7, -1],
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("looks", range(1, 10))
def test_a_fold_between_any_two_looks_of_a_reader_hides_nothing(reader: str, looks: int) -> None:
    held = InterruptedTable(3)
    for text in ids(8):
        held.add(text)
    held.looks = looks
    assert READERS[reader](held)
