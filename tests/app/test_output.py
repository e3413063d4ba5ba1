"""Output never eats input and never replaces what it was not asked to, whatever the command; in a copy of examples/quotes."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import thatch
from tests.app.here import QUOTES, run_here
from thatch.errors import OutputError

PLACE = ("place", "subscriptions.csv", "--tree", "tree.json", "--locations", "locations.csv", "--out")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(QUOTES, tmp_path / "quotes"))


@pytest.fixture
def run(folder: Path) -> partial[CompletedProcess[str]]:
    """Runs `thatch` with arguments in the folder."""
    return partial(run_here, folder)


def content(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.rglob("*") if each.is_file()}


@pytest.mark.parametrize("more", [(), ("--overwrite",)])
@pytest.mark.parametrize("out", ["events.jsonl", "./events.jsonl", "link.jsonl", "../quotes/events.jsonl"])
def test_match_never_writes_its_log(out, more, run, folder):
    (folder / "link.jsonl").symlink_to("events.jsonl")
    before = content(folder)
    ran = run("match", "subscriptions.csv", "events.jsonl", "--out", out, *more)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("thatch: Expected an output apart from what is read")
    assert content(folder) == before


def test_no_command_writes_its_subscriptions_schema_or_tree(run, folder):
    shutil.copy(folder / "subscriptions.csv", folder / "subscriptions.jsonl")
    (folder / "schema.jsonl").write_text("{}")
    before = content(folder)
    for arguments in (
        ("match", "subscriptions.jsonl", "events.jsonl", "--out", "subscriptions.jsonl"),
        ("match", "subscriptions.csv", "events.jsonl", "--schema", "schema.jsonl", "--out", "schema.jsonl"),
        (*PLACE, "."),
        (*PLACE, "tree.json"),
        (*PLACE, "locations.csv/plan"),
    ):
        ran = run(*arguments, "--overwrite")
        assert (ran.returncode, "is read" in ran.stderr) == (2, True), ran.stderr
    assert content(folder) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("match", "subscriptions.csv", "events.jsonl", "--out", "mine.jsonl"),
        ("match", "subscriptions.csv", "events.jsonl", "--out", "mine.parquet"),
        ("simulate", "line:2", "--subscriptions", "3", "--events", "2", "--out", "mine.html"),
        (*PLACE, "mine"),
        ("experiments", "report", "ouksel2006", "--results", "mine"),
        ("demo", "--subscriptions", "1", "--seconds", "0", "--spark", "mine"),
    ],
    ids=lambda words: f"{words[0]} {words[-1]}",
)
def test_what_exists_is_refused_before_work_begins(arguments, run, folder):
    mine = folder / arguments[-1]
    if mine.suffix:
        mine.write_text("mine")
    else:
        mine.mkdir()
        for name in ("ouksel2006.html", "alerts.csv"):
            (mine / name).write_text("mine")
    before = content(folder)
    ran = run(*arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "already exists (to replace it: --overwrite" in ran.stderr
    assert content(folder) == before


def test_a_missing_folder_is_created_for_files_and_folders_alike(run, folder):
    assert run("match", "subscriptions.csv", "events.jsonl", "--out", "a/b/found.jsonl").returncode == 0
    assert run(*PLACE, "c/d/plan").returncode == 0
    engine = thatch.Engine()
    engine.save(folder / "e" / "f" / "engine")
    assert (folder / "a/b/found.jsonl").is_file()
    assert (folder / "c/d/plan/manifest.json").is_file()
    assert len(thatch.Engine.open(folder / "e/f/engine")) == 0


def test_an_engine_is_saved_over_a_file_only_when_asked(folder):
    engine = thatch.Engine()
    before = content(folder)
    with pytest.raises(OutputError, match=r"already exists .*overwrite=True"):
        engine.save(folder / "events.jsonl")
    assert content(folder) == before
    engine.save(folder / "engine.thatch")
    engine.save(folder / "engine.thatch", overwrite=True)
    thatch.Engine.open(folder / "engine.thatch", mode="a").save()


@pytest.mark.parametrize(
    ("arguments", "missing", "extra"),
    [
        (("load", "subscriptions.csv", "--out", "x", "--spark"), "pyspark", "spark"),
        (("match", "subscriptions.csv", "events.jsonl", "--spark", "--out", "x"), "pyspark", "spark"),
        (("demo", "--spark", "x"), "pyspark", "spark"),
        (("experiments", "run", "ouksel2006"), "pyspark", "spark"),
        ((*PLACE, "x"), "scipy", "placement"),
        ((*PLACE, "x", "--algorithm", "best"), "ortools", "placement"),
    ],
    ids=lambda each: each if isinstance(each, str) else each[0],
)
def test_the_right_extra_is_named_before_work_begins(arguments, missing, extra, run, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, missing, None)
    ran = run(*arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    told = ran.stderr.splitlines()[-1]
    assert told.startswith(f"thatch: The package {missing} is needed for ")
    assert told.endswith(f": pip install 'thatch[{extra}]'")


def test_explain_exits_with_the_answer(run):
    assert run("explain", "price < 150", '{"price": 120}').returncode == 0
    ran = run("explain", "price < 150", '{"price": 180}')
    assert (ran.returncode, ran.stderr) == (1, "")
    assert ran.stdout.startswith("does not match")


def test_the_help_says_what_an_exit_status_means(run):
    shown = run("--help").stdout
    assert "Exit status" in shown
    assert all(f"  {status} " in shown for status in (0, 1, 2, 130))
