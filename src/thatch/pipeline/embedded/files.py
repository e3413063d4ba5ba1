"""Find the files of a path without Spark, as `thatch.pipeline.sources` finds them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from glob import glob, has_magic
from pathlib import Path

from thatch.errors import TableError
from thatch.formats.files import kind_of
from thatch.formats.subscriptions import SUBSCRIPTIONS, is_loaded

__all__ = ["find_local_files", "is_remote", "size_of"]

_PACKED = 6  # how much larger a compressed file is when it is read, roughly


def is_remote(path: str) -> bool:
    """Whether only Spark can read a path, such as `s3://bucket/log`."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", path) is not None


def size_of(paths: Iterable[str]) -> int:
    """How many bytes the files of some paths hold, about."""
    return sum(_size(Path(name)) for path in paths for name in _list(path))


def find_local_files(path: str) -> list[str]:
    """Find the files of a path: one file, a folder of files, or a glob; all of one kind."""
    names = _list(path)
    if not names:
        missing = "There are no files in" if Path(path).exists() or has_magic(path) else "There is no file"
        raise TableError(f"{missing} {path}")
    kinds = {kind_of(name): name for name in reversed(names)}  # each with its first file
    if len(kinds) > 1:
        raise TableError("files of one kind", " and ".join(sorted(kinds.values())), path)
    return names


def _list(path: str) -> list[str]:
    if is_loaded(path):
        path = str(Path(path) / SUBSCRIPTIONS)
    given = [path] if Path(path).exists() else glob(path)  # noqa: PTH207 - the path may be absolute
    return sorted(name for each in given for name in _files_in(Path(each)))


def _files_in(path: Path) -> list[str]:
    """A file itself, or the files of a folder but hidden ones."""
    if not path.is_dir():
        return [str(path)]
    return [str(each) for each in path.iterdir() if each.is_file() and each.name[0] not in "._"]


def _size(path: Path) -> int:
    return path.stat().st_size * (_PACKED if path.suffix.lower() == ".gz" else 1)
