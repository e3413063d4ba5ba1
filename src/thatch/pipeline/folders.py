"""Where files lie that can be made again, or go with the process: outside every source tree."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

__all__ = ["cache_folder", "work_folder"]


def cache_folder() -> Path:
    """The user's folder for caches of Thatch; `THATCH_CACHE_DIR` names another."""
    if given := os.environ.get("THATCH_CACHE_DIR"):
        return Path(given)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "thatch"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "thatch"


@cache
def work_folder() -> Path:
    """Where this process keeps what is made for one run; it goes when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="thatch-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
