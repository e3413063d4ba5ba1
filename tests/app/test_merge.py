"""`thatch reduce --merge`, as people run it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.app.here import run_here
from thatch import parse
from thatch.formats.folders import read_manifest

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.xdist_group("spark"),
    pytest.mark.usefixtures("spark"),
]

SUBSCRIPTIONS = """subscription,subscriber,filter,expires
ibm-low,desk-7,symbol = 'IBM' and price < 10,
ibm-ten,desk-8,symbol = 'IBM' and price = 10,
ibm-mid,,symbol = 'IBM' and price between 12 and 20,
ibm-high,,symbol = 'IBM' and price > 90,
broken,,price >,
ibm-five,,symbol = 'IBM' and price = 5,
merger-9,desk-9,venue = 'X' and size > 100,1e12
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_here(folder, "reduce", "subscriptions.csv", *arguments, "--master", "local[1]")


@pytest.fixture(scope="module")
def merged(spark, tmp_path_factory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("merge")
    (folder / "subscriptions.csv").write_text(SUBSCRIPTIONS)
    events = [{"symbol": "IBM", "price": 30 + number % 50} for number in range(300)]
    events += [{"symbol": "SAP", "price": number % 50} for number in range(1_700)]
    lines = [json.dumps(event) for event in events]
    (folder / "log.jsonl").write_text("\n".join([*lines, "no event"]) + "\n")
    ended = run(folder, "--out", "merged", "--merge", "--budget", "0.02", "--events", "log.jsonl")
    return folder, ended


def test_what_is_cheap_is_merged_and_what_is_dear_is_not(merged):
    folder, ended = merged
    assert ended.returncode == 0, ended.stderr
    assert "1 rows of the log are not events" in ended.stderr
    lines = ended.stdout.splitlines()
    assert (
        lines[0] == "6 subscriptions: 5 needed, the others redundant (1 covered by one other, 0 by several)"
    )
    assert lines[1] == ("3 rows to forward: 1 mergers of 3 subscriptions (0 of them perfect), 2 unchanged")
    assert lines[2].startswith("false positives: 0.0000% of ")
    assert lines[2].endswith("with 95 % confidence, budget 2.0000%")
    active = pq.read_table(folder / "merged" / "active").to_pylist()
    assert [(each["subscription"], each["parts"], each["expires"]) for each in active] == [
        ("merger--0", ["ibm-low", "ibm-ten", "ibm-mid"], None),  # an id begins with `merger-` already
        ("ibm-high", [], None),
        ("merger-9", [], 1e12),
    ]
    assert parse(active[0]["filter"]) == parse("symbol = 'IBM' and price <= 20")
    assert (active[0]["merged_on"], active[1]["in_vain"]) == ("price", 0.0)
    parts = pq.read_table(folder / "merged" / "merged").to_pylist()
    assert [(each["subscription"], each["subscriber"], each["merger"]) for each in parts] == [
        ("ibm-low", "desk-7", "merger--0"),
        ("ibm-ten", "desk-8", "merger--0"),
        ("ibm-mid", None, "merger--0"),
    ]
    passive = pq.read_table(folder / "merged" / "passive").to_pylist()
    assert [(each["subscription"], each["proof"]) for each in passive] == [("ibm-five", ["ibm-low"])]


def test_the_frontier_the_page_and_the_manifest_report_the_same(merged):
    folder = merged[0] / "merged"
    frontier = pq.read_table(folder / "frontier.parquet").to_pylist()
    assert [(each["size"], each["chosen"]) for each in frontier] == [(4, False), (3, True), (2, False)]
    assert [each["measured"] for each in frontier][:2] == [0.0, 0.0]
    assert 0.1 < frontier[2]["measured"] < 0.2 < frontier[2]["upper_bound"] + 0.05
    assert frontier[1]["upper_bound"] < 0.02
    manifest = read_manifest(folder, "reduce")
    assert manifest["rows"] == {"active": 3, "merged": 3, "passive": 1, "rejects": 1, "frontier.parquet": 3}
    assert manifest["parameters"]["budget"] == 0.02
    html = (folder / "report.html").read_text()
    for expected in ("What can be chosen", "Table size and false positives", "upper 95 % bound", "ibm-low"):
        assert expected in html


def test_nothing_that_anybody_wants_is_lost_and_what_passes_needlessly_is_counted(merged):
    folder, ended = merged
    wanted = [parse(line.split(",")[2]) for line in SUBSCRIPTIONS.splitlines()[1:] if "broken" not in line]
    table = pq.read_table(folder / "merged" / "active").column("filter").to_pylist()
    passing = [parse(text) for text in table]
    prices = (*range(-1, 100), 10.5, 19.99)
    events = [{"symbol": "IBM", "price": each} for each in prices] + [{"venue": "X", "size": 101}]
    for event in events:
        if any(each.matches(event) for each in wanted):
            assert any(each.matches(event) for each in passing)
    # All gaps closed, the 300 events between 20 and 90 pass in vain: in one half of the log or the other.
    held = int(ended.stdout.splitlines()[2].split(" of ")[1].split()[0].replace(",", ""))
    last = pq.read_table(folder / "merged" / "frontier.parquet").to_pylist()[-1]
    assert last["measured"] * held + last["trained"] * (2_000 - held) == pytest.approx(300)


def test_wrong_options_exit_with_status_2_and_leave_nothing(merged):
    folder, _ = merged
    before = sorted(folder.iterdir())
    for wrong, message in (
        (("--out", "other", "--merge", "--budget", "1.5"), "a share of events between 0 and 1"),
        (("--out", "other", "--budget", "0.02"), "at least 1 cell"),
        (("--out", "other", "--events", "log.jsonl"), "--events and --profile need --merge"),
        (("--out", "other", "--merge", "--budget", "0.1", "--profile", "none"), "none"),
    ):
        ended = run(folder, *wrong)
        assert (ended.returncode, ended.stdout) == (2, ""), ended.stderr
        assert message in ended.stderr
        assert "Traceback" not in ended.stderr
    assert sorted(folder.iterdir()) == before
