"""A file of named NumPy arrays: mapped when opened, checksummed, written whole or not at all."""

from __future__ import annotations

from thatch.engine.container.container import dumps, loads, read, write

__all__ = ["dumps", "loads", "read", "write"]
