"""Hidden places beside an output, in which it is made: `.NAME.0.thatch-part`.

A process owns a part while it holds a lock on it, and the system lets go of the lock when the process ends, however it
ends. So a part that nobody has locked was left by a process that was killed, and the next one that writes the same
output removes it. The number counts up while others write the same output.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

__all__ = ["OLD", "Part", "own_part"]

OLD = "old"  # in the part of a folder: the folder that is being replaced
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW


@dataclass(frozen=True, slots=True)
class Part:
    """A hidden file or folder, and the handle that locks it."""

    path: Path
    handle: int


@contextmanager
def own_part(whole: Path, *, is_folder: bool) -> Iterator[Part]:
    """A part of the output `whole`, empty; what is left of it when the block ends is removed."""
    taken: list[Part] = []
    try:
        _take_first(whole, taken, is_folder=is_folder)
        yield taken[0]
    finally:
        for part in taken:
            _give_up(part)


def _give_up(part: Part) -> None:
    if _is_at(part.handle, part.path):  # a file that has got its name is no longer here
        _remove(part.path)
    os.close(part.handle)


def _take_first(whole: Path, taken: list[Part], *, is_folder: bool) -> None:
    """Take the first part that is free; it is in `taken` as soon as it exists, since a signal may come at any moment."""
    parts = (whole.with_name(f".{whole.name[:40]}.{number}.thatch-part") for number in count())
    next(path for path in parts if _take(path, whole, taken, is_folder=is_folder))
    for path in parts:  # left by processes that wrote at the same time
        if not os.path.lexists(path):
            break
        _remove_abandoned(path, whole)


def _take(path: Path, whole: Path, taken: list[Part], *, is_folder: bool) -> bool:
    """Make a part and lock it, unless another process has it."""
    while True:
        try:
            taken.append(Part(path, _make(path, is_folder=is_folder)))
        except FileExistsError:
            if not _remove_abandoned(path, whole):
                return False
        except FileNotFoundError:
            if not path.parent.is_dir():
                raise
        except BaseException:  # a signal, perhaps when the part was there and not in `taken` yet
            _remove_abandoned(path, whole)
            raise
        else:
            if _lock(taken[0].handle, if_unknown=True) and _is_at(taken[0].handle, path):
                return True
            os.close(taken.pop().handle)  # whoever cleans up was quicker


def _make(path: Path, *, is_folder: bool) -> int:
    if not is_folder:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    path.mkdir()
    return os.open(path, _READ | os.O_DIRECTORY)


def _remove_abandoned(path: Path, whole: Path) -> bool:
    """Remove a part that nobody has locked; whether there is none any more."""
    try:
        handle = os.open(path, _READ)
    except FileNotFoundError:
        return True
    except OSError:  # a link, or not ours to read
        return False
    try:
        if not _lock(handle, if_unknown=False):
            return False
        if _is_at(handle, path):
            if (path / OLD).exists() and not os.path.lexists(whole):
                (path / OLD).rename(whole)  # killed between two names: the old folder comes back
            _remove(path)
        return not os.path.lexists(path)
    finally:
        os.close(handle)


def _lock(handle: int, *, if_unknown: bool) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return if_unknown
    return True


def _is_at(handle: int, path: Path) -> bool:
    with suppress(OSError):
        return os.path.samestat(os.fstat(handle), path.lstat())
    return False


def _remove(path: Path) -> None:
    """Remove a file or folder as far as possible; the error at hand matters more than one here."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
