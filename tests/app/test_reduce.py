"""`thatch reduce`, as people run it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.app.here import run_here
from thatch.formats.folders import read_manifest

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.xdist_group("spark"),
    pytest.mark.usefixtures("spark"),
]

SUBSCRIPTIONS = """subscription,subscriber,filter,expires
low,desk-7,price <= 50,
high,desk-8,price > 50,1e12
broken,,price >,
middle,,price between 10 and 90,
cheap,desk-7,price < 20 and symbol = 'IBM',
low,,price = 1,
half,,qty <= 5,
rest,,qty >= 6,
any,,exists(qty) and qty is not null,
"""
SCHEMA = '{"qty": {"type": "Integer", "minimum": 0, "maximum": 100}}'


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_here(folder, "reduce", *arguments)


@pytest.fixture(scope="module", params=["--no-spark", "--spark"])
def reduced(spark, tmp_path_factory, request) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("reduce")
    (folder / "subscriptions.csv").write_text(SUBSCRIPTIONS)
    (folder / "schema.json").write_text(SCHEMA)
    return folder, run(
        folder, "subscriptions.csv", "--out", "reduced", "--schema", "schema.json", request.param
    )


def test_a_folder_is_written_and_reported(reduced):
    folder, ended = reduced
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert (
        lines[0] == "7 subscriptions: 4 needed, the others redundant (1 covered by one other, 2 by several)"
    )
    assert "reduced/report.html" in ended.stdout
    assert "2 rows of subscriptions.csv were refused" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "WARN" not in ended.stderr
    names = {each.name for each in folder.iterdir()}  # other tests may have written beside it
    assert "reduced" in names
    assert not [name for name in names if name.startswith(".")]  # nothing half-written is left


def test_those_that_are_enough_are_subscriptions_as_they_were_given(reduced):
    active = pq.read_table(reduced[0] / "reduced" / "active").to_pylist()
    assert [(each["row"], each["subscription"], each["subscriber"], each["filter"]) for each in active] == [
        (0, "low", "desk-7", "price <= 50"),
        (1, "high", "desk-8", "price > 50"),
        (6, "half", None, "qty <= 5"),
        (7, "rest", None, "qty >= 6"),
    ]
    assert active[1]["expires"] == 1e12


def test_the_others_have_proofs(reduced):
    passive = pq.read_table(reduced[0] / "reduced" / "passive").to_pylist()
    assert [(each["subscription"], each["proof"], each["decided_by"]) for each in passive] == [
        ("middle", ["low", "high"], "branch_and_bound"),
        ("cheap", ["low"], "pairwise"),
        ("any", ["half", "rest"], "branch_and_bound"),
    ]
    rejects = pq.read_table(reduced[0] / "reduced" / "rejects").to_pylist()
    assert [each["row"] for each in rejects] == [2, 5]


def test_manifest_and_report_report_what_was_done(reduced):
    manifest = read_manifest(reduced[0] / "reduced", "reduce")
    assert manifest["command"].startswith("thatch reduce subscriptions.csv --out reduced")
    assert manifest["rows"] == {"active": 4, "passive": 3, "rejects": 2}
    assert manifest["parameters"]["policy"] == "exact"
    html = (reduced[0] / "reduced" / "report.html").read_text()
    for expected in ("What covers what", "Before and after", "By attributes", "price, symbol"):
        assert expected in html


def test_loaded_subscriptions_keep_their_schema_and_options_count(reduced):
    folder, _ = reduced
    loaded = run_here(
        folder, "load", "subscriptions.csv", "--out", "loaded", "--schema", "schema.json", "--no-index"
    )
    assert loaded.returncode == 0, loaded.stderr
    ended = run(folder, "loaded", "--out", "pairs", "--policy", "pairwise", "--order", "volume")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[0].startswith("7 subscriptions: ")
    assert ended.stdout.splitlines()[0].endswith("by several)")
    limited = run(folder, "loaded", "--out", "pairs", "--budget", "1", "--overwrite")
    assert limited.returncode == 0, limited.stderr
    assert "2 subscriptions were kept: undecided within the budget" in limited.stderr
    assert limited.stdout.startswith(
        "7 subscriptions: 6 needed, the others redundant (1 covered by one other, 0 by several)"
    )


def test_errors_exit_with_status_2_and_leave_nothing(reduced):
    folder, _ = reduced
    before = sorted(folder.iterdir())
    for wrong, message in (
        (("nothing.csv", "--out", "other"), "nothing.csv"),
        (("subscriptions.csv", "--out", "reduced"), "already exists"),
        (("subscriptions.csv", "--out", "other", "--budget", "0"), "at least 1 cell"),
    ):
        ended = run(folder, *wrong)
        assert (ended.returncode, ended.stdout) == (2, ""), ended.stderr
        assert message in ended.stderr
        assert "Traceback" not in ended.stderr
    assert sorted(folder.iterdir()) == before
