"""Engines in a process that forks: in the child they are whole, their locks are free and no thread is at work."""

from __future__ import annotations

import os
import sys
from threading import RLock
from typing import Any
from weakref import WeakSet

from thatch.engine.state import EngineState

__all__ = ["watch"]

_states: WeakSet[EngineState] = WeakSet()
_guard = RLock()  # guards `_states`; held through a fork, so that threads fork one after the other
_held: list[Any] = []


def watch(state: EngineState) -> None:
    """Keep an engine usable in children of this process."""
    with _guard:
        _states.add(state)


def _hold() -> None:
    """Wait until nobody is in the middle of a change, or of compiling a kernel."""
    _guard.acquire()
    locks: list[Any] = []
    for state in sorted(_states, key=id):
        locks += (state.writing, state.changing)
    compiled = sys.modules.get("thatch.compiled.decorators")
    if compiled is not None:
        locks.append(compiled.COMPILER_LOCK)
    for lock in locks:
        lock.acquire()
        _held.append(lock)


def _release() -> None:
    while _held:
        _held.pop().release()
    _guard.release()


def _renew() -> None:
    """In the child: release all locks, and make new ones for the engines, for which no thread of the parent waits."""
    _release()
    for state in list(_states):
        state.renew_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_renew)
