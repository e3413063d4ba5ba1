"""Tiers for tests: memory that fills up soon, and a database that goes away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thatch.errors import StoreError
from thatch.tiering import Budget, DiagramTier

SIZE = 10_000  # bytes that each subscription is said to take
SMALL = Budget(size=200_000, high=0.55, low=0.4)  # nine subscriptions, then down to six


class TightTier(DiagramTier):
    """Diagrams that say they are large."""

    def nbytes(self) -> int:
        return SIZE * len(self)


class Crash(BaseException):
    """The process ends here."""


class Frail:
    """A cold tier that fails at one of its next calls, before or after it has been done.

    Parameters
    ----------
    fuse : calls that still succeed; None for all
    is_done : whether the failing call happens all the same
    is_crash : the process ends; otherwise the connection is lost
    act : is done in place of the failure, before the call
    """

    def __init__(self, cold: Any) -> None:
        self.cold = cold
        self.mend()

    def mend(self) -> None:
        self.fuse: int | None = None
        self.is_done = self.is_crash = False
        self.act: Callable[[], None] | None = None

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.cold, name)
        if name in ("lock", "nbytes", "check", "close"):  # nothing is asked of a database
            return method

        def call(*given: Any) -> Any:
            if self.fuse is None:
                return method(*given)
            if self.fuse == 0 and self.act is not None:
                self.fuse = None
                self.act()
                return method(*given)
            if self.fuse == 0:
                if self.is_done:
                    method(*given)
                if self.is_crash:
                    raise Crash
                raise StoreError("a database", "none", name)
            self.fuse -= 1
            return method(*given)

        return call
