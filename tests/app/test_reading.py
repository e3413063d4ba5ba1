"""Every command that reads subscriptions or events has the same options for files, and refuses too many bad rows."""

from __future__ import annotations

import json
import shlex
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from typer.core import TyperGroup

from tests.app.here import run_here
from thatch.app.cli.commands import app

OPTIONS = ["--schema", "--missing", "--encoding", "--strict", "--max-rejects", "--max-line", "--max-unpacked"]
COMMANDS = {  # with the files to be read as SUBS and LOG
    "match": "match SUBS LOG",
    "explain": """explain é '{"price": 3}' --subscriptions SUBS""",
    "check": "check SUBS",
    "load": "load SUBS --out out",
    "profile": "profile LOG SUBS --out out",
    "reduce": "reduce SUBS --out out",
    "place": "place SUBS --events LOG --tree tree.json --locations locations.csv --out out",
    "simulate": "simulate line:2 --subscriptions SUBS --events LOG",
    "plan explain": "plan explain SUBS --events LOG",
    "bench match": "bench match SUBS LOG --rounds 1",
}
WITH_EVENTS = [name for name, words in COMMANDS.items() if "LOG" in words]
ON_SPARK = {
    name: f"{COMMANDS[name]} --spark"
    for name in ("match", "load", "profile", "reduce", "place")
} | {"reduce --merge": "reduce SUBS --merge --budget 0.5 --events LOG --out out"}  # fmt: skip
ON_SPARK["match"] += " --out out"
OTHERS = {"demo", "serve", "experiments list", "experiments run", "experiments report"}  # these read neither

TREE = {"root": "a", "brokers": [{"name": each, "location": [0]} for each in "ab"], "links": [["a", "b"]]}
GOOD = "subscription,filter\né,price < 5\nother,price > 7\n"
BAD = "subscription,filter\na,price <\nb,price >\n"
EVENTS = '{"price": 3, "name": "é"}\n{"price": 9, "name": "é"}\n'


def commands_of(group: Any, before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, each in group.commands.items():
        path = f"{before} {name}".strip()
        found |= commands_of(each, path) if isinstance(each, TyperGroup) else {path: each}
    return found


EVERY = commands_of(app)


@pytest.fixture
def run(tmp_path: Path):
    """Runs a command in a folder with good and bad files."""
    (tmp_path / "good.csv").write_text(GOOD)
    (tmp_path / "bad.csv").write_text(BAD)
    (tmp_path / "half.csv").write_text(GOOD + "a,price <\nb,price >\n")
    (tmp_path / "good.jsonl").write_text(EVENTS)
    (tmp_path / "bad.jsonl").write_text("no event\n[]\n")
    (tmp_path / "half.jsonl").write_text(EVENTS + "no event\n[]\n")
    (tmp_path / "tree.json").write_text(json.dumps(TREE))
    (tmp_path / "locations.csv").write_text("subscriber,x\né,1\nother,2\n")
    return partial(run_command, tmp_path)


def run_command(
    folder: Path, words: str, *options: str, subs: str = "good.csv", log: str = "good.jsonl"
) -> CompletedProcess[str]:
    files = {"SUBS": subs, "LOG": log}
    return run_here(folder, *(files.get(each, each) for each in shlex.split(words)), *options)


def test_each_command_either_is_listed_here_or_reads_no_such_files():
    assert {*COMMANDS, *OTHERS} == set(EVERY)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_options_of_files_are_there_with_one_help(name):
    def helps(command: str) -> dict[str, str]:
        return {each.opts[0]: each.help for each in EVERY[command].params if each.opts[0] in OPTIONS}

    assert sorted(helps(name)) == sorted(OPTIONS)
    assert helps(name) == helps("match")
    assert "docs/reference/files.md" in helps(name)["--missing"]
    assert ("--nulls" in str([each.opts for each in EVERY[name].params])) == (
        name in {*WITH_EVENTS, "reduce"}
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_subscriptions_are_refused_alike(name, run, tmp_path):
    words = COMMANDS[name]
    assert run(words).returncode == 0
    remove(tmp_path / "out")
    whole = run(words, subs="bad.csv")
    assert whole.returncode == (1 if name == "check" else 2), whole.stderr
    why = "`thatch check` lists them" if name == "profile" else "column 8"
    assert why in whole.stdout + whole.stderr
    assert not (tmp_path / "out").exists()
    for options, is_allowed in (
        ([], name != "check"),
        (["--strict"], False),
        (["--max-rejects", "1"], False),
        (["--max-rejects", "2"], True),
        (["--max-rejects", "49%"], False),
        (["--max-rejects", "50%"], True),
    ):
        ran = run(words, *options, subs="half.csv")
        assert (ran.returncode == 0) == is_allowed, (options, ran.stderr)
        assert (tmp_path / "out").exists() == (is_allowed and "--out" in words)
        remove(tmp_path / "out")


@pytest.mark.parametrize("name", WITH_EVENTS)
def test_events_are_refused_alike(name, run, tmp_path):
    words = COMMANDS[name]
    assert run(words, log="bad.jsonl").returncode == 2
    assert not (tmp_path / "out").exists()
    for options, code in ([], 0), (["--strict"], 2), (["--max-rejects", "2"], 0), (["--max-rejects", "1"], 2):
        ran = run(words, *options, log="half.jsonl")
        assert ran.returncode == code, (options, ran.stderr)
        remove(tmp_path / "out")


@pytest.mark.parametrize("name", COMMANDS)
def test_encodings_and_lines_are_read_alike(name, run, tmp_path):
    words = COMMANDS[name]
    for each in ("good.csv", "good.jsonl", "locations.csv"):
        text = (tmp_path / each).read_text()
        (tmp_path / each).write_bytes(text.encode("cp1252"))
    assert run(words, "--encoding", "cp1252").returncode == 0
    remove(tmp_path / "out")
    for option, value in ("--encoding", "klingon"), ("--max-line", "10"), ("--max-line", "few"):
        ran = run(words, "--encoding", "cp1252", option, value)
        assert (ran.returncode, option.strip("-") in ran.stderr) == (2, True), ran.stderr
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", WITH_EVENTS)
def test_missing_values_are_read_alike(name, run, tmp_path):
    (tmp_path / "log.csv").write_text("price\n3\n9\n" + "soon\n")
    ran = run(COMMANDS[name], log="log.csv")
    assert "soon" in ran.stderr or name == "simulate"  # remarked on as no number, or refused
    remove(tmp_path / "out")
    ran = run(COMMANDS[name], "--missing", "soon", log="log.csv")
    assert (ran.returncode, "soon" in ran.stderr) == (0, False), ran.stderr


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.xdist_group("spark")
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("name", ON_SPARK)
def test_files_of_nothing_but_refused_rows_are_refused_on_spark(name, run, tmp_path):
    ran = run(ON_SPARK[name], subs="bad.csv")
    assert (ran.returncode, "All 2 subscriptions were refused" in ran.stderr) == (2, True), ran.stderr
    if "LOG" in ON_SPARK[name]:
        ran = run(ON_SPARK[name], log="bad.jsonl")
        assert (ran.returncode, "All 2 rows were refused" in ran.stderr) == (2, True), ran.stderr
    assert not (tmp_path / "out").exists()
    assert run(ON_SPARK[name], "--max-rejects", "2", subs="half.csv", log="half.jsonl").returncode == 0


def remove(folder: Path) -> None:
    """Remove the output of a command, a folder of files and folders of files."""
    for each in sorted(folder.rglob("*"), reverse=True):
        each.rmdir() if each.is_dir() else each.unlink()
    if folder.exists():
        folder.rmdir()
