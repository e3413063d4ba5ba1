"""What happens when, in virtual time: packets and other work on one heap, timers on another.

They are separate because a network is quiet when no work is left, even if timers, such as those of expiries, are set. Of
work at the same time, what was put first comes first, so that a run can be repeated exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from math import inf
from typing import Any

__all__ = ["Schedule", "VirtualTimers"]


class VirtualTimers:
    """The timers of one broker, each with at most one entry on the heap, however often it is reset.

    A broker sets its resend timer at every packet and cancels it at every acknowledgement. An entry that comes too early
    is put back for the time that was set last.
    """

    __slots__ = ("armed", "due", "fire")

    def __init__(self, fire: Callable[[str], None]) -> None:
        self.fire = fire
        self.due: dict[str, float] = {}
        self.armed: dict[str, float] = {}  # when the entry on the heap is due

    def clear(self) -> None:
        """Cancel all of them."""
        self.due.clear()
        self.armed.clear()


class Schedule:
    """Work and timers by time."""

    def __init__(self) -> None:
        self.now = 0.0
        self._work: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._timers: list[tuple[float, int, VirtualTimers, str]] = []
        self._number = 0

    def put(self, at: float, action: Callable[..., None], *arguments: Any) -> None:
        """Schedule a call at a time."""
        self._number += 1
        heappush(self._work, (at, self._number, action, arguments))

    def set_timer(self, timers: VirtualTimers, name: str, at: float) -> None:
        """Set a timer of a broker for a time, or for now if that is past."""
        timers.due[name] = at
        armed = timers.armed.get(name)
        if armed is None or armed > at:
            self._arm(timers, name, max(at, self.now))

    def step(self, until: float = inf) -> bool:
        """Do what comes next, if it is due by then; returns whether there was anything to do."""
        work = self._work[0][0] if self._work else inf
        timer = self.next_timer()
        at = min(work, timer)
        if at > until or at == inf:
            return False
        self.now = max(self.now, at)
        if work <= timer:
            _, _, action, arguments = heappop(self._work)
            action(*arguments)
        else:
            _, _, timers, name = heappop(self._timers)
            del timers.armed[name], timers.due[name]
            timers.fire(name)
        return True

    @property
    def next_work(self) -> float:
        """When the next work is due, infinite if there is none."""
        return self._work[0][0] if self._work else inf

    def next_timer(self) -> float:
        """When the next timer expires, infinite if there is none."""
        heap = self._timers
        while heap:
            at, _, timers, name = heap[0]
            due = timers.due.get(name) if timers.armed.get(name) == at else None
            if due is not None and due <= at:
                return at
            heappop(heap)
            if timers.armed.get(name) == at:
                del timers.armed[name]
                if due is not None:
                    self._arm(timers, name, due)
        return inf

    def _arm(self, timers: VirtualTimers, name: str, at: float) -> None:
        self._number += 1
        timers.armed[name] = at
        heappush(self._timers, (at, self._number, timers, name))
