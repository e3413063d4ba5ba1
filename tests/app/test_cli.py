"""The `thatch` command: its help, bad input, and how it behaves as a process; in a copy of examples/quotes."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.core import TyperGroup

import thatch
from tests.app.here import QUOTES, run_here
from thatch.app.cli.commands import app

THATCH = Path(sys.executable).with_name("thatch")
ON_SPARK = ("load", "profile", "reduce")
COMMANDS = ("match", "explain", "check", "demo", "load", "profile", "reduce", "place", "simulate", "serve")

MATCHES = [
    {"event": 0, "matches": ["cheap-ibm"]},
    {"event": 1, "matches": ["tech-surge"]},
    {"event": 2, "matches": ["dear-any"]},
    {"event": 3, "matches": ["lse"]},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(QUOTES, tmp_path / "quotes"))


@pytest.fixture
def run(folder: Path) -> partial[subprocess.CompletedProcess[str]]:
    """Runs `thatch` with arguments in the folder."""
    return partial(run_here, folder)


def in_shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command line in which `thatch` is this environment's."""
    path = f"{THATCH.parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip


def objects(lines: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in lines.splitlines()]


# --- help ------------------------------------------------------------------------------------------------------


def test_every_command_is_named_in_the_help_and_tested_here(run):
    alone = [name for name, each in app.commands.items() if not isinstance(each, TyperGroup)]
    assert tuple(alone) == COMMANDS
    listed = run("--help").stdout.partition("Commands:")[2]
    assert all(f"  {name} " in listed for name in COMMANDS)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["", *COMMANDS, "plan explain"])
def test_every_example_in_the_help_runs(name, run, folder):
    shown = run(*name.split(), "--help")
    assert (shown.returncode, shown.stderr) == (0, "")
    examples = [line.strip()[2:] for line in shown.stdout.splitlines() if line.strip().startswith("$ ")]
    assert examples
    for example in examples:
        if name in ON_SPARK or "--spark" in example:
            continue  # these run in test_match_spark.py, where one Spark serves all of them
        words = shlex.split(example)
        ran = in_shell(example, folder) if "|" in words else run(*words[1:])
        expected = {0, 1} if " explain " in example else {0}  # 1: the event does not match
        assert (ran.returncode in expected, "Traceback" in ran.stderr) == (True, False), (
            f"{example}\n{ran.stderr}"
        )


def test_the_version_is_printed(run):
    assert run("--version").stdout == f"{thatch.__version__}\n"


# --- bad input -------------------------------------------------------------------------------------------------

BAD_INPUT = {
    "a missing file": (["match", "nothing.csv", "events.jsonl"], "No such file"),
    "an unknown ending": (["match", "subscriptions.xml", "events.jsonl"], "a file ending in"),
    "missing events": (["match", "subscriptions.csv", "nothing.parquet"], "No such file"),
    "no column of filters": (["match", "other.csv", "events.jsonl"], "a column `filter`"),
    "a file that is not Parquet": (["match", "subscriptions.csv", "other.parquet"], "Not a Parquet file"),
    "an empty file": (["check", "empty.csv"], "name the columns"),
    "ids that are no text": (["check", "numbers.parquet"], "column `subscription`"),
    "an out of unknown ending": (["match", "subscriptions.csv", "events.jsonl", "--out", "a.csv"], "--out"),
    "an out below a file": (["match", "subscriptions.csv", "events.jsonl", "--out", "events.jsonl/a.jsonl"], "is read"),
    "an out that is a folder": (["match", "subscriptions.csv", "events.jsonl", "--out", "folder.parquet"], "be written"),
    "a missing schema": (["match", "subscriptions.csv", "events.jsonl", "--schema", "no.json"], "No such file"),
    "a deep schema": (["check", "subscriptions.csv", "--schema", "deep.json"], "a schema such as"),
    "a wrong schema": (["check", "subscriptions.csv", "--schema", "wrong.json"], "minimum <= maximum, got 5 > 1"),
    "a filter that does not parse": (["explain", "price ~ 3", "{}"], "line 1, column 9"),
    "a wrong pattern": (["explain", '{"price": [{"near": 5}]}', "{}"], "the match type 'near' - at price"),
    "a filter that never matches": (["explain", "x = 1 and x = 2", "{}"], "No event can match"),
    "an event that is not JSON": (["explain", "price < 3", "{"], "an event as JSON"),
    "an event that is no object": (["explain", "price < 3", "[]"], "an object"),
    "an event past all depth": (["explain", "price < 3", "[" * 100_000], "an event as JSON"),
    "an unknown id": (["explain", "no", "{}", "--subscriptions", "subscriptions.csv"], "No subscription has the id"),
}  # fmt: skip


@pytest.fixture
def bad_files(folder: Path) -> None:
    (folder / "other.csv").write_text("subscription,text\na,x = 1\n")
    (folder / "other.parquet").write_text("subscription,text\na,x = 1\n")
    (folder / "empty.csv").write_text("")
    pq.write_table(pa.table({"subscription": [1], "filter": ["x = 1"]}), folder / "numbers.parquet")
    (folder / "folder.parquet").mkdir()
    (folder / "deep.json").write_text("[" * 100_000)
    (folder / "wrong.json").write_text('{"x": {"type": "Integer", "minimum": 5, "maximum": 1}}')


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_is_reported_in_one_sentence_and_exits_with_status_2(name, run, folder, bad_files):
    arguments, words = BAD_INPUT[name]
    before = sorted(folder.rglob("*"))
    ran = run(*arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert re.match("thatch: [A-Z]", ran.stderr)
    assert words in ran.stderr
    assert len(ran.stderr) < 500
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["mach"],
        ["match"],
        ["match", "subscriptions.csv", "events.jsonl", "--by", "nobody"],
        ["match", "subscriptions.csv", "events.jsonl", "--nulls", "none"],
        ["demo", "--subscriptions", "-1"],
        ["demo", "--seconds", "soon"],
    ],
    ids=" ".join,
)
def test_wrong_arguments_are_reported_with_status_2(arguments, run):
    ran = run(*arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "Error: " in ran.stderr
    assert "Traceback" not in ran.stderr


# --- a process of its own --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_process_prints_matches_and_exits_with_status_0(folder):
    ran = in_shell("thatch match subscriptions.csv - < events.jsonl", folder)
    assert objects(ran.stdout) == MATCHES
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.slow
def test_bad_input_ends_the_process_without_a_traceback(folder):
    ran = in_shell("thatch match subscriptions.csv nothing.jsonl", folder)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        "thatch: Cannot read the file: [Errno 2] No such file or directory: 'nothing.jsonl'"
        " - at nothing.jsonl\n"
    )


@pytest.mark.slow
def test_the_progress_bar_leaves_results_on_standard_output(folder):
    terminal, errors = os.openpty()
    try:
        ran = subprocess.run(
            [THATCH, "match", "subscriptions.csv", "events.jsonl"],
            cwd=folder, stdout=subprocess.PIPE, stderr=errors, text=True, timeout=100, check=True,
        )  # fmt: skip
    finally:
        os.close(errors)
        os.close(terminal)
    assert objects(ran.stdout) == MATCHES


@pytest.mark.slow
def test_a_reader_that_stops_early_is_met_in_silence(folder):
    (folder / "many.jsonl").write_text('{"symbol": "IBM", "price": 1}\n' * 20_000)
    ran = in_shell("thatch match subscriptions.csv many.jsonl | head -1", folder)
    assert objects(ran.stdout) == [{"event": 0, "matches": ["cheap-ibm"]}]
    assert ran.stderr == ""


@pytest.mark.slow
def test_a_reader_that_never_was_there_is_met_in_silence(folder):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ran = subprocess.run(
            [THATCH, "match", "subscriptions.csv", "events.jsonl"],
            cwd=folder, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=100, check=False,
        )  # fmt: skip
    finally:
        os.close(writing)
    assert (ran.returncode, ran.stderr) == (141, "")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_reported_in_one_sentence(folder):
    ran = in_shell("thatch match subscriptions.csv events.jsonl > /dev/full", folder)
    assert ran.returncode == 2
    assert ran.stderr.startswith("thatch: ")
    assert len(ran.stderr.splitlines()) == 1
