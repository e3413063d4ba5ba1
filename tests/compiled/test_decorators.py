"""What a cached kernel depends on, and kernels compiled without Numba's private names."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numba
import pytest

from thatch.compiled import decorators
from thatch.compiled.decorators import TESTED_NUMBA
from thatch.matching.segments.kernels import search

ROOT = Path(__file__).parents[2]


def _files(path: str) -> set[str]:
    """The files on which a kernel in a file depends, as paths inside Thatch."""
    found, waiting = {path}, [path]
    while waiting:
        new = set(decorators._source(waiting.pop())[1]) - found
        found |= new
        waiting += new
    return {each.split("thatch/", 1)[1] for each in found}


def test_a_kernel_depends_on_all_files_that_its_own_imports() -> None:
    files = _files(search.__file__)
    assert {"compiled/decorators.py", "compiled/records.py", "compiled/bits.py"} <= files
    assert {
        f"matching/segments/kernels/{name}.py" for name in ("search", "cells", "checks", "verdicts")
    } <= files
    assert "matching/segments/records.py" in files
    assert "matching/segments/index.py" not in files


def test_the_fingerprint_changes_with_a_file_that_is_imported_indirectly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decorators, "_ROOT", str(tmp_path))
    package = tmp_path / "thatch"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "first.py").write_text("from thatch import (\n    second as other,  # a module\n)\n")
    (package / "second.py").write_text("    from thatch.third import NUMBER\n")
    prints = []
    for number in (1, 2, 1):
        (package / "third.py").write_text(f"NUMBER = {number}\n")
        for cached in (decorators._source, decorators._contents, decorators._fingerprint):
            cached.cache_clear()
        prints.append(decorators._fingerprint(str(package / "first.py")))
    assert prints[0] == prints[2] != prints[1]


def test_the_installed_numba_is_one_that_was_tested() -> None:
    assert numba.__version__.startswith(TESTED_NUMBA)


@pytest.mark.slow
def test_a_numba_that_lacks_a_private_name_is_used_by_its_public_face() -> None:
    program = """
import numba.core.codegen
del numba.core.codegen.JITCodeLibrary
import numpy as np
from tests.compiled.kernels import length_of
from thatch.compiled.decorators import PLAIN
assert PLAIN
assert length_of(np.array([1, 2]), 0) == 3
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


MATCHING = ("matching/test_on_demand.py", "reduction/test_branch_and_bound.py")
MORE = ("matching/test_prefilter.py", "matching/test_layers.py", "placement/test_local_search.py")


@pytest.mark.slow
@pytest.mark.parametrize(
    "tests", [MATCHING, pytest.param(MORE, marks=pytest.mark.deep)], ids=["some", "more"]
)
def test_indexes_and_searches_are_right_without_private_names_of_numba(
    tests: tuple[str, ...], tmp_path: Path
) -> None:
    environment = {
        **os.environ,
        "THATCH_PLAIN_NUMBA": "1",
        "THATCH_HYPOTHESIS_PROFILE": "fast",
        "NUMBA_OPT": "1",  # compiles quickly; at level 0 Numba keeps addresses in the code, which cannot be cached
        "NUMBA_CACHE_DIR": str(tmp_path),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:xdist", "-m", "not slow"]
    run = subprocess.run(
        [*command, *(f"tests/{each}" for each in tests)],
        env={name: value for name, value in environment.items() if not name.startswith("PYTEST_")},
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert " passed" in run.stdout


# --- where nothing can be written ------------------------------------------------------------------------------------

FEW_KERNELS = """
import numpy as np
from tests.compiled.kernels import length_of
assert length_of(np.array([1, 2]), 0) == 3
"""
AN_ENGINE = """
import thatch
engine = thatch.Engine()
for number in range(300):
    engine.subscribe(f"s{number}", f"x = {number % 3} and name like '%a_{number}b%' or y > {number}")
assert len(engine) == engine.count({"y": 1_000}) == len(engine.subscriptions()) == 300
"""


@pytest.fixture
def read_only_copy() -> Iterator[Path]:
    """Thatch and its tests in a folder that whoever runs them may only read."""
    folder = Path(tempfile.mkdtemp())
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("src/thatch", "tests/compiled"):
        shutil.copytree(ROOT / name, folder / name.removeprefix("src/"), ignore=ignored)
    folders = [folder, *(each for each in folder.rglob("*") if each.is_dir())]
    for each in folders:
        each.chmod(0o555)
    yield folder
    for each in folders:
        each.chmod(0o755)
    shutil.rmtree(folder)


def _obey_permissions() -> None:
    """Root may write everywhere; let it be as everyone else after the next exec (Linux only)."""
    if sys.platform == "linux" and os.geteuid() == 0:
        drop_capability, override, search = 24, 1, 2
        for capability in (override, search):
            ctypes.CDLL(None).prctl(drop_capability, capability, 0, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "plain"),
    [
        pytest.param(FEW_KERNELS, "0", id="kernels"),
        pytest.param(FEW_KERNELS, "1", id="kernels of plain numba"),
        pytest.param(AN_ENGINE, "0", id="engine", marks=pytest.mark.slow),
        pytest.param(AN_ENGINE, "1", id="engine with plain numba", marks=pytest.mark.deep),
    ],
)
def test_kernels_run_without_a_cache_where_nothing_can_be_written(
    program: str, plain: str, read_only_copy: Path
) -> None:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "XDG_"))
    }
    environment |= {
        "HOME": str(read_only_copy / "home"),
        "NUMBA_OPT": "0",  # compiles in half the time; nothing can be kept anyway
        "PYTHONPATH": str(read_only_copy),
        "THATCH_PLAIN_NUMBA": plain,
    }
    run = subprocess.run(
        [sys.executable, "-B", "-W", "error", "-c", program],
        env={name: value for name, value in environment.items() if not name.startswith("COVERAGE")},
        cwd=read_only_copy,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        preexec_fn=_obey_permissions,
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr.count("NUMBA_CACHE_DIR") == 1  # said once
    assert len(run.stderr.splitlines()) == 1
