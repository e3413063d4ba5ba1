"""A file that appears when it is complete."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from thatch.errors import OutputError
from thatch.outputs.parts import Part, own_part
from thatch.outputs.places import Inputs, check_file, named, whole_path, with_parents

__all__ = ["new_file"]

_PLACE = "a place where a file can be written"


@contextmanager
def new_file(
    path: str | os.PathLike[str], *, inputs: Inputs = (), overwrite: bool = False, part: str = ""
) -> Iterator[BinaryIO]:
    """A file to write into, which gets its name when the block ends, and is removed if it fails.

    It has the permissions of any new file, or those of the file that it replaces. A symbolic link is replaced, not
    followed; a character device is written to as it is.

    Parameters
    ----------
    inputs : what is read, and never replaced
    overwrite : whether to replace a file that is there
    part : names the hidden file, if each file has a new name; the next one finds by it what a killed process left

    Raises
    ------
    OutputError
        If something exists at the path, or it is read, or cannot be written; see `thatch.outputs`. What was there is
        untouched then; only when the folder cannot be synchronised is the new file in its place already, and the
        message says so.
    """
    check_file(path, inputs=inputs, overwrite=overwrite)
    whole = whole_path(path)
    try:
        if whole.is_char_device():
            with whole.open("wb") as stream:
                yield stream
            return
        with with_parents(whole):
            with own_part(whole.with_name(part or whole.name), is_folder=False) as hidden:
                with open(hidden.handle, "wb", closefd=False) as file:
                    yield file
                _keep_permissions(hidden, whole)
                os.fsync(hidden.handle)
                _name(hidden, whole, overwrite=overwrite)
            _synchronise(whole)
    except OSError as error:
        raise OutputError(_PLACE, str(error), named(path)) from error


def _keep_permissions(part: Part, whole: Path) -> None:
    with suppress(FileNotFoundError):
        status = whole.lstat()
        if stat.S_ISREG(status.st_mode):
            os.fchmod(part.handle, stat.S_IMODE(status.st_mode))


def _name(part: Part, whole: Path, *, overwrite: bool) -> None:
    """Give a part its name; without `overwrite` never in the place of a file that has appeared meanwhile."""
    if not overwrite:
        try:
            os.link(part.path, whole)
        except FileExistsError:
            check_file(whole)
            raise
        except OSError:  # a file system without links
            check_file(whole)
        else:
            return  # the part itself goes with its other name
    os.replace(part.path, whole)  # noqa: PTH105 - the two are the same call


def _synchronise(whole: Path) -> None:
    """Make the new name in a folder last."""
    handle = os.open(whole.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno in {errno.EINVAL, errno.ENOTSUP}:  # file systems that have no such thing
            return
        got = f"{error}; the new file is in its place, but may not survive a power cut"
        raise OutputError(_PLACE, got, named(whole)) from error
    finally:
        os.close(handle)
