"""Events that come one by one, and how a command ends: Ctrl-C, SIGTERM, at any moment; processes of their own."""

from __future__ import annotations

import json
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.app.here import QUOTES, run_here

EVENT = '{"symbol": "IBM", "price": 120}\n'
FOUND = {"matches": ["cheap-ibm"], "content": {"symbol": "IBM", "price": 120}}
LOGGED = [[sys.executable, "-m", "thatch", "match", "subscriptions.csv", each] for each in ("-", "log.jsonl")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(QUOTES, tmp_path / "quotes"))


@contextmanager
def running(folder: Path, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0) as process:
        try:
            yield process
        finally:
            process.kill()


def next_line(process: subprocess.Popen[bytes]) -> Any:
    """The next line that the process prints; it is not waited for in vain."""
    assert process.stdout is not None
    assert select.select([process.stdout], [], [], 60)[0], "nothing was printed"
    return json.loads(process.stdout.readline())


def ended(process: subprocess.Popen[bytes], number: signal.Signals) -> tuple[int, str]:
    process.send_signal(number)
    return process.returncode if process.wait(60) is None else process.wait(), process.stderr.read().decode()  # type: ignore[union-attr]


@pytest.mark.slow
def test_each_match_of_standard_input_is_printed_at_once_until_ctrl_c(folder):
    with running(folder, *LOGGED[0], "--with-event") as process:
        for row in range(3):
            process.stdin.write(EVENT.encode())
            assert next_line(process) == {"event": row, **FOUND}
        assert ended(process, signal.SIGINT) == (130, "thatch: interrupted\n")


@pytest.mark.slow
def test_a_log_is_followed_as_it_grows_and_is_rotated_until_sigterm(folder):
    log = folder / "log.jsonl"
    log.write_text(EVENT)
    with running(folder, *LOGGED[1], "--follow", "--with-event") as process:
        assert next_line(process) == {"event": 0, **FOUND}
        with log.open("a") as stream:
            stream.write("no event\n" + EVENT)
        assert next_line(process) == {"event": 2, **FOUND}
        log.rename(folder / "log.jsonl.1")
        log.write_text(EVENT)
        assert next_line(process) == {"event": 3, **FOUND}
        code, told = ended(process, signal.SIGTERM)
    assert code == 143
    assert told.startswith("1 rows of log.jsonl are not events")
    assert "Traceback" not in told


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_file_that_is_being_written_is_removed_at_the_end(number, folder):
    with running(folder, *LOGGED[0], "--out", "new/found.jsonl") as process:
        while not list(folder.glob("new/.found.jsonl.*")):
            assert not select.select([process.stderr], [], [], 0.02)[0], "it ended or said something"
        code, told = ended(process, number)
    assert (code, told) == (128 + number, "thatch: interrupted\n" if number == signal.SIGINT else "")
    assert not (folder / "new").exists()


_AT = """
import os, signal, sys
class Finder:
    def find_spec(self, name, *_):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.argv = ["thatch", "match", "subscriptions.csv", "events.jsonl"]
from thatch.app.cli import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["typer", "numpy", "pyarrow"])
def test_ctrl_c_is_met_with_one_line_while_imports_run(name, folder):
    command = [sys.executable, "-c", _AT.format(name=name)]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "thatch: interrupted\n")


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("raised", [RuntimeError("a call to Java was cut off"), None])
def test_ctrl_c_in_a_job_on_spark_leaves_one_line_and_nothing_else(raised, spark, folder, monkeypatch):
    def interrupt(*_: object, **__: object) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            if raised is not None:
                raise raised

    monkeypatch.setattr("thatch.pipeline.jobs.match.match_facts", interrupt)
    monkeypatch.setattr("thatch.app.cli.output.end_java_first", _nothing)  # Spark serves other tests
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    try:
        ran = run_here(folder, "match", "subscriptions.csv", "events.jsonl", "--spark", "--out", "new/found")
    finally:
        for each, action in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
            signal.signal(each, action)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "thatch: interrupted\n")
    assert not (folder / "new").exists()


@contextmanager
def _nothing(_: str) -> Iterator[None]:
    yield


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-", "--follow"), "a file of JSON lines to follow"),
        (("events.csv", "--follow"), "a file of JSON lines to follow"),
        (("events.jsonl", "--follow", "--out", "x.jsonl"), "leave out --out"),
        (("events.jsonl", "--follow", "--spark", "--out", "x"), "do not work with --spark"),
    ],
)
def test_what_cannot_be_followed_is_refused(arguments, words, folder):
    (folder / "events.csv").write_text("price\n1\n")
    ran = run_here(folder, "match", "subscriptions.csv", *arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert words in ran.stderr


def test_the_event_is_put_beside_its_matches_in_files_too(folder):
    import pyarrow.parquet as pq

    for out in ("x.jsonl", "x.parquet"):
        assert (
            run_here(
                folder, "match", "subscriptions.csv", "-", "--with-event", "--out", out, stdin=EVENT
            ).returncode
            == 0
        )
    assert json.loads((folder / "x.jsonl").read_text()) == {"event": 0, **FOUND}
    (row,) = pq.read_table(folder / "x.parquet").to_pylist()
    assert (row["subscription"], json.loads(row["content"])) == ("cheap-ibm", FOUND["content"])
