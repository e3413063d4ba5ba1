"""`thatch match` without Spark, in a copy of examples/quotes."""

from __future__ import annotations

import gzip
import json
import shutil
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess

import pyarrow.parquet as pq
import pytest

from tests.app.here import QUOTES, run_here

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
def run(folder: Path) -> partial[CompletedProcess[str]]:
    """Runs `thatch` with arguments in the folder."""
    return partial(run_here, folder)


def objects(lines: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in lines.splitlines()]


def test_match_prints_a_json_line_for_each_event_that_somebody_wants(run):
    ran = run("match", "subscriptions.csv", "events.jsonl")
    assert objects(ran.stdout) == MATCHES
    assert (ran.returncode, ran.stderr) == (0, "")


def test_match_by_subscriber_names_each_once(run, folder):
    (folder / "more.jsonl").write_text('{"symbol": "IBM", "price": 120, "volume": 20000, "venue": "LSE"}\n')
    ran = run("match", "subscriptions.csv", "more.jsonl", "--by", "subscriber")
    assert objects(ran.stdout) == [{"event": 0, "matches": ["desk-7", "desk-3"]}]


def test_match_leaves_out_what_has_expired_by_the_clock_or_by_the_moment_given(run, folder):
    rows = ["subscription,filter,expires", "old,price > 0,1e9", "later,price > 0,1e12"]
    (folder / "expiring.csv").write_text("\n".join(rows) + "\n")
    (folder / "one.jsonl").write_text('{"price": 5}\n')
    for now, matched in (
        ((), ["later"]),
        (("--now", "999999999"), ["old", "later"]),
        (("--now", "2001-09-09T01:46:40Z"), ["later"]),
        (("--now", "2001-09-09T01:46:39+00:00"), ["old", "later"]),
    ):
        ran = run("match", "expiring.csv", "one.jsonl", *now)
        assert objects(ran.stdout) == [{"event": 0, "matches": matched}], ran.stderr
    for bad in ("soon", "2001-09-09T01:46:40"):
        ran = run("match", "expiring.csv", "one.jsonl", "--now", bad)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert "--now" in ran.stderr


def test_match_reads_events_from_standard_input(run, folder):
    ran = run("match", "subscriptions.csv", "-", stdin=(folder / "events.jsonl").read_text())
    assert objects(ran.stdout) == MATCHES


def test_match_writes_parquet(run, folder):
    before = {each.name for each in folder.iterdir()}
    ran = run("match", "subscriptions.csv", "events.jsonl", "--out", "matches.parquet", "--by", "subscriber")
    assert (ran.returncode, ran.stdout) == (0, "")
    assert ran.stderr == "4 matches written to matches.parquet\n"
    written = pq.read_table(folder / "matches.parquet")
    assert written.to_pydict() == {
        "event": [0, 1, 2, 3],
        "subscriber": ["desk-7", "desk-7", "desk-9", "desk-3"],
    }
    assert str(written.schema.field("event").type) == "int64"
    assert {each.name for each in folder.iterdir()} == before | {"matches.parquet"}


def test_match_writes_json_lines_over_an_old_file_only_when_asked(run, folder):
    (folder / "matches.jsonl").write_text("old\n")
    before = (folder / "matches.jsonl").read_text()
    ran = run("match", "subscriptions.csv", "events.jsonl", "--out", "matches.jsonl")
    assert (ran.returncode, (folder / "matches.jsonl").read_text()) == (2, before)
    assert "matches.jsonl already exists (to replace it: --overwrite" in ran.stderr
    run("match", "subscriptions.csv", "events.jsonl", "--out", "matches.jsonl", "--overwrite")
    assert objects((folder / "matches.jsonl").read_text()) == MATCHES


def test_match_reads_packed_csv_and_takes_empty_fields_as_reported(run, folder):
    (folder / "subscriptions.jsonl").write_text(
        '{"subscription": "missing", "filter": "venue is missing"}\n'
        '{"subscription": "null", "filter": {"venue": [null]}}\n'
        '{"subscription": "code", "filter": "code = \'007\'"}\n'
    )
    (folder / "events.csv.gz").write_bytes(gzip.compress(b"code,venue\n007,\n008,LSE\n"))
    missing = run("match", "subscriptions.jsonl", "events.csv.gz")
    null = run("match", "subscriptions.jsonl", "events.csv.gz", "--nulls", "null")
    assert objects(missing.stdout) == [{"event": 0, "matches": ["missing", "code"]}]
    assert objects(null.stdout) == [{"event": 0, "matches": ["null", "code"]}]


def test_match_knows_declared_types(run, folder):
    (folder / "schema.json").write_text('{"price": {"type": "Integer", "minimum": 0, "maximum": 1000}}')
    ran = run("match", "subscriptions.csv", "events.jsonl", "--schema", "schema.json")
    assert [each["event"] for each in objects(ran.stdout)] == [0, 1, 3]  # 620000 is past the maximum


def test_match_reports_the_rows_that_it_skips(run, folder):
    with (folder / "subscriptions.csv").open("a") as stream:
        stream.write("bad,desk-1,price ==\ncheap-ibm,desk-1,price > 0\nshort\n")
    lines = [
        "{",
        '{"symbol": "IBM", "price": 1}',
        "[]",
        '{"a": 1, "a": 2}',
        '{"a": {"b": 1}, "a.b": 2}',
        "x",
        "y",
    ]
    ran = run("match", "subscriptions.csv", "-", stdin="\n".join(lines))
    assert ran.returncode == 0
    assert objects(ran.stdout) == [{"event": 1, "matches": ["cheap-ibm"]}]
    assert "3 subscriptions of subscriptions.csv were refused" in ran.stderr
    for words in (
        "row 4: Expected a comparison",
        "row 5: Duplicate id 'cheap-ibm'",
        "row 6: Expected 3 fields, got 1",
    ):
        assert words in ran.stderr
    for words in (
        "6 rows of - are not events and were skipped:\n  row 0: Expected JSON",
        "\n  row 2: ",
        "\n  row 3: ",
        "\n  row 4: Expected each path",
    ):
        assert words in ran.stderr
    assert "  ... and 1 more\n" in ran.stderr


def test_ids_with_signs_and_smileys_come_out_as_they_are(run, folder):
    (folder / "odd.csv").write_text(
        'subscription,filter\n":smile: [bold]é\U0001f600",price > 0\n"[b]:x:",price ==\n'
    )
    ran = run("match", "odd.csv", "-", stdin='{"price": 1}\n{"a": ":smile: [bold]" "b"}')
    assert objects(ran.stdout) == [{"event": 0, "matches": [":smile: [bold]é\U0001f600"]}]
    assert ":smile: [bold]" in ran.stderr


@pytest.mark.parametrize("out", ["matches.parquet", "matches.jsonl"])
def test_nothing_is_written_to_out_when_the_job_fails(run, folder, out):
    (folder / out).write_text("old")
    packed = gzip.compress(b'{"symbol": "IBM", "price": 1}\n' * 10_000)
    (folder / "cut.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    before = sorted(folder.rglob("*"))
    ran = run("match", "subscriptions.csv", "cut.jsonl.gz", "--out", out, "--overwrite")
    assert ran.returncode == 2
    assert "ended before" in ran.stderr
    assert (folder / out).read_text() == "old"
    assert sorted(folder.rglob("*")) == before
