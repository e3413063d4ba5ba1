"""Where output may go: what exists stays unless asked otherwise, and what is read stays whatever is asked."""

from __future__ import annotations

import glob
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import unquote

from thatch.errors import OutputError
from thatch.outputs.manifests import is_ours

__all__ = ["Inputs", "check_file", "check_folder", "named", "refuse_inputs", "whole_path", "with_parents"]

Inputs = Iterable[str | os.PathLike[str] | None]

_REMOTE = re.compile(r"(?!file:)[A-Za-z][A-Za-z0-9+.-]+:")
_BRACES = re.compile(r"\{([^{}]*)\}")
_EXISTS = "{} already exists (to replace it: --overwrite, in Python overwrite=True)"


def check_file(path: str | os.PathLike[str], *, inputs: Inputs = (), overwrite: bool = False) -> None:
    """Raise `OutputError` if a file may not be written here; `inputs` are the paths that are read."""
    whole = whole_path(path)
    refuse_inputs(whole, inputs)
    status = _status(whole)
    if status is None:
        return
    is_file = stat.S_ISREG(status.st_mode) or whole.is_symlink() or whole.is_char_device()
    if whole.is_dir() or not is_file:
        raise OutputError("a place where a file can be written", "a folder, pipe or disk", named(path))
    if not overwrite and not whole.is_char_device():
        raise OutputError(_EXISTS.format(named(path)))


def check_folder(path: str | os.PathLike[str], *, inputs: Inputs = (), overwrite: bool = False) -> None:
    """Raise `OutputError` if a folder may not be written here; `inputs` are the paths that are read."""
    whole = whole_path(path)
    refuse_inputs(whole, inputs)
    if _status(whole) is None:
        return
    if not overwrite:
        raise OutputError(_EXISTS.format(named(path)))
    if whole.is_symlink() or not whole.is_dir() or (any(whole.iterdir()) and not is_ours(whole)):
        raise OutputError("Will not replace what no command of Thatch wrote", where=named(path))


def whole_path(path: str | os.PathLike[str]) -> Path:
    """An absolute path without `..`, links kept; raises `OutputError` for what names nothing."""
    text = os.fspath(path)
    if not text.strip("/") or "\0" in text:
        raise OutputError("the path of a file or folder to write", named(text) or "nothing")
    return Path(os.path.abspath(text))  # noqa: PTH100 - resolves `..`, keeps links


def named(path: str | os.PathLike[str]) -> str:
    """A path for messages, whole, without anything that a terminal would obey."""
    text = os.fspath(path)
    return text if text.isprintable() else text.encode("unicode_escape", "backslashreplace").decode()


def refuse_inputs(path: str | os.PathLike[str], inputs: Inputs) -> None:
    """Raise `OutputError` if a path is one of those that are read, lies in one of them, or contains one.

    Parameters
    ----------
    inputs : files, folders, globs, `file:` addresses, `-` for standard input; None and other addresses are skipped
    """
    whole = whole_path(path)
    for each in inputs:
        if each is not None and _touches(whole, os.fspath(each)):
            raise OutputError(
                "an output apart from what is read",
                f"{named(path)}, and {named(each)} is read",
            )


def _touches(whole: Path, source: str) -> bool:
    if source == "-":
        return _is_standard_input(whole)
    if _REMOTE.match(source) and not Path(source).exists():
        return False
    local = unquote(re.sub(r"^file:/+", "/", source)) if source.startswith("file:") else source
    if "\0" in local:
        return False
    places = (whole, Path(os.path.realpath(whole)))
    return any(
        _is_in(place, each) or _is_in(each, place) for each in _named(local) for place in places
    ) or any(
        fnmatchcase(str(whole), os.path.abspath(each))  # noqa: PTH100 - as the output's
        for each in _alternatives(local)
    )


def _named(source: str) -> Iterator[Path]:
    """The files and folders that a path or glob names, links followed."""
    found = {source}
    for each in _alternatives(source):
        found.update(glob.glob(each))  # noqa: PTH207 - absolute patterns too
    return (Path(os.path.realpath(each)) for each in found)


def _alternatives(pattern: str) -> Iterator[str]:
    """The globs that one with braces, as Hadoop knows them, stands for."""
    braces = _BRACES.search(pattern)
    if braces is None:
        yield pattern
        return
    for each in braces[1].split(","):
        yield from _alternatives(pattern[: braces.start()] + each + pattern[braces.end() :])


def _is_in(path: Path, folder: Path) -> bool:
    """Whether a path is a file or folder that exists, or lies below it, whatever both are called."""
    with suppress(OSError):
        status = folder.stat()
        path = Path(os.path.realpath(path.parent)) / path.name  # `..` is resolved, as the system would
        return any(_is_same(each, status) for each in (path, *path.parents))
    return False


def _is_same(path: Path, status: os.stat_result) -> bool:
    with suppress(OSError):
        return os.path.samestat(path.stat(), status)
    return False


def _is_standard_input(whole: Path) -> bool:
    with suppress(OSError, ValueError, AttributeError):  # closed, or no file at all
        status = os.fstat(sys.stdin.fileno())
        return stat.S_ISREG(status.st_mode) and _is_same(whole, status)
    return False


def _status(whole: Path) -> os.stat_result | None:
    """What is at a path, a link itself; None if nothing is or can be."""
    try:
        return whole.lstat()
    except OSError:
        return None


@contextmanager
def with_parents(whole: Path) -> Iterator[None]:
    """Create the missing folders above a path; they are removed if the block fails and they are empty."""
    missing = [each for each in whole.parents if not each.exists()]
    try:
        whole.parent.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        with suppress(OSError):
            for each in missing:
                each.rmdir()
        raise
