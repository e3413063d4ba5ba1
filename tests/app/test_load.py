"""`thatch load`, as people run it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import thatch
from tests.app.here import run_here
from thatch.formats.folders import read_manifest
from thatch.formats.plan import read_plan
from thatch.formats.profile import write_profile
from thatch.model.profile import Profile

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.xdist_group("spark"),
    pytest.mark.usefixtures("spark"),
]


SUBSCRIPTIONS = """subscription,subscriber,filter,expires
cheap,desk-7,symbol = 'IBM' and price < 150,
dear,desk-8,price > 100,1e12
broken,,price >,
cheap,,price = 1,
,,price = 2,
many,,"symbol in ('IBM', 'MSFT') or lower(name) like 'a%b'",
few
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_here(folder, "load", *arguments)


@pytest.fixture(scope="module", params=["--no-spark", "--spark"])
def loaded(spark, tmp_path_factory, request) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("load")
    (folder / "subscriptions.csv").write_text(SUBSCRIPTIONS)
    return folder, run(folder, "subscriptions.csv", "--out", "loaded", request.param)


def test_a_folder_is_written_and_reported(loaded):
    folder, ended = loaded
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[0] == "3 subscriptions accepted, 4 refused"
    assert "loaded/report.html" in ended.stdout
    assert "4 rows of subscriptions.csv were refused" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "WARN" not in ended.stderr
    assert sorted(each.name for each in folder.iterdir()) == ["loaded", "subscriptions.csv"]


def test_accepted_and_refused_rows_are_tables(loaded):
    out = loaded[0] / "loaded"
    accepted = pq.read_table(out / "subscriptions").to_pylist()
    assert [(each["row"], each["subscription"]) for each in accepted] == [
        (0, "cheap"),
        (1, "dear"),
        (5, "many"),
    ]
    assert accepted[1]["expires"] == 1e12
    rejects = pq.read_table(out / "rejects").to_pylist()
    assert [each["row"] for each in rejects] == [2, 3, 4, 6]
    assert "each id once" in rejects[1]["reason"]
    assert rejects[1]["filter"] == "price = 1"


def test_the_index_is_an_engine_of_all_accepted(loaded):
    engine = thatch.Engine.open(loaded[0] / "loaded" / "index.thatch")
    assert engine.match({"symbol": "IBM", "price": 120}) == ["cheap", "dear", "many"]
    assert engine.match({"symbol": "IBM", "price": 120}, by="subscriber") == ["desk-7", "desk-8", "many"]


def test_manifest_and_report_report_what_was_done(loaded):
    manifest = read_manifest(loaded[0] / "loaded", "load")
    assert manifest["command"].startswith("thatch load subscriptions.csv --out loaded")
    assert manifest["rows"] == {"subscriptions": 3, "rejects": 4}
    assert {"index.thatch", "report.html"} < set(manifest["files"])
    html = (loaded[0] / "loaded" / "report.html").read_text()
    assert "Expected each id once in the table" in html
    assert "lower(name)" in html
    assert "http" not in html.partition("<body")[0].replace("http-equiv", "")


def test_errors_exit_with_status_2_and_leave_nothing(loaded):
    folder, _ = loaded
    before = sorted(folder.iterdir())
    missing = run(folder, "nothing.csv", "--out", "other")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "nothing.csv" in missing.stderr
    assert "Traceback" not in missing.stderr
    assert sorted(folder.iterdir()) == before


def test_what_was_loaded_is_placed_alike_here_and_on_spark(loaded, tmp_path):
    events = [{"price": number, "symbol": "IBM" if number % 2 else "MSFT"} for number in range(200)]
    write_profile(tmp_path / "profile", Profile.of(events))
    (tmp_path / "locations.csv").write_text("subscriber,x\ndesk-7,-2\ndesk-8,2\nmany,1\n")
    (tmp_path / "tree.yaml").write_text(
        "root: hub\nbrokers: [{name: hub, location: [0]}, {name: west, location: [-2]}, {name: east, location: [2]}]\n"
        "links: [[hub, west], [hub, east]]\n"
    )
    plans = []
    for name, more in (("here", ()), ("there", ("--spark", "--master", "local[1]"))):
        ended = run_here(
            tmp_path, "place", str(loaded[0] / "loaded"), "--tree", "tree.yaml", "--locations", "locations.csv",
            "--profile", "profile", "--algorithm", "gr_star", "--out", name, *more,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        assert "3 subscribers on 2 brokers" in ended.stdout
        plans.append(read_plan(tmp_path / name))
    here, there = plans
    assert here.subscribers == there.subscribers == ("desk-7", "desk-8", "many")
    assert here.filters == there.filters
    assert here.assignment.tolist() == there.assignment.tolist()
    assert here.filters[here.tree.names.index(here.broker_of("desk-8"))].covers(thatch.parse("price > 100"))
    assert "single attributes in the profile" in here.statistics["density"]
