"""`thatch simulate` and `thatch serve`."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.app.here import QUOTES, run_here
from thatch.app.cli.sources import load_policy, load_topology
from thatch.errors import ParameterError, TableError
from thatch.model.topology import Topology
from thatch.reduction.forwarding import policies


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(QUOTES, tmp_path / "quotes"))


def serving(folder: Path, lines: str, *arguments: str):
    return run_here(folder, "serve", "--in-process", *arguments, stdin=lines)


# --- what both read --------------------------------------------------------------------------------------------


def test_a_topology_is_a_shape_or_a_file(tmp_path):
    assert load_topology("line:3") == Topology.line(3)
    assert load_topology("star:4") == Topology.star(4)
    assert load_topology("tree:7") == Topology.tree(7)
    assert load_topology("random:9", seed=5) == Topology.random_tree(9, np.random.default_rng(5))
    assert load_topology("regions:2x3", seed=1) == Topology.regions(2, 3, np.random.default_rng(1))
    (tmp_path / "a.yaml").write_text("links: [[a, b]]")
    assert load_topology(str(tmp_path / "a.yaml")).brokers == ("a", "b")


@pytest.mark.parametrize("text", ["line", "line:", "line:x", "regions:4", "ring:4", "none.yaml", "line:0"])
def test_what_is_no_topology_is_refused(text):
    with pytest.raises(TableError):
        load_topology(text)


def test_a_policy_has_a_name_and_perhaps_a_number():
    assert load_policy("exact") == policies.Exact()
    assert load_policy("pairwise") == policies.Pairwise()
    assert load_policy("flooding") == policies.Flooding()
    assert load_policy("negative-space") == policies.NegativeSpace()
    assert load_policy("approximate:20") == policies.ApproximateNegativeSpace(20)
    assert load_policy("probabilistic:1e-6") == policies.Probabilistic(1e-6)
    assert load_policy("merging") == policies.Merging()
    assert load_policy("merging:0.01") == policies.Merging(threshold=0.01)


@pytest.mark.parametrize(
    "text",
    ["", "all", "exact:5", "approximate", "approximate:x", "probabilistic:2", "merging:2", "merging:x"],
)
def test_what_is_no_policy_is_refused(text):
    with pytest.raises(ParameterError):
        load_policy(text)


# --- simulate ----------------------------------------------------------------------------------------------------


def test_simulate_reports_what_files_cost(folder):
    ran = run_here(
        folder, "simulate", "line:5", "--subscriptions", "subscriptions.csv", "--events", "events.jsonl"
    )
    assert ran.returncode == 0
    assert "exact:\n  brokers: 5\n  diameter: 4\n" in ran.stdout
    assert "  deliveries: 4\n  deliveries missed: 0\n" in ran.stdout


def test_simulate_compares_policies_on_what_it_generates_and_writes_a_page(folder):
    arguments = ("--subscriptions", "80", "--events", "30", "--workload", "W4A", "--out", "page.html")
    ran = run_here(
        folder,
        "simulate",
        "tree:7",
        "--policy",
        "pairwise",
        "--policy",
        "flooding",
        "--loss",
        "0.1",
        *arguments,
    )
    assert (ran.returncode, "page.html" in ran.stderr) == (0, True)
    assert "pairwise:\n" in ran.stdout
    assert "flooding:\n" in ran.stdout
    page = (folder / "page.html").read_text(encoding="utf-8")
    for told in (
        "Subscription traffic",
        "Table sizes",
        "Publication traffic",
        "Delay",
        "pairwise",
        "flooding",
    ):
        assert told in page


def test_simulated_brokers_that_merge_forward_less_and_miss_nothing(folder):
    made_up = ("--subscriptions", "60", "--events", "20", "--workload", "W2-1D")
    names = ("exact", "merging", "merging:0.05")
    ran = run_here(
        folder, "simulate", "line:3", *made_up, *(word for name in names for word in ("--policy", name))
    )
    assert (ran.returncode, ran.stdout.count("  deliveries missed: 0\n")) == (0, 3)
    sizes = [float(size) for size in re.findall(r"mean table: ([\d.]+)", ran.stdout)]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) > 1


def test_the_same_seed_reports_the_same(folder):
    command = (
        "simulate",
        "random:6",
        "--subscriptions",
        "50",
        "--events",
        "20",
        "--seed",
        "4",
        "--loss",
        "0.2",
    )
    first, second = run_here(folder, *command), run_here(folder, *command)
    assert first.stdout == second.stdout != ""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("line:3", "--policy", "best"), "exact, pairwise"),
        (("line:3", "--out", "page.pdf"), ".html"),
        (("line:3", "--subscriptions", "none.csv"), "none.csv"),
        (("line:3", "--subscriptions", "99999999999"), "at most"),
        (("line:3", "--workload", "W9"), "workload"),
        (("none.yaml",), "none.yaml"),
    ],
)
def test_simulate_refuses_invalid_input(arguments, told, folder):
    ran = run_here(folder, "simulate", *arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert told in ran.stderr


# --- serve -------------------------------------------------------------------------------------------------------


def test_serve_delivers_what_is_published(folder):
    lines = (
        "# a comment\n\nsubscribe b3 price < 150\n"
        'subscribe b1 {"price": [{"numeric": [">", 100]}]}\n'
        'publish b2 {"price": 120}\nunsubscribe b3/1\npublish b2 {"price": 90}\npublish b2 {"price": 500}\n'
    )
    ran = serving(folder, lines, "line:3")
    told = ran.stdout.splitlines()
    assert told[:2] == ["b3/1", "b1/1"]
    assert [json.loads(line) for line in told[2:]] == [
        {"subscription": "b3/1", "event": {"price": 120}},
        {"subscription": "b1/1", "event": {"price": 120}},
        {"subscription": "b1/1", "event": {"price": 500}},
    ]
    assert ran.stderr == "3 brokers: b1, b2, b3\n"


def test_serve_explains_and_helps(folder):
    ran = serving(folder, 'subscribe b2 x > 0\nexplain b1 {"x": 1}\nhelp\n', "line:2")
    assert "to b2: wanted by b2/1" in ran.stdout
    assert "publish BROKER EVENT" in ran.stdout


def test_serve_goes_on_after_a_line_that_makes_no_sense(folder):
    lines = (
        "dance\nsubscribe\nsubscribe b9 x > 0\nsubscribe b1 x >\nsubscribe b1 {\npublish b1 5\npublish b1 {\n"
        'unsubscribe none\nunadvertise none\npublish b1 {"x": 1}\n'
        'advertise b1 x > 0\npublish b1 {"x": 1}\nunadvertise b1/1\nsubscribe b1 x > 0\n'
    )
    ran = serving(folder, lines, "line:1", "--way", "advertisements")
    assert ran.returncode == 0
    assert ran.stderr.count("thatch: ") == 10
    assert len(ran.stdout.splitlines()) == 2


def test_serve_needs_to_be_reported_where(folder):
    ran = run_here(folder, "serve", "line:3")
    assert (ran.returncode, "--in-process" in ran.stderr) == (2, True)
