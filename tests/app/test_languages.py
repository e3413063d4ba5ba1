"""Commands with subscriptions in other languages: folders of Sigma rules, tables and lines of filters."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import thatch
from tests.app.here import run_here

RULE = """title: {title}
id: 00000000-0000-4000-8000-00000000000{number}
logsource: {{product: test}}
detection:
  sel: {{User|{modifier}: {value}}}
  condition: sel
"""
EVENTS = [{"User": "Root"}, {"User": "eve"}, {"user": {"name": "ROOT"}}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules" / "deep").mkdir(parents=True)
    (tmp_path / "rules" / "a.yml").write_text(
        RULE.format(title="a", number=1, modifier="cased", value="Root")
    )
    narrow = RULE.format(title="b", number=2, modifier="startswith", value="root")
    (tmp_path / "rules" / "deep" / "b.yml").write_text(
        narrow + "---\n" + narrow.replace("startswith", "startwith")
    )
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(each) + "\n" for each in EVENTS))
    (tmp_path / "map.yml").write_text(
        "transformations: [{type: field_name_mapping, mapping: {User: user.name}}]"
    )
    (tmp_path / "labels.txt").write_text("User in (eve, mallory)\nUser=\n")
    return tmp_path


@pytest.fixture
def run(folder: Path) -> partial[CompletedProcess[str]]:
    return partial(run_here, folder)


def rows(ran: CompletedProcess[str]) -> dict[int, list[str]]:
    assert ran.returncode == 0, ran.stderr
    return {
        each["event"]: [name[-1] for name in each["matches"]]
        for each in map(json.loads, ran.stdout.splitlines())
    }


def test_events_are_matched_with_a_folder_of_rules(run):
    ran = run("match", "rules", "events.jsonl")
    assert rows(ran) == {0: ["1", "2"]}
    assert (
        f"  {Path('rules', 'deep', 'b.yml')}: 00000000-0000-4000-8000-000000000002: Unknown modifier 'startwith' - at rule 'b', line 12"
        in ran.stderr
    )
    assert rows(run("match", "rules/deep", "events.jsonl", "--pipeline", "map.yml")) == {2: ["2"]}


def test_check_names_bad_rules_and_covered_ones_by_their_files(run):
    ran = run("check", "rules")
    assert ran.returncode == 1
    error, warning, count = ran.stdout.splitlines()
    assert error.startswith(
        f"{Path('rules', 'deep', 'b.yml')}: error: 00000000-0000-4000-8000-000000000002: Unknown modifier"
    )
    assert warning.startswith(
        f"{Path('rules', 'a.yml')}: warning: 00000000-0000-4000-8000-000000000001: covered by"
    )
    assert count == "2 filters accepted, 1 refused, 1 warnings"


def test_a_language_is_that_of_lines_and_of_explain(run):
    assert rows(run("match", "labels.txt", "events.jsonl", "--language", "labels")) == {1: ["1"]}
    ran = run("explain", "User in (eve, mallory)", '{"User": "eve"}', "--language", "labels")
    assert (ran.returncode, ran.stdout.splitlines()[0]) == (0, "matches")
    assert (
        "one of the languages text"
        in run("match", "labels.txt", "events.jsonl", "--language", "label").stderr
    )


def test_a_folder_of_rules_is_loaded_and_reduced(run, folder):
    ran = run("load", "rules", "--out", "loaded", "--no-spark")
    assert "2 subscriptions accepted, 1 refused" in ran.stdout
    engine = thatch.Engine.open(folder / "loaded" / "index.thatch")
    assert len(engine.match(EVENTS[0])) == 2
    ran = run("reduce", "rules/*.yml", "--out", "reduced", "--no-spark")
    assert ran.returncode == 0, ran.stderr
