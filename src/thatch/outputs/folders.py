"""A folder that appears when it is complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from thatch.errors import OutputError
from thatch.outputs.parts import OLD, own_part
from thatch.outputs.places import Inputs, check_folder, named, whole_path, with_parents

__all__ = ["new_folder"]


@contextmanager
def new_folder(
    path: str | os.PathLike[str], *, inputs: Inputs = (), overwrite: bool = False
) -> Iterator[Path]:
    """A hidden folder to write into, which gets its name when the block ends, and is removed if it fails.

    A folder that is replaced is first set aside, and comes back if the new one cannot take its place.

    Raises
    ------
    OutputError
        If something exists at the path, or it is read, or cannot be written; see `thatch.outputs`.
    """
    check_folder(path, inputs=inputs, overwrite=overwrite)
    whole = whole_path(path)
    try:
        with with_parents(whole), own_part(whole, is_folder=True) as part:
            made, old = part.path / "new", part.path / OLD
            made.mkdir()
            yield made
            check_folder(path, inputs=inputs, overwrite=overwrite)  # it may have appeared meanwhile
            if whole.exists():
                whole.rename(old)
            try:
                made.rename(whole)
            except OSError:
                if old.exists():
                    old.rename(whole)
                raise
    except OSError as error:
        raise OutputError("a place where a folder can be written", str(error), named(path)) from error
