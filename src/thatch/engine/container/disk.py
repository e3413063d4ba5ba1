"""How a file reaches the disk whole, and how it is mapped."""

from __future__ import annotations

import errno
import mmap
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from thatch.engine.container.directory import EXPECTED
from thatch.errors import IndexFileError

__all__ = ["map_file", "replacing"]

_WRITABLE_PLACE = "a place where a file can be written"


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A new file that takes its place under `path` when the block ends well, and is gone when it does not.

    Raises
    ------
    IndexFileError
        If the file cannot be written. The old one is untouched then; only when the folder cannot be
        synchronised is the new one in its place already, and the message says so.
    """
    mode = _mode_of_old(path)
    # Not mkstemp: its file has mode 0600, only an open with 0666 lets the umask decide, and there is no way
    # to ask for the umask without changing it for every thread.
    temporary = path.parent / f".{path.name[:40]}.{uuid4().hex}"
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            try:
                with temporary.open("xb") as file:
                    if mode is not None:
                        os.fchmod(file.fileno(), mode)
                    yield file
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(temporary, path)  # noqa: PTH105 - the two are the same call
            except BaseException:
                with suppress(OSError):  # the error at hand matters more
                    temporary.unlink(missing_ok=True)
                raise
            _synchronise(folder, path)
        finally:
            os.close(folder)
    except OSError as error:
        raise IndexFileError(_WRITABLE_PLACE, str(error), str(path)) from error


def _mode_of_old(path: Path) -> int | None:
    """The permissions of the file to replace, None if there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        raise IndexFileError(_WRITABLE_PLACE, str(error), str(path)) from error
    if not stat.S_ISREG(status.st_mode):
        raise IndexFileError(_WRITABLE_PLACE, "a folder or device", str(path))
    return stat.S_IMODE(status.st_mode)


def _synchronise(folder: int, path: Path) -> None:
    """Make the new name in a folder last."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno in {errno.EINVAL, errno.ENOTSUP}:  # file systems that have no such thing
            return
        got = f"{error}; the new file is in its place, but may not survive a power cut"
        raise IndexFileError(_WRITABLE_PLACE, got, str(path)) from error


def map_file(path: Path, *, writable: bool) -> NDArray[np.uint8]:
    """The bytes of a file: shared and read-only, or a private copy whose pages are made when written to.

    Neither populating the mapping, nor advice to the kernel, nor a second thread made reading quicker, be the
    pages in memory or not; populating a private mapping copies the file.
    """
    try:
        # Without O_NONBLOCK a pipe would wait for its writer.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        raise IndexFileError(EXPECTED, str(error), str(path)) from error
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise IndexFileError(EXPECTED, "a folder or device", str(path))
        if status.st_size == 0:  # nothing can be mapped
            return np.empty(0, np.uint8)
        access = mmap.ACCESS_COPY if writable else mmap.ACCESS_READ
        return np.frombuffer(mmap.mmap(handle, status.st_size, access=access), np.uint8)
    except OSError as error:
        raise IndexFileError(EXPECTED, str(error), str(path)) from error
    finally:
        os.close(handle)
