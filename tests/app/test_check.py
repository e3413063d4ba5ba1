"""`thatch check` and `thatch explain`, in a copy of examples/quotes."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.app.here import QUOTES, run_here


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(QUOTES, tmp_path / "quotes"))


@pytest.fixture
def run(folder: Path) -> partial[CompletedProcess[str]]:
    """Runs `thatch` with arguments in the folder."""
    return partial(run_here, folder)


def test_explain_reports_which_condition_failed_and_the_value_seen(run):
    ran = run("explain", "symbol = 'IBM' and price < 150", '{"symbol": "IBM", "price": 180}')
    assert ran.returncode == 1
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


def test_check_reports_every_refused_filter_and_exits_with_status_1(run, folder):
    (folder / "bad.csv").write_text(
        "subscription,filter\na,x = 1\nb,x ==\na,x = 2\nc,x = 1 and x = 2\nd\n,x = 1\ne,\nf,bid > bid\n"
    )
    ran = run("check", "bad.csv")
    assert ran.returncode == 1
    assert ran.stdout.splitlines()[-1] == "1 filters accepted, 7 refused, 0 warnings"
    for words in (
        "row 1: error: b: Expected a comparison",
        "  x ==\n    ^\n",
        "row 2: error: a: Duplicate id 'a', also in row 0",
        "row 3: error: c: No event can match this filter",
        "row 4: error: Expected 2 fields, got 1",
        "row 5: error: Expected a text as id that is not empty and has no NUL, got None",
        "row 6: error: e: Expected filter text, got null",
        "row 7: error: f: Expected",
    ):
        assert words in ran.stdout


def test_check_refuses_what_match_refuses(run, folder):
    rows = [
        {"subscription": "", "filter": "x < 5"},
        {"subscription": "a\0b", "filter": "x < 5"},
        {"subscription": "c", "subscriber": "", "filter": "x < 5"},
        {"subscription": "d", "filter": "x < 5", "expires": float("nan")},
        {"subscription": "e", "filter": "x < 5"},
    ]
    (folder / "bad.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    checked, matched = run("check", "bad.jsonl"), run("match", "bad.jsonl", "events.jsonl")
    assert checked.stdout.splitlines()[-1] == "1 filters accepted, 4 refused, 0 warnings"
    assert checked.stdout.count("error: ") == 4
    assert matched.stderr.startswith("4 subscriptions of bad.jsonl were refused")


@pytest.mark.slow
def test_check_finds_covered_filters_among_very_many(run, folder):
    rows = [f"s{number},x between {number} and {number + 4} and y = {number % 3}" for number in range(6_000)]
    rows += [
        "in,x between 10 and 11 and y = 1",
        "parts,(x = 10 and y = 1) or (x = 500 and y = 2)",
        "out,x = 3 and z = 1",
    ]
    (folder / "many.csv").write_text("subscription,filter\n" + "\n".join(rows) + "\n")
    ran = run("check", "many.csv")
    assert ran.returncode == 0
    *warnings, last = ran.stdout.splitlines()
    assert last == "6,003 filters accepted, 0 refused, 2 warnings"
    assert warnings[0].startswith("row 6000: warning: in: covered by s")
    assert warnings[1].startswith("row 6001: warning: parts: covered by s")
    assert warnings[1].endswith(" together")


def test_check_says_what_the_budget_left_unchecked(run, folder):
    (folder / "few.csv").write_text("subscription,filter\na,x < 9\nb,x < 5\nc,x < 3\n")
    ran = run("check", "few.csv", "--budget", "2")
    assert ran.stdout.splitlines() == [
        "row 1: warning: b: covered by a",
        "3 filters accepted, 0 refused, 1 warnings",
    ]
    unchecked = "1 filters were not checked for being covered (see --budget):\n  row 2: c\n"
    assert unchecked in ran.stderr
