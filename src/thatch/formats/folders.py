"""Folders that appear when all in them is whole, written by this process."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from thatch.errors import TableError
from thatch.formats.manifest import MANIFEST, file_told, manifest_text

__all__ = ["describe", "new_folder"]


@contextmanager
def new_folder(folder: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[Path]:
    """A hidden folder to write into, which gets its name when the work inside is done and goes if it fails.

    Parameters
    ----------
    overwrite : whether to replace a folder that has a manifest, or nothing, in it

    Raises
    ------
    TableError
        If something is there already, or nothing can be written there.
    """
    whole = Path(folder)
    _check_free(whole, overwrite=overwrite)
    hidden, aside = (whole.with_name(f".{whole.name[:80]}.{uuid4().hex[:12]}") for _ in range(2))
    try:
        hidden.mkdir(parents=True)
        yield hidden
        _check_free(whole, overwrite=overwrite)  # somebody else may have been quicker
        if whole.exists():
            whole.rename(aside)
        try:
            hidden.rename(whole)
        except OSError:
            if aside.exists():
                aside.rename(whole)
            raise
    except OSError as error:
        raise TableError("a place where a folder can be written", str(error), str(whole)) from error
    finally:
        for each in (hidden, aside):
            shutil.rmtree(each, ignore_errors=True)


def describe(
    folder: Path, kind: str, *, command: str, parameters: Mapping[str, Any], rows: Mapping[str, int]
) -> None:
    """Write the manifest, the last file of all; see `manifest_text`."""
    files = {path.name: file_told(path.read_bytes()) for path in sorted(folder.iterdir())}
    text = manifest_text(kind, command=command, parameters=parameters, rows=rows, files=files)
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def _check_free(path: Path, *, overwrite: bool) -> None:
    if not path.exists():
        return
    if not overwrite:
        raise TableError("a folder that is not there yet", "one that is", str(path))
    # What no command has written is nobody's to remove.
    if not path.is_dir() or (not (path / MANIFEST).is_file() and any(path.iterdir())):
        raise TableError(f"a folder with {MANIFEST}, which a command has written", "one without", str(path))
