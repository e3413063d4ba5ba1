"""Standard input and files that grow, read as they come."""

from __future__ import annotations

import io
import os
import select
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["FollowedFile", "Idle", "Live", "LiveInput"]

Idle = Callable[[], None]  # is called before waiting: the moment to show what was found
_INTERVAL = 0.2  # seconds between two looks at a file that has not grown


@dataclass(frozen=True, slots=True)
class Live:
    """How events are read that come one by one; with `follow`, a file is read as it grows, and never ends."""

    idle: Idle = lambda: None
    follow: bool = False


class LiveInput(io.RawIOBase):
    """A stream that calls `idle` before it waits for input, and not while input is there already."""

    def __init__(self, handle: int, idle: Idle) -> None:
        self._handle, self._idle = handle, idle

    def readable(self) -> bool:
        """As any input."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Read what is there, at least a byte."""
        if not select.select([self._handle], [], [], 0)[0]:
            self._idle()
        return os.readv(self._handle, [buffer])


class FollowedFile(io.RawIOBase):
    """A file whose end is never reached: it is read from its start, and then as it grows.

    If another file takes its name, as when logs are rotated, that one is read next, from its start; so is a file that
    was cut short. A line that the old file left without its end ends there.

    Parameters
    ----------
    idle : is called before waiting
    wait : waits until it is worth to look again
    """

    def __init__(
        self, path: str, idle: Idle, wait: Callable[[], None] = lambda: time.sleep(_INTERVAL)
    ) -> None:
        self._path, self._idle, self._wait = Path(path), idle, wait
        self._file: io.FileIO = io.FileIO(path)
        self._ends_line = True

    def readable(self) -> bool:
        """As any input."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Read what is there, at least a byte; waits for it as long as it takes."""
        while True:
            is_old = self._is_old()  # asked first, so that all of an old file is read before
            if count := self._file.readinto(buffer) or 0:
                self._ends_line = bytes(memoryview(buffer)[:count][-1:]) == b"\n"
                return count
            if is_old:
                self._file.close()
                self._file = io.FileIO(self._path)
            elif self._file.tell() > os.fstat(self._file.fileno()).st_size:
                self._file.seek(0)
            else:
                self._idle()
                self._wait()
                continue
            if not self._ends_line:
                self._ends_line = True
                memoryview(buffer)[:1] = b"\n"
                return 1

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()

    def _is_old(self) -> bool:
        """Whether another file has the name now."""
        try:
            return not os.path.samestat(self._path.stat(), os.fstat(self._file.fileno()))
        except FileNotFoundError:  # between two names
            return False
