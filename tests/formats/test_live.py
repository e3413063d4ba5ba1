"""Files that grow are read as they come, whatever happens to their names."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from thatch.formats.live import FollowedFile, LiveInput


def lines(path: Path, steps: list[Callable[[], object]]) -> Iterator[str]:
    """The lines of a file, to which the steps happen one by one when there is nothing more to read."""
    left = iter(steps)
    raw = FollowedFile(str(path), lambda: None, wait=lambda: next(left)())  # noqa: PLW0108 - another step each time
    with io.BufferedReader(raw) as stream, io.TextIOWrapper(stream, encoding="utf-8", newline="\n") as text:
        for line in text:
            yield line.rstrip("\n")


def test_a_line_counts_when_it_is_whole(tmp_path):
    path = tmp_path / "log"
    path.write_text("a\nb")

    def append(text: str) -> None:
        with path.open("a") as file:
            file.write(text)

    found = lines(path, [partial(append, "b"), partial(append, "\nc\n")])
    assert [next(found) for _ in range(3)] == ["a", "bb", "c"]


def test_a_file_that_takes_the_name_is_read_next_and_all_of_the_old_one_before(tmp_path):
    path = tmp_path / "log"
    path.write_text("old\n")

    def rotate() -> None:
        with path.open("a") as file:
            file.write("last\npart")
        path.rename(tmp_path / "log.1")

    found = lines(path, [rotate, lambda: None, lambda: path.write_text("new\n")])
    assert [next(found) for _ in range(4)] == ["old", "last", "part", "new"]


def test_a_file_that_is_cut_short_is_read_from_its_start(tmp_path):
    path = tmp_path / "log"
    path.write_text("one\ntwo\n")
    found = lines(path, [lambda: path.write_text("3\n")])
    assert [next(found) for _ in range(3)] == ["one", "two", "3"]


def test_output_is_shown_before_waiting_and_not_while_input_is_there():
    reading, writing = os.pipe()
    told: list[int] = []

    def idle() -> None:
        told.append(1)
        os.write(writing, b"b\n")

    os.write(writing, b"a\n")
    stream = LiveInput(reading, idle)
    assert (stream.read(2), told) == (b"a\n", [])
    assert (stream.read(2), told) == (b"b\n", [1])
    os.close(reading)
    os.close(writing)
