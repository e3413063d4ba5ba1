"""How a folder of ours is told from others: by the manifest in it."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

__all__ = ["LARGEST", "MANIFEST", "is_manifest", "is_ours", "read_regular"]

MANIFEST = "manifest.json"
LARGEST = 1 << 26  # bytes of a manifest: some hundred thousand files
_FIELDS = {"format", "kind", "files"}  # web pages and packages have a manifest.json too, but without these


def is_ours(folder: Path) -> bool:
    """Whether Thatch wrote a folder."""
    try:
        return is_manifest(read_regular(folder / MANIFEST, LARGEST))
    except OSError:
        return False


def is_manifest(content: bytes) -> bool:
    """Whether this is the content of a manifest of ours."""
    try:
        read = json.loads(content)
    except (ValueError, RecursionError):
        return False
    return isinstance(read, dict) and read.keys() >= _FIELDS


def read_regular(path: Path, largest: int) -> bytes:
    """The content of a regular file of at most so many bytes; raises `OSError` for anything else, at once."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe would wait for its writer
    with open(handle, "rb") as file:  # noqa: PTH123 - a handle, not a path
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"not a regular file: {path}")
        if status.st_size > largest:
            raise OSError(f"{status.st_size:,} bytes, at most {largest:,} are read: {path}")
        return file.read(largest)
