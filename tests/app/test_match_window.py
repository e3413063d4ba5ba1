"""`thatch match --window`: alerts instead of matches."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess

import pyarrow.parquet as pq
import pytest

from tests.app.here import run_here

RULES = "subscription,filter\nfailed,ok = false\nlog in,ok = true\n"
EVENTS = [
    {"time": "2026-01-31T12:00:00Z", "user": "ann", "ip": "a", "ok": False},
    {"time": "2026-01-31T12:00:20Z", "user": "ann", "ip": "b", "ok": False},
    {"time": "2026-01-31T12:00:10Z", "user": "ann", "ip": "c", "ok": False},
    {"time": "2026-01-31T12:00:30Z", "user": "ann", "ip": "a", "ok": True},
    {"time": "2026-01-31T12:00:31Z", "ip": "a", "ok": False},
    {"user": "bob", "ok": False},
    {"user": "bob", "ok": None},
]
COUNTED = {
    "subscription": "failed",
    "key": {"user": "ann"},
    "first": "2026-01-31T12:00:00Z",
    "last": "2026-01-31T12:00:20Z",
    "count": 3,
}


@pytest.fixture
def run(tmp_path: Path) -> partial[CompletedProcess[str]]:
    """Runs `thatch match rules.csv events.jsonl` with further arguments."""
    (tmp_path / "rules.csv").write_text(RULES)
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(each) + "\n" for each in EVENTS))
    return partial(run_here, tmp_path, "match", "rules.csv", "events.jsonl")


def objects(lines: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in lines.splitlines()]


def test_alerts_are_printed_and_what_did_not_count_is_told(run):
    ran = run("--window", "count 3 in 1m by user", "--lateness", "10s")
    assert (ran.returncode, objects(ran.stdout)) == (0, [COUNTED])
    assert "1 rows of events.jsonl are not events" in ran.stderr
    assert "- at time" in ran.stderr
    assert "1 events that match lack an attribute of the window" in ran.stderr
    assert "late" not in ran.stderr


def test_late_events_are_told(run):
    ran = run("--window", "count 3 in 1m by user")
    assert ran.stdout == ""
    assert "1 events came too late to count: --lateness waits for them" in ran.stderr


def test_distinct_values_and_sequences(run):
    ran = run("--window", "distinct ip 2 of failed in 1m", "--lateness", "1m")
    assert [each["values"] for each in objects(ran.stdout)] == [["a", "c"], ["a", "b"]]
    ran = run("--window", "sequence failed, 'log in' in 5s by user", "--lateness", "1m")
    assert objects(ran.stdout) == []
    ran = run("--window", "sequence failed, 'log in' in 10s by user", "--lateness", "1m")
    assert [each["first"][-4:] for each in objects(ran.stdout)] == [":20Z"]


def test_the_time_may_be_another_attribute(run, tmp_path):
    (tmp_path / "events.jsonl").write_text('{"at": {"s": 5}, "ok": true}\n')
    ran = run("--window", "count 1 in 1s", "--time", "at.s")
    assert [each["last"] for each in objects(ran.stdout)] == ["1970-01-01T00:00:05Z"]


def test_alerts_are_written_to_files(run, tmp_path):
    window = ("--window", "count 3 in 1m by user", "--lateness", "10s", "--out")
    assert "1 alerts written to a.jsonl" in run(*window, "a.jsonl").stderr
    assert objects((tmp_path / "a.jsonl").read_text()) == [COUNTED]
    assert run(*window, "a.parquet").returncode == 0
    (row,) = pq.read_table(tmp_path / "a.parquet").to_pylist()
    assert (json.loads(row["key"]), row["count"], row["values"]) == ({"user": "ann"}, 3, None)
    assert row["last"].isoformat() == "2026-01-31T12:00:20+00:00"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--window", "count many in 1m"], "Expected a whole number, got `many`"),
        (["--window", "count 5 of nobody in 1m"], "Expected the id of a subscription, got 'nobody'"),
        (["--window", "count 5 in 1m", "--lateness", "long"], "lateness"),
        (["--window", "count 5 in 1m", "--spark", "--out", "x"], "--window does not work with --spark"),
        (["--window", "count 5 in 1m", "--by", "subscriber"], "do not work with --window"),
        (["--lateness", "5s"], "--lateness needs --window"),
    ],
)
def test_what_makes_no_sense_is_refused(run, arguments, message):
    ran = run(*arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert message in ran.stderr
