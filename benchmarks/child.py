"""Measures in a new process: a request as JSON in, results as JSON out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["answer", "ask"]

_ROOT = Path(__file__).parents[1]


def ask(
    module: str, request: Mapping[str, Any], environment: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Run a module as a new process and return its answer to a request."""
    ran = subprocess.run(
        [sys.executable, "-m", module],
        input=json.dumps(request),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=_ROOT,
        env={**os.environ, **(environment or {})},
    )
    answered: dict[str, Any] = json.loads(ran.stdout)
    return answered


def answer(measure: Callable[[dict[str, Any]], Mapping[str, Any]]) -> None:
    """In the new process: read the request, measure, write the results."""
    sys.stdout.write(json.dumps(measure(json.load(sys.stdin))))
