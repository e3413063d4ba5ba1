"""Manifests: what they may name, and that nothing else is opened."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from thatch.errors import TableError
from thatch.formats.folders import MANIFEST, describe_file, read_manifest
from thatch.formats.subscriptions import read_loaded


def write(folder: Path, files: dict[str, object]) -> None:
    manifest = {"format": 1, "kind": "load", "command": "", "parameters": {}, "rows": {}, "files": files}
    (folder / MANIFEST).write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "/dev/zero",
        "../outside",
        "a/../../outside",
        "link",
        "zero",
        "pipe",
        "loop",
        "a",
        "",
        ".",
        "a\0b",
    ],
)
@pytest.mark.parametrize("size", [0, 1])
def test_a_manifest_names_regular_files_in_its_folder_only(name, size, tmp_path):
    folder = tmp_path / "folder"
    (folder / "a").mkdir(parents=True)
    (tmp_path / "outside").write_bytes(b"x")
    (folder / "link").symlink_to(tmp_path / "outside")
    (folder / "zero").symlink_to("/dev/zero")
    (folder / "loop").symlink_to(folder / "loop")
    os.mkfifo(folder / "pipe")
    write(folder, {name: {"bytes": size, "sha256": "0"}})
    with pytest.raises(TableError, match=r"names of files|regular files|Cannot read"):
        read_manifest(folder, "load")


@pytest.mark.parametrize("entry", [None, 5, {}, {"bytes": 2}, {"bytes": "1"}, {"bytes": 1, "sha256": None}])
def test_a_file_is_as_its_entry_says(entry, tmp_path):
    (tmp_path / "a").write_bytes(b"x")
    write(tmp_path, {"a": entry})
    with pytest.raises(TableError, match=r"size in the manifest|content is not"):
        read_manifest(tmp_path)
    write(tmp_path, {"a": describe_file(b"x")})
    assert read_manifest(tmp_path)["files"] == {"a": describe_file(b"x")}


@pytest.mark.parametrize("target", ["/dev/zero", "pipe", "large"])
def test_a_manifest_that_is_no_file_or_too_large_is_not_read(target, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)
    (tmp_path / MANIFEST).symlink_to(tmp_path / target)
    with pytest.raises(TableError, match="Cannot read"):
        read_manifest(tmp_path)


def test_loaded_subscriptions_are_those_that_the_manifest_names(tmp_path):
    (tmp_path / "subscriptions").mkdir()
    (tmp_path / "subscriptions" / "part-0.parquet").write_bytes(b"PAR1")
    write(tmp_path, {})
    with pytest.raises(TableError, match="does not name"):
        read_loaded(str(tmp_path))
