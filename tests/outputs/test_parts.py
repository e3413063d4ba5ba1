"""Output appears whole or not at all, and what a killed process left goes with the next run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from thatch.errors import OutputError
from thatch.outputs import new_file, new_folder, parts
from thatch.outputs.parts import own_part

_KILLED = """
import os, pathlib, signal, sys
from thatch.outputs import new_file, new_folder
path = pathlib.Path(sys.argv[1])
make = new_folder if path.name == "folder" else new_file
with make(path, overwrite=True) as made, make(path, overwrite=True) as other:
    os.kill(os.getpid(), signal.SIGKILL)
"""


def leave(path: Path) -> None:
    """A process that is killed while it writes twice."""
    subprocess.run([sys.executable, "-c", _KILLED, str(path)], check=False, timeout=60)
    assert sum(each.name.endswith(".thatch-part") for each in path.parent.iterdir()) == 2


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_what_a_killed_process_left_goes_with_the_next_run(tmp_path):
    leave(tmp_path / "file")
    with new_file(tmp_path / "file") as file:
        file.write(b"x")
    assert names(tmp_path) == ["file"]
    leave(tmp_path / "folder")
    with new_folder(tmp_path / "folder") as made:
        (made / "a").touch()
    assert names(tmp_path) == ["file", "folder"]


def test_those_who_write_at_once_do_not_disturb_each_other(tmp_path):
    path = tmp_path / "file"
    with new_file(path, overwrite=True) as one:
        one.write(b"one")
        with new_file(path, overwrite=True) as other:
            other.write(b"other")
        assert path.read_bytes() == b"other"
        with own_part(path, is_folder=False) as part:
            assert part.path.name.endswith(".1.thatch-part")
    assert path.read_bytes() == b"one"
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("make", [new_file, new_folder])
def test_a_signal_between_the_part_and_the_note_of_it_leaves_nothing(make, tmp_path, monkeypatch):
    whole, made = parts._make, []

    def interrupted(path: Path, *, is_folder: bool) -> int:
        made.append(whole(path, is_folder=is_folder))
        raise KeyboardInterrupt

    monkeypatch.setattr(parts, "_make", interrupted)
    with pytest.raises(KeyboardInterrupt), make(tmp_path / "folder" / "new"):
        pass
    os.close(made[0])
    assert names(tmp_path) == []


def test_an_old_folder_that_was_set_aside_by_a_killed_process_comes_back(tmp_path):
    aside = tmp_path / ".out.0.thatch-part" / "old"
    aside.mkdir(parents=True)
    (aside / "manifest.json").write_text('{"format": 1, "kind": "load", "files": {}}')
    with pytest.raises(OutputError, match="already exists"), new_folder(tmp_path / "out"):
        pass
    assert names(tmp_path / "out") == ["manifest.json"]
    with new_folder(tmp_path / "out", overwrite=True):
        pass
    assert (names(tmp_path), names(tmp_path / "out")) == (["out"], [])


def test_a_name_like_ours_that_is_a_link_is_left_alone(tmp_path):
    (tmp_path / "precious").write_text("x")
    (tmp_path / ".file.0.thatch-part").symlink_to(tmp_path / "precious")
    with new_file(tmp_path / "file"):
        pass
    assert names(tmp_path) == [".file.0.thatch-part", "file", "precious"]
    assert (tmp_path / "precious").read_text() == "x"


@pytest.mark.parametrize("make", [new_file, new_folder])
def test_folders_above_are_created_and_go_if_writing_fails(make, tmp_path):
    with pytest.raises(ZeroDivisionError), make(tmp_path / "a" / "b" / "out"):
        raise ZeroDivisionError
    assert names(tmp_path) == []
    with make(tmp_path / "a" / "b" / "out"):
        pass
    assert names(tmp_path / "a" / "b") == ["out"]


def test_somebody_who_was_quicker_is_not_replaced(tmp_path):
    with pytest.raises(OutputError, match="already exists"), new_file(tmp_path / "file"):
        (tmp_path / "file").write_text("quick")
    with pytest.raises(OutputError, match="already exists"), new_folder(tmp_path / "folder"):
        (tmp_path / "folder").mkdir()
    assert (tmp_path / "file").read_text() == "quick"
    assert names(tmp_path) == ["file", "folder"]


def test_a_file_system_without_links_is_enough(tmp_path, monkeypatch):
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    with new_file(tmp_path / "file") as file:
        file.write(b"x")
    assert names(tmp_path) == ["file"]
