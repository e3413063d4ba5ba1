"""`python -m benchmarks.compare BASE HEAD`: is a commit quicker or slower than another, or is it noise?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.compare.micro import FIGURES
from benchmarks.compare.noise import FEWEST, LEVEL, SMALLEST, Comparison, compare_rounds
from benchmarks.compare.rounds import in_turns
from benchmarks.compare.worktrees import UnknownCommitError, commit_of, worktrees
from benchmarks.console import figure, table_text
from benchmarks.machine import machine

__all__ = ["compare", "main"]

_ROOT = Path(__file__).parents[2]
_SCRIPT = Path(__file__).with_name("micro.py")
_HEAD = ("figure, µs", "base", "head", "ratio", "chance", "verdict")


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare and print; whatever is found, the status is 0."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.compare",
        description=__doc__,
        epilog="Example: python -m benchmarks.compare main HEAD --what 'match W1' 'load W1'",
    )
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("head", help="the commit in question")
    parser.add_argument("--rounds", type=int, default=FEWEST, help=f"of each, {FEWEST} or more")
    parser.add_argument("--what", nargs="+", choices=FIGURES, metavar="FIGURE", help=", ".join(FIGURES))
    given = parser.parse_args(arguments)
    if given.rounds < FEWEST:
        parser.error(f"--rounds: expected {FEWEST} or more, got {given.rounds}")
    try:
        commits = commit_of(_ROOT, given.base), commit_of(_ROOT, given.head)
    except UnknownCommitError as error:
        parser.error(str(error))
    found = compare(_ROOT, commits, _SCRIPT, given.what or list(FIGURES), given.rounds)
    print(machine())
    print(
        f"base {commits[0][:12]}, head {commits[1][:12]}; a change is {SMALLEST:.0%} or more, chance {LEVEL} or less"
    )
    print(table_text(_HEAD, [_cells(each) for each in found]))


def compare(
    repository: Path, commits: tuple[str, str], script: Path, names: Sequence[str], rounds: int
) -> list[Comparison]:
    """A comparison of every figure that the script prints in both trees."""
    with worktrees(repository, commits) as trees:
        base, head = in_turns(trees, script, names, rounds)
    return [compare_rounds(name, base[name], head[name]) for name in base if name in head]


def _cells(each: Comparison) -> tuple[str, ...]:
    return (
        each.name,
        figure(each.base),
        figure(each.head),
        f"{each.ratio:.2f}",
        f"{each.chance:.3f}",
        each.verdict,
    )
