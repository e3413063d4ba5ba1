"""The same script in two trees by turns, A B B A A B ..., so that neither has the better half of the time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.console import note

__all__ = ["Figures", "in_turns"]

Figures = dict[str, list[float]]


def in_turns(
    trees: tuple[Path, Path], script: Path, names: Sequence[str], rounds: int
) -> tuple[Figures, Figures]:
    """Every figure of every round, for both trees.

    Parameters
    ----------
    trees : each with its sources in `src`
    script : run with `names`; prints a JSON object of figures
    rounds : of each tree that count; one more before them compiles and fills caches
    """
    found: tuple[Figures, Figures] = {}, {}
    for tree in trees:
        note(f"compiling in {tree.name}")
        _run(tree, script, names)
    for number in range(rounds):
        order = (0, 1) if number % 2 == 0 else (1, 0)
        for which in order:
            note(f"round {number + 1} of {rounds}: {trees[which].name}")
            for name, value in _run(trees[which], script, names).items():
                found[which].setdefault(name, []).append(value)
    return found


def _run(tree: Path, script: Path, names: Sequence[str]) -> dict[str, float]:
    """The figures of one process that imports from the tree; its compiled kernels stay with the tree."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(tree / "src"),
        "NUMBA_CACHE_DIR": str(tree.parent / f"numba-{tree.name}"),
    }
    ran = subprocess.run(
        [sys.executable, str(script), *names],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=tree,
        env=environment,
    )
    figures: dict[str, float] = json.loads(ran.stdout)
    return figures
