"""Stores results: JSON under .venv/cache/benchmarks, with everything needed to repeat them."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.machine import commit, machine, versions

__all__ = ["STORE", "keep"]

STORE = Path(".venv/cache/benchmarks")


def keep(name: str, rows: list[dict[str, Any]], **more: Any) -> Path:
    """Write the rows of a benchmark; returns the path.

    Parameters
    ----------
    name : of the benchmark and of the file
    more : further facts, such as sizes
    """
    STORE.mkdir(parents=True, exist_ok=True)
    path = STORE / f"{name}.json"
    content = {
        "machine": machine(),
        "versions": versions(),
        "commit": commit(),
        "command": ["python", *sys.orig_argv[1:]],
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        **more,
        "rows": rows,
    }
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
    return path
