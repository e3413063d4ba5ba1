"""The machine and the versions that were measured."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["commit", "machine", "versions"]

_PACKAGES = (
    "thatch", "numpy", "numba", "llvmlite", "pyarrow", "duckdb", "rtree", "rule-engine", "zen-engine",
)  # fmt: skip


def machine() -> str:
    """Processor, cores, Python and load, on one line."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip()
            for line in info.read_text().splitlines()
            if line.startswith("model name")
        ]
        name = names[0] if names else name
    load = os.getloadavg()[0]
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}, load {load:.1f}"


def versions() -> dict[str, str]:
    """The versions of Thatch, of its dependencies, and of other engines."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def commit() -> str:
    """The measured commit, with `-dirty` if files have changed; empty outside of git."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        ran = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return ran.stdout.strip()
