"""Merging in the background: one thread that lives as long as there is something to merge.

It holds the engine's lock only to fetch a job and to put the result in place, not while it merges.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition, RLock, Thread, current_thread
from typing import TYPE_CHECKING

from thatch.engine.subscriptions import STOPWATCH
from thatch.matching.growing import GrowingIndex

if TYPE_CHECKING:
    from thatch.matching.segments import SegmentIndex

__all__ = ["BackgroundMerger"]

_MOST_WAITING = 4  # full deltas; more would slow every match, so whoever adds then waits


class BackgroundMerger:
    """The merges of one engine.

    `index` returns the index of the moment. `change` changes it whole or not at all, with the lock held.
    """

    def __init__(
        self, lock: RLock, index: Callable[[], GrowingIndex], change: Callable[[Callable[[], None]], None]
    ) -> None:
        self._lock = lock
        self._changed = Condition(lock)
        self._index, self._change = index, change
        self._thread: Thread | None = None
        self.took = 0.0  # seconds that merges took, without putting them in place

    def poke(self) -> None:
        """Start merging if there is something to merge; the caller holds the lock."""
        index = self._index()
        if self._thread is not None or not index.background or not index.current.has_work:
            return
        # Not a daemon: when the process ends, it ends after the merge, not in the middle of a kernel.
        thread = Thread(target=self._run, name="thatch-merge")
        try:  # around the assignment too: nobody may wait for a thread that never starts
            self._thread = thread
            thread.start()
        except BaseException as error:
            self._thread = None
            if not isinstance(
                error, RuntimeError
            ):  # no thread to be had now; what waits is searched all the same
                raise

    def wait_for_room(self) -> None:
        """Wait while too many deltas wait to be merged; the caller holds the lock, which is free meanwhile."""
        while self._thread is not None and self._index().current.backlog > _MOST_WAITING:
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
        """Do one job; whether there was one."""
        with self._lock:
            segments = self._index().grow()  # it has grown already: a small index has no work
        try:
            return self._merge(segments)
        except BaseException:
            with self._lock:
                segments.abandon()
            raise

    def _merge(self, segments: SegmentIndex) -> bool:
        with self._lock:
            job = segments.next_job()
            if job is None:
                self._thread = None
                self._changed.notify_all()
                return False
        start = STOPWATCH()
        built = job.build()
        self.took += STOPWATCH() - start
        with self._lock:
            self._change(lambda: segments.finish(job, built))
            self._changed.notify_all()
        return True
