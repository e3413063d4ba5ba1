"""`thatch bench match` as people run it, in a copy of examples/quotes. Figures are only looked at for their shape."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.app.here import QUOTES, run_here


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(QUOTES, tmp_path / "quotes"))


@pytest.fixture
def run(folder: Path) -> partial[CompletedProcess[str]]:
    """Runs `thatch` with arguments in the folder."""
    return partial(run_here, folder)


@pytest.fixture
def bench(run) -> Callable[..., dict]:
    """What `thatch bench match ... --json` tells."""

    def benches(*arguments: str) -> dict:
        ran = run("bench", "match", *arguments, "--rounds", "1", "--json")
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    return benches


def test_bench_prints_rates_matches_and_memory(run):
    ran = run("bench", "match", "subscriptions.csv", "events.jsonl", "--rounds", "1")
    lines = ran.stdout.splitlines()
    assert [line.split("  ")[0] for line in lines[:5]] == [
        "subscriptions", "events", "one per call", "batch", "memory",
    ]  # fmt: skip
    assert lines[0].startswith("subscriptions  4 loaded in ")
    assert lines[1] == "events         5 matched, 0 skipped, 0.80 matches per event"
    assert "p50 " in lines[2]
    assert lines[2].endswith("events per second")


def test_the_json_has_every_figure(bench):
    told = bench("subscriptions.csv", "events.jsonl")
    assert (told["events"], told["skipped"], told["matches_per_event"]) == (5, 0, 0.8)
    assert (told["loading"]["subscriptions"], told["loading"]["refused"]) == (4, 0)
    assert told["single"]["best_mean"] > 0
    assert 0 < told["single"]["p50"] <= told["single"]["p99"]
    assert told["batch"]["events_per_second"] > 0
    assert isinstance(told["bytes"], dict)


def test_memory_is_reported_by_part(bench, folder):
    rows = "".join(f"s{row},price > {row}\n" for row in range(1_000))
    (folder / "many.csv").write_text("subscription,filter\n" + rows)
    assert bench("many.csv", "events.jsonl")["bytes"]["hot"] > 0


def test_the_limit_takes_the_first_events(bench):
    told = bench("subscriptions.csv", "events.jsonl", "--limit", "3")
    assert (told["events"], told["matches_per_event"]) == (3, 1.0)


def test_refused_rows_are_counted_on_both_sides(bench, folder):
    (folder / "bad.csv").write_text(
        "subscription,filter\na,price > 1\nb,price ==\na,price > 2\n,price > 3\nc\n"
    )
    (folder / "bad.jsonl").write_text('{"price": 5}\nno JSON\n[1]\n\n{"price": 0}\n')
    told = bench("bad.csv", "bad.jsonl")
    assert (told["loading"]["subscriptions"], told["loading"]["refused"]) == (1, 4)
    assert (told["events"], told["skipped"], told["matches_per_event"]) == (2, 2, 0.5)


@pytest.mark.parametrize(
    ("lines", "form"),
    [
        ('{"price": 5}\n{"price": 2000.5, "venue": "LSE"}\n', "a column for each attribute"),
        ('{"price": 5}\n{"price": "much", "venue": "LSE"}\n', "JSON text"),
        ('{"price": 5}\n{"price": [1, "b"], "venue": {"x": 1}}\n', "JSON text"),
        ("{}\n", "JSON text"),
    ],
)
def test_batches_hold_events_in_the_form_that_fits(bench, folder, lines, form):
    (folder / "some.jsonl").write_text(lines)
    assert bench("subscriptions.csv", "some.jsonl")["batch"]["form"] == form


def test_null_is_not_taken_for_missing_in_batches(bench, folder):
    (folder / "null.csv").write_text("subscription,filter\na,venue is null\n")
    told = bench("null.csv", "events.jsonl")
    assert told["matches_per_event"] == 0.2
    assert told["batch"]["form"] == "JSON text"


def test_events_of_parquet_may_have_moments(bench, folder):
    pq.write_table(pa.table({"price": [1, 2], "seen": [datetime(2026, 1, 31)] * 2}), folder / "seen.parquet")
    assert bench("subscriptions.csv", "seen.parquet")["events"] == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["nothing.csv", "events.jsonl"],
        ["subscriptions.txt", "events.jsonl"],
        ["subscriptions.csv", "nothing.parquet"],
        ["other.csv", "events.jsonl"],
        ["subscriptions.csv", "other.parquet"],
        ["subscriptions.csv", "events.jsonl", "--schema", "no.json"],
    ],
    ids=" ".join,
)
def test_bad_files_are_reported_as_match_reports_them(run, folder, arguments):
    (folder / "other.csv").write_text("subscription,text\na,x = 1\n")
    (folder / "other.parquet").write_text("subscription,text\na,x = 1\n")
    benched, matched = run("bench", "match", *arguments), run("match", *arguments)
    assert (benched.returncode, benched.stdout) == (2, "")
    assert benched.stderr == matched.stderr
    assert benched.stderr.startswith("thatch: ")


def test_a_file_without_events_is_refused(run, folder):
    for content, reason in (("\n\n", "none.jsonl has no events"), ("\nno JSON\n", "All 1 rows were refused")):
        (folder / "none.jsonl").write_text(content)
        ran = run("bench", "match", "subscriptions.csv", "none.jsonl")
        assert (ran.returncode, ran.stdout) == (2, "")
        assert reason in ran.stderr


@pytest.mark.parametrize(
    "arguments", [["match"], ["match", "a", "b", "--limit", "0"], ["match", "a", "b", "--rounds", "x"]]
)
def test_wrong_arguments_are_reported_with_status_2(run, arguments):
    ran = run("bench", *arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "Error: " in ran.stderr


@pytest.mark.slow
def test_every_example_in_the_help_runs(run):
    shown = run("bench", "match", "--help").stdout
    examples = [line.split()[2:] for line in shown.splitlines() if line.strip().startswith("$ thatch ")]
    assert len(examples) == 3
    for example in examples:
        assert run(*example).returncode == 0
