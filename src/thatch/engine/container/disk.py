"""How a file is mapped."""

from __future__ import annotations

import mmap
import os
import stat
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from thatch.engine.container.directory import EXPECTED
from thatch.errors import IndexFileError

__all__ = ["map_file"]


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
