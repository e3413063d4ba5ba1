"""Measuring in a process of its own: a request as JSON in, figures as JSON out."""

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
    """What a module, run as a new process, answers to a request."""
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
    """The other side: read the request, measure, write the figures."""
    sys.stdout.write(json.dumps(measure(json.load(sys.stdin))))
