"""Run a program as plain Python, or with every access to an array checked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

__all__ = ["in_every_mode", "run_in_mode"]

_ROOT = Path(__file__).parents[2]

in_every_mode = pytest.mark.parametrize(
    "mode", ["NUMBA_DISABLE_JIT", pytest.param("NUMBA_BOUNDSCHECK", marks=pytest.mark.deep)]
)


def run_in_mode(program: str, mode: str, cache: Path) -> str:
    """What a program prints in a process of its own, with an empty cache of kernels."""
    run = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", program],
        env={**os.environ, mode: "1", "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=False,
        cwd=_ROOT,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout
