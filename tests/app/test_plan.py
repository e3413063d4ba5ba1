"""`thatch plan explain`, as people run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import thatch
from tests.app.here import run_here
from thatch.formats.profile import write_profile
from thatch.model.profile import Profile

EVENTS = [{"symbol": f"S{number % 5}", "price": number % 50, "day": number % 7} for number in range(200)]
FILTERS = {
    "cheap": "symbol = 'S1' and price < 10",
    "dear": "symbol = 'S1' and price > 40 and day = 3",
    "middle": "symbol = 'S1' and price between 20 and 30",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [*map(json.dumps, EVENTS), "{broken"]
    (tmp_path / "events.jsonl").write_text("\n".join(lines) + "\n")
    rows = "".join(f'{identity},"{text}"\n' for identity, text in FILTERS.items())
    (tmp_path / "subscriptions.csv").write_text("subscription,filter\n" + rows)
    filters = {identity: thatch.parse(text) for identity, text in FILTERS.items()}
    write_profile(tmp_path / "profile", Profile.of(EVENTS, filters))
    return tmp_path


def test_topology_plan_and_predicted_and_counted_costs_are_reported(folder):
    ended = run_here(
        folder, "plan", "explain", "subscriptions.csv", "--profile", "profile", "--events", "events.jsonl"
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == [
        "topology       cluster: 3 conjunctions of 5 predicates, the answer is a list",
        "planned by     factored heuristic: shared predicates first; not proved optimal",
        "selectivities  from the profile profile",
        "in common",
        "  conjunctive, 3 members, false 80%: not (symbol = 'S1') → ¬cheap ∧ ¬dear ∧ ¬middle",
        "plan",
        "  symbol = 'S1' [0.2]",
        "    price between 20 and 30 [0.22] → middle",
        "    price < 10 [0.2] → cheap",
        "    day = 3 [0.145] and price > 40 [0.18] → dear",
        "cost of an event",
        "                 planned in file order   ratio",
        "  predicted         1.63          3.54    2.17",
        "  counted           1.62          3.59    2.21",
        "  on 200 events of events.jsonl",
    ]
    assert "1 rows of events.jsonl are not events and were skipped:\n  row 200: " in ended.stderr


def test_a_link_is_planned_by_states_within_the_budget(folder):
    ended = run_here(folder, "plan", "explain", "subscriptions.csv", "--answer", "any")
    assert "topology       link-cluster" in ended.stdout
    assert "planned by     dynamic programme" in ended.stdout
    assert "selectivities  uniform over domains" in ended.stdout
    assert "counted" not in ended.stdout
    small = run_here(folder, "plan", "explain", "subscriptions.csv", "--answer", "any", "--budget", "3")
    assert "planned by     factored heuristic" in small.stdout
    assert "more than the budget" in small.stdout


def test_what_cannot_be_planned_is_reported_in_a_sentence(folder):
    (folder / "none.csv").write_text("subscription,filter\n")
    (folder / "none.jsonl").write_text("")
    for arguments, message in (
        (("none.csv",), "none.csv has no valid subscriptions"),
        (("subscriptions.csv", "--events", "none.jsonl"), "none.jsonl has no events"),
        (("subscriptions.csv", "--profile", "nowhere"), "nowhere"),
    ):
        ended = run_here(folder, "plan", "explain", *arguments)
        assert ended.returncode == 2
        assert message in ended.stderr.replace("\n", " ")
        assert "Traceback" not in ended.stderr
