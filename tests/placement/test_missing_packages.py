from __future__ import annotations

import subprocess
import sys

import pytest

from tests.placement.instances import drawn
from thatch.errors import MissingPackageError
from thatch.placement import solve


def test_a_flow_without_scipy_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.sparse.csgraph", None)
    with pytest.raises(MissingPackageError, match=r"scipy.* for loads by maximum flow.*thatch\[placement\]"):
        solve(drawn(3), "balance")


def test_a_linear_program_without_or_tools_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ortools.linear_solver.python", None)
    with pytest.raises(MissingPackageError, match=r"ortools.* for the linear program.*thatch\[placement\]"):
        solve(drawn(3), "slp1")


def test_the_package_is_imported_without_compiler_and_solvers():
    code = (
        "import sys, thatch.placement; print([n for n in ('numba', 'scipy', 'ortools') if n in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
