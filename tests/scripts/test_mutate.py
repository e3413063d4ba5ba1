"""`scripts/mutate` tells which small changes tests notice, and its lists are up to date with the source."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "mutate"
SOURCE = "def add(one, other):\n    return one + other\n"
TEST = "from small import add\n\n\ndef test_add():\n    assert add(2, 2) == 4\n"
ENTRY = """
[[mutation]]
name = "{}"
file = "src/small.py"
before = "{}"
after = "{}"
tests = ["tests/test_small.py"]
"""


def mutate(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, SCRIPT, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def made(root: Path, *entries: tuple[str, str, str]) -> Path:
    files = {
        "src/small.py": SOURCE,
        "tests/test_small.py": TEST,
        "tests/mutations/all.toml": "".join(ENTRY.format(*each) for each in entries),
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    subprocess.run(["git", "init", "-q", root], check=True)
    return root


def test_every_change_in_the_lists_applies() -> None:
    done = mutate("--check")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_what_tests_notice_is_killed_and_what_they_do_not_has_survived(tmp_path: Path) -> None:
    crash = "* __import__('os').abort() *"
    root = made(tmp_path, ("minus", "+", "-"), ("times", "+", "*"), ("crash", "+", crash))
    done = mutate("--root", root, "--workers", 1)
    assert [line.split()[0] for line in done.stdout.splitlines()[:3]] == ["killed", "survived", "killed"]
    assert done.stdout.splitlines()[-1].split() == ["all", "2", "of", "3", "killed,", "67%"]
    assert done.returncode == 1
    assert (root / "src" / "small.py").read_text() == SOURCE


def test_a_change_that_does_not_apply_is_an_error(tmp_path: Path) -> None:
    done = mutate("--root", made(tmp_path, ("minus", "+", "-"), ("old", "one ** other", "1")))
    assert done.stdout.splitlines()[0] == "all, old: the text before occurs 0 times in src/small.py"
    assert done.returncode == 1
