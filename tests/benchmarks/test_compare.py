"""Two commits of a tiny repository of its own are compare_rounds; noise is told from change."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.compare import micro
from benchmarks.compare.command import compare, main
from benchmarks.compare.noise import compare_rounds, rank_test
from benchmarks.compare.worktrees import UnknownCommitError, commit_of, worktrees

SCRIPT = """
import json, sys
from tiny import COST
print(json.dumps({name: COST for name in sys.argv[1:]}))
"""


def git(repository: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(repository), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits: the second costs twice as much; tagged `base` and `head`."""
    root = tmp_path / "repository"
    (root / "src").mkdir(parents=True)
    git(root, "init", "--quiet")
    for cost, tag in ((1.0, "base"), (2.0, "head")):
        (root / "src" / "tiny.py").write_text(f"COST = {cost}\n")
        git(root, "add", ".")
        git(root, "commit", "--quiet", "-m", tag)
        git(root, "tag", tag)
    return root


@pytest.mark.slow
def test_each_commit_is_measured_in_a_tree_of_its_own(repository, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    commits = commit_of(repository, "base"), commit_of(repository, "head")
    (found,) = compare(repository, commits, script, ["figure"], rounds=5)
    assert (found.name, found.base, found.head, found.ratio, found.verdict) == (
        "figure",
        1.0,
        2.0,
        2.0,
        "slower",
    )
    assert len(git(repository, "worktree", "list").splitlines()) == 1


def test_worktrees_are_removed_when_something_fails(repository):
    seen = {}

    def fails() -> None:
        with worktrees(repository, ("base", "head")) as trees:
            seen.update({tree: (tree / "src" / "tiny.py").read_text() for tree in trees})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert list(seen.values()) == ["COST = 1.0\n", "COST = 2.0\n"]
    assert not any(tree.exists() for tree in seen)
    assert len(git(repository, "worktree", "list").splitlines()) == 1


@pytest.mark.parametrize("name", ["nothing", "--all", ""])
def test_what_is_no_commit_is_refused(repository, name):
    with pytest.raises(UnknownCommitError, match="Expected a commit, got"):
        commit_of(repository, name)


@pytest.mark.parametrize(
    "arguments", [["a"], ["HEAD", "HEAD", "--rounds", "4"], ["HEAD", "HEAD", "--what", "x"]]
)
def test_wrong_arguments_are_told(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "error: " in capsys.readouterr().err


def test_change_is_told_from_noise():
    base = [10.0, 10.2, 10.1, 10.3, 10.4]
    assert compare_rounds("x", base, [value * 2 for value in base]).verdict == "slower"
    assert compare_rounds("x", base, [value / 2 for value in base]).verdict == "quicker"
    assert (
        compare_rounds("x", base, [value * 1.04 for value in base]).verdict == "noise"
    )  # sure, but too small
    assert compare_rounds("x", base, [5.0, 20.0, 9.0, 12.0, 14.0]).verdict == "noise"  # great, but not sure


def test_the_chance_of_complete_separation_is_two_splits_of_all():
    assert rank_test([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]) == 2 / 252
    assert rank_test([1, 1, 1], [1, 1, 1]) == 1.0


values = st.lists(st.integers(0, 20), min_size=3, max_size=5)


@given(values, values)
def test_the_rank_test_is_a_chance_and_does_not_mind_which_comes_first(first, second):
    chance = rank_test(first, second)
    assert 0 < chance <= 1
    assert chance == rank_test(second, first) == rank_test(first[::-1], second)


@pytest.mark.slow
@pytest.mark.parametrize("name", micro.FIGURES)
def test_every_figure_can_be_measured(name, monkeypatch):
    monkeypatch.setattr(micro, "_COUNT", 1_000)
    monkeypatch.setattr(micro, "_PASSES", 1)
    assert micro.FIGURES[name]() > 0
