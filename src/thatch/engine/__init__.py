"""The embedded engine: a set of subscriptions in one process."""

from __future__ import annotations

from thatch.engine.engine import Engine

__all__ = ["Engine"]
