"""The manifest of a folder: what it is, what made it, and what every file in it was when it was written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from thatch.errors import TableError, shown

__all__ = ["FORMAT", "MANIFEST", "file_told", "manifest_text", "read_manifest"]

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
    files : what `file_told` says of each file, or at least its `bytes`, by name
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


def file_told(content: bytes) -> dict[str, Any]:
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
        if "sha256" in told and file_told(path.read_bytes()) != dict(told):
            raise TableError(expected, "one of another content", str(path))
    except OSError as error:
        raise TableError("the files that the manifest names", str(error), str(path)) from error
