"""Folders of tables with a manifest, which says what made them and what every file was when it was written.

A folder appears only when it is complete.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from thatch.errors import TableError, shown

__all__ = [
    "FORMAT",
    "MANIFEST",
    "describe_file",
    "manifest_text",
    "new_folder",
    "read_manifest",
    "write_manifest",
]

FORMAT = 1
MANIFEST = "manifest.json"


def manifest_text(
    kind: str,
    *,
    command: str,
    parameters: Mapping[str, Any],
    rows: Mapping[str, int],
    files: Mapping[str, Mapping[str, Any]],
) -> str:
    """The manifest as JSON.

    Parameters
    ----------
    kind : what the folder is: `load`, `match`, `profile`
    command : the command line that made it
    parameters : what its maker was told, by name; JSON-like values
    rows : how many rows each table in it has, by name
    files : what `describe_file` says of each file, or at least its `bytes`, by name
    """
    manifest = {
        "format": FORMAT,
        "kind": kind,
        "command": command,
        "parameters": dict(parameters),
        "rows": dict(rows),
        "files": dict(files),
    }
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"


def describe_file(content: bytes) -> dict[str, Any]:
    """What a manifest says of a file."""
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def read_manifest(
    path: str | Path, kind: str | None = None, names: Iterable[str] | None = None
) -> dict[str, Any]:
    """The manifest of a folder, once its files are found to be as they were written.

    Parameters
    ----------
    kind : what the folder should be
    names : the files that are looked at, which must be there; all that the manifest names by default

    Raises
    ------
    TableError
        If there is none, it is of a newer format or another kind, or a file is missing or not as it was written.
    """
    folder = Path(path)
    try:
        manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        version, found, files = manifest["format"], manifest["kind"], dict(manifest["files"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise TableError(f"a folder with {MANIFEST}", shown(error), str(path)) from error
    if version != FORMAT:
        raise TableError(f"a folder of format {FORMAT}", f"one of format {shown(version)}", str(path))
    if kind is not None and found != kind:
        raise TableError(f"a folder of kind {kind}", f"one of kind {shown(found)}", str(path))
    for name in files if names is None else names:
        if name not in files:
            raise TableError(f"a manifest that names {name}", "one that does not", str(path))
        _check_file(folder / name, files[name])
    return manifest


def _check_file(path: Path, told: Any) -> None:
    expected = "the file that the manifest describes"
    try:
        size = path.stat().st_size
        if not isinstance(told, Mapping) or size != told.get("bytes"):
            raise TableError(expected, f"one of {size:,} bytes", str(path))
        if "sha256" in told and describe_file(path.read_bytes()) != dict(told):
            raise TableError(expected, "one of another content", str(path))
    except OSError as error:
        raise TableError("the files that the manifest names", str(error), str(path)) from error


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


def write_manifest(
    folder: Path, kind: str, *, command: str, parameters: Mapping[str, Any], rows: Mapping[str, int]
) -> None:
    """Write the manifest, the last file of all; see `manifest_text`."""
    files = {path.name: describe_file(path.read_bytes()) for path in sorted(folder.iterdir())}
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
