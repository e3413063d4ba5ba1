"""`thatch match --spark`, as people run it."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import thatch
from tests.app.here import QUOTES, run_here
from tests.integration.browser import browser, browser_process  # noqa: F401 - fixtures
from thatch.app.cli.commands import app
from thatch.formats.events import read_events
from thatch.formats.folders import read_manifest
from thatch.formats.subscriptions import read_subscriptions

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.xdist_group("spark"),
    pytest.mark.usefixtures("spark"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The quotes of the examples, with two lines that are none."""
    made = Path(shutil.copytree(QUOTES, tmp_path_factory.mktemp("match") / "quotes"))
    with (made / "events.jsonl").open("a") as log:
        log.write('{"symbol": \n["no", "object"]\n')
    return made


@pytest.fixture(scope="module")
def matched(folder) -> Path:
    ran = run_here(folder, "match", "subscriptions.csv", "events.jsonl", "--spark", "--out", "found")
    assert ran.returncode == 0, ran.stderr
    assert "2 rows of events.jsonl are not events and were skipped" in ran.stderr
    assert "found/report.html" in ran.stdout
    return folder / "found"


def embedded(folder: Path) -> list[tuple[int, str]]:
    engine = thatch.Engine.from_table(read_subscriptions(str(folder / "subscriptions.csv")).table)
    events = read_events(str(folder / "events.jsonl"), lambda *_: None)
    return sorted((row, name) for row, event in events for name in engine.match(event))


def test_pairs_have_the_rows_of_the_file_as_the_embedded_command_counts_them(folder, matched):
    found = pq.read_table(matched / "matches")
    pairs = sorted(zip(found["event"].to_pylist(), found["subscription"].to_pylist(), strict=True))
    assert pairs == embedded(folder)
    refused = pq.read_table(matched / "refused")
    lines = (folder / "events.jsonl").read_text().splitlines()
    assert refused["row"].to_pylist() == [len(lines) - 2, len(lines) - 1]
    assert "JSON" in refused["reason"][0].as_py()


def test_the_manifest_reports_what_was_asked(matched):
    manifest = read_manifest(matched, "match")
    assert manifest["command"] == "thatch match subscriptions.csv events.jsonl --spark --out found"
    assert manifest["rows"]["refused"] == 2


@pytest.fixture(scope="module")
def loaded(folder) -> Path:
    assert run_here(folder, "load", "subscriptions.csv", "--out", "loaded").returncode == 0
    return folder / "loaded"


@pytest.fixture(scope="module")
def timed(folder) -> Path:
    rows = [
        {"symbol": "IBM", "price": 120, "at": f"2026-01-0{1 + n // 24}T{n % 24:02d}:15:00Z"}
        for n in range(72)
    ]
    (folder / "timed.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["--spark", "--give", "hours", "--time", "at", "--out", "hours"]
    ran = run_here(folder, "match", "subscriptions.csv", "timed.jsonl", *arguments)
    assert ran.returncode == 0, ran.stderr
    return folder / "hours"


@pytest.mark.usefixtures("loaded")
def test_a_loaded_folder_is_matched_by_its_index_and_counted(folder):
    ran = run_here(
        folder, "match", "loaded", "events.jsonl", "--spark", "--give", "counts", "--out", "counted"
    )
    assert ran.returncode == 0, ran.stderr
    found = pq.read_table(folder / "counted" / "matches")
    counted = dict(zip(found["subscription"].to_pylist(), found["events"].to_pylist(), strict=True))
    names = [name for _, name in embedded(folder)]
    assert counted == {name: names.count(name) for name in counted}
    assert set(names) <= set(counted)


def test_hours_count_deliveries(timed):
    found = pq.read_table(timed / "matches")
    assert found.num_rows == 72 * len(set(found["subscriber"].to_pylist()))
    assert set(found["events"].to_pylist()) == {1}


@pytest.mark.browser
def test_the_reports_open_in_a_browser_with_pictures_and_ask_nobody(matched, timed, loaded, browser):  # noqa: F811 - a fixture
    for written in (matched, timed, loaded):
        page = browser.open((written / "report.html").as_uri())
        assert page.problems == []
        assert page.hosts <= {""}
        assert page.evaluate("document.querySelectorAll('.plot svg.drawing').length") > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["subscriptions.csv", "events.jsonl", "--spark"], "--spark needs an output folder"),
        (["subscriptions.csv", "nothing.jsonl", "--spark", "--out", "new"], "nothing.jsonl"),
        (["nothing.csv", "events.jsonl", "--spark", "--out", "new"], "nothing.csv"),
        (["subscriptions.csv", "events.jsonl", "--give", "counts"], "--master need --spark"),
        (
            ["subscriptions.csv", "events.jsonl", "--spark", "--by", "subscriber", "--out", "new"],
            "--give hours",
        ),
        (["subscriptions.csv", "events.jsonl", "--spark", "--give", "hours", "--out", "new"], "`time` with"),
        (["found", "events.jsonl", "--spark", "--out", "new"], "a folder of kind load"),
        (["subscriptions.csv", "events.jsonl", "--spark", "--out", "found"], "already exists"),
    ],
)
def test_invalid_options_exits_with_status_2_and_leaves_nothing(folder, matched, arguments, message):
    before = sorted(folder.iterdir())
    ran = run_here(folder, "match", *arguments)
    assert ran.returncode == 2
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr
    assert sorted(folder.iterdir()) == before


def spark_examples() -> list[str]:
    """The examples in the help that need Spark, those of one command after each other."""
    commands = app.commands  # type: ignore[attr-defined]
    lines = [
        (name, line.strip())
        for name in ("load", "match", "profile", "place")
        for line in commands[name].help.splitlines()
    ]
    return [
        line[2:]
        for name, line in lines
        if line.startswith("$ ") and ("--spark" in line or name in ("load", "profile"))
    ]


def test_every_example_in_the_help_that_needs_spark_runs(tmp_path):
    folder = Path(shutil.copytree(QUOTES, tmp_path / "quotes"))
    examples = spark_examples()
    assert len(examples) >= 6
    for example in examples:
        here = example.replace("local[2]", "local[1]")  # where the session of all tests runs
        ran = run_here(folder, *shlex.split(here)[1:])
        assert ran.returncode == 0, f"{example}\n{ran.stderr}"


def test_sigma_rules_are_read_here_and_matched_on_spark(folder):
    rules = folder / "rules"
    rules.mkdir()
    text = "title: t\nid: 00000000-0000-4000-8000-000000000001\nlogsource: {product: x}\ndetection:\n  sel: {symbol: ibm}\n  condition: sel\n"
    (rules / "a.yml").write_text(text)
    (rules / "b.yml").write_text(text.replace("symbol", "symbol|no"))
    ran = run_here(folder, "match", "rules", "events.jsonl", "--spark", "--out", "ruled")
    assert ran.returncode == 0, ran.stderr
    assert "1 subscriptions of rules were refused" in ran.stderr
    engine = thatch.Engine()
    engine.subscribe("00000000-0000-4000-8000-000000000001", "lower(symbol) = 'ibm'")
    events = read_events(str(folder / "events.jsonl"), lambda *_: None)
    wanted = sorted((row, name) for row, event in events for name in engine.match(event))
    found = pq.read_table(folder / "ruled" / "matches").select(["event", "subscription"]).to_pylist()
    assert sorted((each["event"], each["subscription"]) for each in found) == wanted
    assert wanted
