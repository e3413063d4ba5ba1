"""`scripts/check_tree` finds each thing it forbids, and names the place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# Taken apart, so that this file itself passes.
HOME, REGISTRY, PAPER, AUTHOR = (
    each.replace("-", "") for each in ("ho-me", "py-pi.org", "pap-er", "ouk-sel")
)
SCRIPT = Path(__file__).parents[2] / "scripts" / "check_tree"
IN_ORDER = {
    "src/thatch/__init__.py": "",
    "src/thatch/errors.py": "class Wrong(Exception): ...\n",
    "src/thatch/compiled/__init__.py": "",
    "src/thatch/compiled/numba_internals.py": "from numba.core.ccallback import CFunc\n",
    "src/thatch/compiled/decorators.py": "from numba import njit\n",
    "docs/papers.md": "ouksel2006, fig 11; the paper's A and B\n",
}
BROKEN = {
    "a long file": ({"src/thatch/long.py": "x = 1\n" * 401}, "src/thatch/long.py: 401 lines"),
    "a large file": ({"data.csv": "x" * 300_001}, "data.csv: 300,001 bytes"),
    "a machine's path": ({"README.md": f"\nsee /{HOME}/me/x\n"}, "README.md:2: names a path"),
    "a registry": ({"x.toml": f"url = '{REGISTRY}'\n"}, "x.toml:1: names a package registry"),
    "a paper by letter": ({"docs/a.md": f"{PAPER} Y, fig 3\n"}, "docs/a.md:1: names a paper"),
    "a paper by number": ({"docs/a.md": f"{PAPER} 003\n"}, "docs/a.md:1: names a paper"),
    "a paper without its year": ({f"tests/test_{AUTHOR}.py": ""}, "names a paper"),
    "a package with one module": (
        {"src/thatch/one/__init__.py": "", "src/thatch/one/only.py": ""},
        "src/thatch/one: a package with a single module (only.py)",
    ),
    "a number of two decisions": (
        {"docs/decisions/0001-one.md": "", "docs/decisions/0001-other.md": ""},
        "decision 0001 is there 2 times",
    ),
    "a class name twice": (
        {"src/thatch/other.py": "class Wrong: ...\n"},
        "class Wrong is defined 2 times: src/thatch/errors.py:1, src/thatch/other.py:1",
    ),
    "a private name of Numba": (
        {"src/thatch/fast.py": "\nx._source_stamp = 1\n"},
        "src/thatch/fast.py:2: a private name of Numba, _source_stamp",
    ),
    "a private module of Numba": (
        {"src/thatch/fast.py": "from numba.core.codegen import y\n"},
        "src/thatch/fast.py:1: a private name of Numba, numba.core.codegen",
    ),
}


def check(root: Path, files: dict[str, str]) -> subprocess.CompletedProcess[str]:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    subprocess.run(["git", "init", "-q", root], check=True)
    return subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True, check=False)


def test_a_tree_in_order_passes(tmp_path: Path) -> None:
    done = check(tmp_path, IN_ORDER)
    assert (done.returncode, done.stdout) == (0, "The tree is in order: 6 files.\n")


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_rule_is_the_only_problem_and_is_named_with_its_place(what: str, tmp_path: Path) -> None:
    files, message = BROKEN[what]
    done = check(tmp_path, IN_ORDER | files)
    assert done.returncode == 1
    (problem,) = done.stdout.splitlines()
    assert message in problem
