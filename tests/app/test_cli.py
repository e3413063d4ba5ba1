"""The `thatch` command as people run it: a process of its own, in a copy of examples/quotes."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import thatch
from thatch.app.cli import app, main

pytestmark = pytest.mark.slow  # a process each

QUOTES = Path(__file__).parents[2] / "examples" / "quotes"
THATCH = Path(sys.executable).with_name("thatch")
ON_SPARK = ("load", "profile", "reduce")
COMMANDS = ("match", "explain", "check", "demo", "load", "profile", "reduce", "place", "simulate", "serve")

MATCHES = [
    {"event": 0, "matches": ["cheap-ibm"]},
    {"event": 1, "matches": ["tech-surge"]},
    {"event": 2, "matches": ["dear-any"]},
    {"event": 3, "matches": ["lse"]},
]

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(QUOTES, tmp_path / "quotes"))


@pytest.fixture
def run(folder: Path) -> Run:
    """Runs `thatch` with arguments in the folder."""

    def runs(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [THATCH, *arguments],
            cwd=folder,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )

    return runs


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
    assert tuple(command.callback.__name__ for command in app.registered_commands) == COMMANDS
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
        ran = in_shell(example, folder)
        assert (ran.returncode, "Traceback" in ran.stderr) == (0, False), f"{example}\n{ran.stderr}"


def test_the_version_is_told(run):
    assert run("--version").stdout == f"{thatch.__version__}\n"


# --- match -----------------------------------------------------------------------------------------------------


def test_match_prints_a_json_line_for_each_event_that_somebody_wants(run):
    ran = run("match", "subscriptions.csv", "events.jsonl")
    assert objects(ran.stdout) == MATCHES
    assert (ran.returncode, ran.stderr) == (0, "")


def test_match_by_subscriber_names_each_once(run, folder):
    (folder / "more.jsonl").write_text('{"symbol": "IBM", "price": 120, "volume": 20000, "venue": "LSE"}\n')
    ran = run("match", "subscriptions.csv", "more.jsonl", "--by", "subscriber")
    assert objects(ran.stdout) == [{"event": 0, "matches": ["desk-7", "desk-3"]}]


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


def test_match_writes_json_lines_over_an_old_file(run, folder):
    (folder / "matches.jsonl").write_text("old\n")
    run("match", "subscriptions.csv", "events.jsonl", "--out", "matches.jsonl")
    assert objects((folder / "matches.jsonl").read_text()) == MATCHES


def test_match_reads_packed_csv_and_takes_empty_fields_as_told(run, folder):
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


def test_match_tells_what_it_leaves_out(run, folder):
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
        "row 5: Expected each id once",
        "row 6: Expected 3 fields, got 1",
    ):
        assert words in ran.stderr
    for words in (
        "row 0 of - left out: Expected JSON",
        "row 2 of -",
        "row 3 of -",
        "row 4 of - left out: Expected each path",
    ):
        assert words in ran.stderr
    assert "... and 1 more rows" in ran.stderr


def test_ids_with_signs_and_smileys_come_out_as_they_are(run, folder):
    (folder / "odd.csv").write_text(
        'subscription,filter\n":smile: [bold]é\U0001f600",price > 0\n"[b]:x:",price ==\n'
    )
    ran = run("match", "odd.csv", "-", stdin='{"price": 1}\n{"a": ":smile: [bold]" "b"}')
    assert objects(ran.stdout) == [{"event": 0, "matches": [":smile: [bold]é\U0001f600"]}]
    assert ":smile: [bold]" in ran.stderr


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


# --- explain and check -----------------------------------------------------------------------------------------


def test_explain_tells_which_condition_failed_and_the_value_seen(run):
    ran = run("explain", "symbol = 'IBM' and price < 150", '{"symbol": "IBM", "price": 180}')
    assert ran.returncode == 0
    assert ran.stdout.splitlines()[0] == "does not match"
    assert "no  price < 150     saw 180" in ran.stdout
    assert "yes symbol = 'IBM'  saw 'IBM'" in ran.stdout


def test_explain_knows_patterns_and_ids(run):
    pattern = run("explain", '{"price": [{"numeric": ["<", 150]}]}', '{"price": 120}')
    known = run("explain", "lse", '{"venue": "LSE"}', "--subscriptions", "subscriptions.csv")
    assert [ran.stdout.splitlines()[0] for ran in (pattern, known)] == ["matches", "matches"]


def test_check_counts_good_filters(run):
    ran = run("check", "subscriptions.csv")
    assert (ran.returncode, ran.stdout) == (0, "4 filters accepted, 0 refused, 0 warnings\n")


def test_check_warns_of_what_does_nothing(run, folder):
    (folder / "odd.csv").write_text(
        "subscription,filter\n"
        "a,x = 1\n"
        "b,x = 1.0\n"
        "c,x > 5\n"
        "d,x > 10 and y = 1\n"
        "e,y = 1 or (y = 2 and y = 3)\n"
        "f,z > 1 or (z > 2 and w = 1)\n"
    )
    ran = run("check", "odd.csv")
    *warnings, last = ran.stdout.splitlines()
    assert (ran.returncode, last) == (0, "6 filters accepted, 0 refused, 4 warnings")
    assert warnings[:2] == ["row 1: warning: b: equal to a", "row 3: warning: d: covered by c"]
    assert warnings[2].startswith("row 4: warning: e: an alternative can never hold: ")
    assert warnings[3].startswith("row 5: warning: f: an alternative adds nothing: ")


def test_check_tells_every_refused_filter_and_ends_with_status_1(run, folder):
    (folder / "bad.csv").write_text(
        "subscription,filter\na,x = 1\nb,x ==\na,x = 2\nc,x = 1 and x = 2\nd\n,x = 1\ne,\nf,bid > ask\n"
    )
    ran = run("check", "bad.csv")
    assert ran.returncode == 1
    assert ran.stdout.splitlines()[-1] == "1 filters accepted, 7 refused, 0 warnings"
    for words in (
        "row 1: error: b: Expected a comparison",
        "  x ==\n    ^\n",
        "row 2: error: a: Expected each id once, got it in row 0 too",
        "row 3: error: c: Expected a filter that some event can match",
        "row 4: error: Expected 2 fields, got 1",
        "row 5: error: Expected text as `subscription`, got null",
        "row 6: error: Expected text as `filter`, got null",
        "row 7: error: f: Expected",
    ):
        assert words in ran.stdout


# --- bad input -------------------------------------------------------------------------------------------------

BAD_INPUT = {
    "a missing file": (["match", "nothing.csv", "events.jsonl"], "No such file"),
    "an unknown ending": (["match", "subscriptions.txt", "events.jsonl"], "a file ending in"),
    "missing events": (["match", "subscriptions.csv", "nothing.parquet"], "No such file"),
    "no column of filters": (["match", "other.csv", "events.jsonl"], "a column `filter`"),
    "a file that is not Parquet": (["match", "subscriptions.csv", "other.parquet"], "a Parquet file"),
    "an empty file": (["check", "empty.csv"], "names the columns"),
    "ids that are no text": (["check", "numbers.parquet"], "column `subscription`"),
    "an out of unknown ending": (["match", "subscriptions.csv", "events.jsonl", "--out", "a.csv"], "--out"),
    "an out without a folder": (["match", "subscriptions.csv", "events.jsonl", "--out", "no/a.jsonl"], "be written"),
    "an out that is a folder": (["match", "subscriptions.csv", "events.jsonl", "--out", "folder.parquet"], "be written"),
    "a missing schema": (["match", "subscriptions.csv", "events.jsonl", "--schema", "no.json"], "No such file"),
    "a deep schema": (["check", "subscriptions.csv", "--schema", "deep.json"], "a schema such as"),
    "a wrong schema": (["check", "subscriptions.csv", "--schema", "wrong.json"], "minimum <= maximum, got 5 > 1"),
    "a filter that does not parse": (["explain", "price ~ 3", "{}"], "line 1, column 7"),
    "a wrong pattern": (["explain", '{"price": [{"near": 5}]}', "{}"], "the match type 'near' - at price"),
    "a filter that never matches": (["explain", "x = 1 and x = 2", "{}"], "never matches"),
    "an event that is not JSON": (["explain", "price < 3", "{"], "an event as JSON"),
    "an event that is no object": (["explain", "price < 3", "[]"], "an object"),
    "an event past all depth": (["explain", "price < 3", "[" * 100_000], "an event as JSON"),
    "an unknown id": (["explain", "no", "{}", "--subscriptions", "subscriptions.csv"], "the id of a subscription"),
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


@pytest.fixture
def run_here(folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs what the `thatch` script runs in this process, which is quicker where many commands are tried."""
    monkeypatch.chdir(folder)

    def runs(*arguments: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["thatch", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return subprocess.CompletedProcess(arguments, ended.value.code, *capfd.readouterr())

    return runs


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_is_told_in_one_sentence_and_ends_with_status_2(name, run_here, folder, bad_files):
    arguments, words = BAD_INPUT[name]
    before = sorted(folder.rglob("*"))
    ran = run_here(*arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("thatch: Expected ")
    assert words in ran.stderr
    assert len(ran.stderr) < 500
    assert sorted(folder.rglob("*")) == before


def test_bad_input_ends_a_process_without_a_traceback(run):
    ran = run("match", "subscriptions.csv", "nothing.jsonl")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        "thatch: Expected a file that can be read, got [Errno 2] No such file or directory: 'nothing.jsonl'"
        " - at nothing.jsonl\n"
    )


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
def test_wrong_arguments_are_told_with_status_2(arguments, run_here):
    ran = run_here(*arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "Error: " in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("out", ["matches.parquet", "matches.jsonl"])
def test_nothing_is_written_to_out_when_the_job_fails(run, folder, out):
    (folder / out).write_text("old")
    packed = gzip.compress(b'{"symbol": "IBM", "price": 1}\n' * 10_000)
    (folder / "cut.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    before = sorted(folder.rglob("*"))
    ran = run("match", "subscriptions.csv", "cut.jsonl.gz", "--out", out)
    assert ran.returncode == 2
    assert "ended before" in ran.stderr
    assert (folder / out).read_text() == "old"
    assert sorted(folder.rglob("*")) == before


# --- the other end of standard output --------------------------------------------------------------------------


def test_a_reader_that_stops_early_is_met_in_silence(folder):
    (folder / "many.jsonl").write_text('{"symbol": "IBM", "price": 1}\n' * 20_000)
    ran = in_shell("thatch match subscriptions.csv many.jsonl | head -1", folder)
    assert objects(ran.stdout) == [{"event": 0, "matches": ["cheap-ibm"]}]
    assert ran.stderr == ""


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
    assert (ran.returncode, ran.stderr) == (1, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_told_in_one_sentence(folder):
    ran = in_shell("thatch match subscriptions.csv events.jsonl > /dev/full", folder)
    assert ran.returncode == 2
    assert ran.stderr.startswith("thatch: ")
    assert len(ran.stderr.splitlines()) == 1


# --- demo ------------------------------------------------------------------------------------------------------


def test_the_demo_tells_its_rates_and_explains_a_quote(run):
    ran = run("demo", "--subscriptions", "500", "--seconds", "0.2")
    assert ran.returncode == 0
    assert "quotes against 500 alerts" in ran.stdout
    assert "Subscribing 500 alerts" in ran.stderr


def test_the_demo_runs_without_alerts_and_without_time(run):
    ran = run("demo", "--subscriptions", "0", "--seconds", "0")
    assert (ran.returncode, ran.stdout.partition(":")[0]) == (0, "0 quotes against 0 alerts")
