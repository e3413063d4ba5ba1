"""Merging in the background: one thread that lives as long as there is something to merge.

It holds the engine's lock only to fetch a job and to put the result in place; the long part in between needs none.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition, RLock, Thread, current_thread

from thatch.matching.growing import GrowingIndex

__all__ = ["Merger"]

_MOST_WAITING = 4  # full deltas; more would slow every match, so whoever adds then waits


class Merger:
    """The merges of one engine.

    Parameters
    ----------
    lock : the one that whoever changes the index holds
    index : gives the index, which may be another one after a while
    published : is called, with the lock held, after the index has changed
    """

    def __init__(self, lock: RLock, index: Callable[[], GrowingIndex], published: Callable[[], None]) -> None:
        self._lock = lock
        self._changed = Condition(lock)
        self._index, self._published = index, published
        self._thread: Thread | None = None

    def poke(self) -> None:
        """See to it that what there is to merge gets merged; the caller holds the lock."""
        segments = self._index().segments
        if segments is None or not segments.has_work or self._thread is not None:
            return
        # Not a daemon: when the process ends, it ends after the merge, not in the middle of a kernel.
        thread = Thread(target=self._run, name="thatch-merge")
        self._thread = thread
        try:
            thread.start()
        except RuntimeError:  # no thread can be had now; what waits is searched all the same
            self._thread = None

    def wait_for_room(self) -> None:
        """Wait while too much waits to be merged; the caller holds the lock, which is free meanwhile."""
        while (
            self._thread is not None
            and (segments := self._index().segments) is not None
            and segments.backlog > _MOST_WAITING
        ):
            self._changed.wait()

    def wait(self) -> None:
        """Wait until nothing is being merged; the caller holds the lock, which is free meanwhile."""
        while self._thread is not None:
            self._changed.wait()

    def _run(self) -> None:
        try:
            while self._step():
                pass
        finally:
            with self._lock:
                if self._thread is current_thread():  # another may have begun by now
                    self._thread = None
                self._changed.notify_all()

    def _step(self) -> bool:
        with self._lock:
            segments = self._index().segments
            job = segments.next_job() if segments is not None else None
            if segments is None or job is None:
                self._thread = None
                self._changed.notify_all()
                return False
        try:
            built = job.build()
        except BaseException:
            with self._lock:
                segments.abandon()
            raise
        with self._lock:
            segments.finish(job, built)
            self._published()
            self._changed.notify_all()
        return True
