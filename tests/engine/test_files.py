"""Saved engines: round trips, and files that are not what they should be."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thatch
from thatch.engine import container


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    engine = thatch.Engine(thatch.Schema({"qty": thatch.Integer(0, 10), "side": thatch.Enum("buy", "sell")}))
    engine.subscribe("a", "qty > 5", subscriber="s", expires=7)
    engine.subscribe("b", "side = 'buy' or name like '%x%'")
    path = tmp_path / "engine.thatch"
    engine.save(path)
    return path


def test_a_saved_engine_opens_with_everything_it_had(saved: Path) -> None:
    engine = thatch.Engine.open(saved)
    assert list(engine) == ["a", "b"]
    assert engine.schema == thatch.Schema({"qty": thatch.Integer(0, 10), "side": thatch.Enum("buy", "sell")})
    assert engine.match({"qty": 6, "name": "axb"}, now=6) == ["a", "b"]
    assert engine.match({"qty": 6}, now=7) == []
    assert engine.match({"qty": 6}, by="subscriber", now=6) == ["s"]


def test_mode_r_refuses_changes_and_mode_a_saves_them_back(saved: Path, tmp_path: Path) -> None:
    reading = thatch.Engine.open(saved)
    for change in (
        lambda: reading.subscribe("c", "x = 1"),
        lambda: reading.unsubscribe("a"),
        lambda: reading.expire(8),
        lambda: reading.subscribe_many(reading.subscriptions()),
        reading.save,
    ):
        with pytest.raises(thatch.errors.ReadOnlyError):
            change()
    reading.save(tmp_path / "copy.thatch")
    assert (tmp_path / "copy.thatch").read_bytes() == saved.read_bytes()
    writing = thatch.Engine.open(saved, mode="a")
    writing.unsubscribe("a")
    writing.save()
    assert list(thatch.Engine.open(saved)) == ["b"]


def test_an_empty_engine_can_be_saved(tmp_path: Path) -> None:
    thatch.Engine().save(tmp_path / "empty")
    assert len(thatch.Engine.open(tmp_path / "empty")) == 0


def test_a_missing_file_a_folder_and_a_wrong_mode_are_refused(tmp_path: Path, saved: Path) -> None:
    for path in (tmp_path / "nothing", tmp_path):
        with pytest.raises(thatch.errors.IndexFileError):
            thatch.Engine.open(path)
    with pytest.raises(thatch.errors.IndexFileError):
        thatch.Engine.open(saved, mode="w")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(thatch.errors.OutputError, match="a folder"):
        thatch.Engine().save(tmp_path, overwrite=True)


def test_a_failed_save_leaves_the_old_file_and_no_litter(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = saved.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(thatch.errors.OutputError, match="No space left"):
        thatch.Engine.open(saved, mode="a").save()
    assert saved.read_bytes() == before
    assert [each.name for each in saved.parent.iterdir()] == [saved.name]


def test_files_cut_short_anywhere_are_refused(saved: Path) -> None:
    content = saved.read_bytes()
    for length in range(0, len(content), 7):
        saved.write_bytes(content[:length])
        with pytest.raises(thatch.errors.IndexFileError):
            thatch.Engine.open(saved)


def test_a_newer_version_is_refused_by_name(saved: Path) -> None:
    content = saved.read_bytes()
    saved.write_bytes(content[:7] + b"\x04" + content[8:])
    with pytest.raises(thatch.errors.IndexFileError, match="version 4"):
        thatch.Engine.open(saved)


def test_another_container_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    container.write(path, {"kind": "profile"}, {"x": np.zeros(3)})
    with pytest.raises(thatch.errors.IndexFileError, match="a saved profile"):
        thatch.Engine.open(path)


@pytest.mark.parametrize(
    "header",
    [
        {"kind": "engine"},
        {"kind": "engine", "schema": {"x": {"type": 5}}, "form": "texts"},
        {"kind": "engine", "schema": None, "form": "texts"},
        {"kind": "engine", "schema": None, "form": "segments", "segments": 2},
        {"kind": "engine", "schema": None, "form": "segments", "segments": "x"},
    ],
)
def test_an_engine_with_parts_missing_is_refused(tmp_path: Path, header: dict[str, Any]) -> None:
    path = tmp_path / "file"
    container.write(path, header, {})
    with pytest.raises(thatch.errors.IndexFileError):
        thatch.Engine.open(path)
