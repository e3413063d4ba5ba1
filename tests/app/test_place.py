"""`thatch place`, as people run it, without Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.app.here import run_here
from thatch.formats.folders import read_manifest
from thatch.formats.plan import read_plan
from thatch.formats.profile import write_profile
from thatch.model.profile import Profile

SUBSCRIPTIONS = """subscription,subscriber,filter
low,desk-1,price <= 50
ibm,desk-1,symbol = 'IBM' and price < 20
high,desk-2,price > 90
broken,,price >
low,desk-9,price = 1
alone,,symbol like 'S%'
any,desk-3,volume > 5 and price < 30
"""
LOCATIONS = "subscriber,x\ndesk-1,-2\ndesk-2,2\nalone,1\ndesk-3,-1\nnobody,7\n"
TREE = {
    "root": "hub",
    "brokers": [
        {"name": "hub", "location": [0]},
        {"name": "west", "location": [-2]},
        {"name": "east", "location": [2]},
    ],
    "links": [["hub", "west"], ["hub", "east"]],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "subscriptions.csv").write_text(SUBSCRIPTIONS)
    (tmp_path / "locations.csv").write_text(LOCATIONS)
    (tmp_path / "tree.json").write_text(json.dumps(TREE))
    return tmp_path


FILES = ("subscriptions.csv", "--tree", "tree.json", "--locations", "locations.csv")


def test_a_plan_is_written_and_reported(folder):
    events = [{"price": number, "symbol": "IBM" if number % 2 else "SAP"} for number in range(100)]
    write_profile(folder / "profile", Profile.of(events))
    (folder / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events) + "nothing\n")
    ended = run_here(
        folder, "place", *FILES, "--out", "plan", "--profile", "profile", "--map", "price,symbol",
        "--algorithm", "gr_star", "--events", "events.jsonl",
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("4 subscribers on 2 brokers, feasible: load factor 1")
    assert "2 subscriptions of subscriptions.csv were refused" in ended.stderr
    plan = read_plan(folder / "plan")
    assert plan.subscribers == ("desk-1", "desk-2", "alone", "desk-3")
    assert {plan.broker_of("desk-1"), plan.broker_of("desk-3")} == {"west"}
    assert "counted in 100 events of events.jsonl" in ended.stdout
    # What is counted knows how attributes hang together, and no interval of quantiles.
    expected = [
        sum(each is not None and each.matches(event) for event in events) / 100 for each in plan.filters
    ]
    assert plan.counted.tolist() == pytest.approx(expected)
    assert plan.counted.tolist() == pytest.approx(plan.volumes.tolist(), abs=0.1)
    html = (folder / "plan" / "report.html").read_text()
    for expected in ("Three costs at once", "Loads", "Delays", "Filters", "west, box 1", "row"):
        assert expected in html
    manifest = read_manifest(folder / "plan", "plan")
    assert manifest["parameters"]["algorithm"] == "gr_star"
    assert manifest["command"].startswith("thatch place subscriptions.csv")


def test_a_plan_that_breaks_limits_is_written_all_the_same_and_ends_with_1(folder):
    (folder / "locations.csv").write_text("subscriber,x\ndesk-1,-2\ndesk-2,-2\nalone,-2\ndesk-3,-2\n")
    ended = run_here(
        folder,
        "place",
        *FILES,
        "--out",
        "plan",
        "--max-delay",
        "0",
        "--algorithm",
        "gr_star",
        "--latency",
        "last_hop",
    )
    assert ended.returncode == 1
    assert "No plan within the limits" in ended.stderr
    assert "'west' serves 4 subscribers, 1 more than it may (3)" in ended.stderr
    assert "can reach only 'west' within their limits, and it has room for 3: 1 too many" in ended.stderr
    assert "possible with beta_max of 2 instead of 1.8" in ended.stderr
    assert "possible with limits that are longer by 4" in ended.stderr
    plan = read_plan(folder / "plan")
    assert plan.statistics["status"] == "infeasible"
    html = (folder / "plan" / "report.html").read_text()
    assert "Limits that are broken" in html
    assert "1 more than it may (3)" in html


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--beta", "2"], "1 < beta < beta_max"),
        (["--algorithm", "magic"], "one of best, gr"),
        (["--map", "colour"], "attributes of price, symbol, volume"),
    ],
)
def test_what_cannot_be_is_one_message_and_no_folder(folder, more, message):
    ended = run_here(folder, "place", *FILES, "--out", "plan", *more)
    assert ended.returncode == 2
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (folder / "plan").exists()


def test_help_has_an_example(folder):
    ended = run_here(folder, "place", "--help")
    assert (
        "thatch place subscriptions.csv --tree tree.json --locations locations.csv --out plan" in ended.stdout
    )
