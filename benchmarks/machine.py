"""What a figure was measured on."""

from __future__ import annotations

import os
import platform
from pathlib import Path

__all__ = ["machine"]


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
