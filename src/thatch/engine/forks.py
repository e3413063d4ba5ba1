"""Engines in a process that forks: the child gets them whole, with locks that nobody holds and no thread at work."""

from __future__ import annotations

import os
import sys
from threading import RLock
from typing import Any
from weakref import WeakSet

from thatch.engine.holding import Holding

__all__ = ["watch"]

_holdings: WeakSet[Holding] = WeakSet()
_guard = RLock()  # of the holdings, and held through a fork, so that threads fork one after the other
_held: list[Any] = []


def watch(holding: Holding) -> None:
    """Keep a holding usable in children of this process."""
    with _guard:
        _holdings.add(holding)


def _hold() -> None:
    """Wait until nobody is in the middle of a change, or of compiling a kernel."""
    _guard.acquire()
    locks: list[Any] = []
    for holding in sorted(_holdings, key=id):
        locks += (holding.writing, holding.changing)
    compiling = sys.modules.get("numba.core.compiler_lock")
    if compiling is not None:
        locks.append(compiling.global_compiler_lock)
    for lock in locks:
        lock.acquire()
        _held.append(lock)


def _release() -> None:
    while _held:
        _held.pop().release()
    _guard.release()


def _renew() -> None:
    """In the child: locks of the engines are new, the others are given back."""
    global _guard  # noqa: PLW0603 - the old one belongs to a thread that is not here
    compiling = sys.modules.get("numba.core.compiler_lock")
    if compiling is not None:
        compiling.global_compiler_lock.release()
    _held.clear()
    _guard = RLock()
    for holding in list(_holdings):
        holding.renew_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_renew)
