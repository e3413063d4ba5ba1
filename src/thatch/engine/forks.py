"""Engines in a process that forks: the child gets them whole, with locks that nobody holds and no thread at work."""

from __future__ import annotations

import os
from typing import Any
from weakref import WeakSet

from thatch.engine.holding import Holding

__all__ = ["watch"]

_holdings: WeakSet[Holding] = WeakSet()
_held: list[Any] = []


def watch(holding: Holding) -> None:
    """Keep a holding usable in children of this process."""
    _holdings.add(holding)


def _hold() -> None:
    """Wait until nobody is in the middle of a change."""
    for holding in sorted(_holdings, key=id):
        for lock in (holding.writing, holding.changing):
            lock.acquire()
            _held.append(lock)


def _release() -> None:
    while _held:
        _held.pop().release()


def _renew() -> None:
    _held.clear()
    for holding in list(_holdings):
        holding.renew_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_renew)
