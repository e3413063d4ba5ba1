"""Output never eats input, whatever the two are called."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path

import pytest

from thatch.errors import OutputError
from thatch.outputs import check_file, check_folder, refuse_inputs


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "logs" / "log.jsonl"
    path.parent.mkdir()
    path.write_text("{}\n")
    (tmp_path / "link.jsonl").symlink_to(path)
    (tmp_path / "linked").symlink_to(path.parent)
    os.link(path, tmp_path / "hard.jsonl")
    (path.parent / "manifest.json").write_text('{"format": 1, "kind": "load", "files": {}}')
    return path


SPELLINGS = (
    *("logs/log.jsonl", "logs/../logs/./log.jsonl", "link.jsonl", "linked/log.jsonl", "hard.jsonl"),
    *("logs", "linked", "logs/new.jsonl", "linked/new/er", ".", "logs/log.jsonl/below"),
)


SOURCES = ("logs/log.jsonl", "link.jsonl", "logs", "lo*/*.jsonl", "file:{}", "logs/l{x,og}.jsonl")
APART = (
    {  # beside the log, or another name of it, which can be replaced without touching the folder that is read
        *((source, spelling) for source in SOURCES for spelling in ("logs/new.jsonl", "linked/new/er")),
        ("logs", "hard.jsonl"),
    }
    - {("logs", "logs/new.jsonl"), ("logs", "linked/new/er"), ("lo*/*.jsonl", "logs/new.jsonl")}
)


@pytest.mark.parametrize(
    ("source", "spelling"), [pair for pair in product(SOURCES, SPELLINGS) if pair not in APART]
)
def test_what_is_read_is_never_written_however_it_is_spelt(spelling, source, log, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OutputError, match="is read"):
        refuse_inputs(spelling, [None, "other.csv", source.replace("{}", str(log))])


def test_places_apart_from_what_is_read_are_free(log, tmp_path):
    inputs = [log, "-", "hdfs://host/logs", "line:5", "no\0thing", str(tmp_path / "logs" / "*.csv")]
    check_file(tmp_path / "logs" / "new.jsonl", inputs=inputs)
    check_folder(tmp_path / "new" / "deep", inputs=inputs)


def test_standard_input_is_read_too(log, monkeypatch):
    with log.open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        with pytest.raises(OutputError, match="is read"):
            check_file(log, inputs=["-"], overwrite=True)


def test_what_exists_stays_unless_asked(log, tmp_path):
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    for name in ("logs/log.jsonl", "link.jsonl", "dangling"):
        with pytest.raises(OutputError, match="already exists"):
            check_file(tmp_path / name)
        check_file(tmp_path / name, overwrite=True)
    for name in ("logs", "empty"):
        with pytest.raises(OutputError, match="already exists"):
            check_folder(tmp_path / name)
        check_folder(tmp_path / name, overwrite=True)


def test_asked_too_only_files_and_folders_of_ours_are_replaced(log, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("logs", "linked/", "pipe"):
        with pytest.raises(OutputError, match="a place where a file can be written"):
            check_file(tmp_path / name, overwrite=True)
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "manifest.json").write_text('{"name": "an app", "icons": []}')
    (tmp_path / "sent").mkdir()
    os.mkfifo(tmp_path / "sent" / "manifest.json")
    for name in ("web", "sent", "linked", "link.jsonl", "hard.jsonl"):
        with pytest.raises(OutputError, match="what no command of Thatch wrote"):
            check_folder(tmp_path / name, overwrite=True)
    check_file("/dev/null")


@pytest.mark.parametrize("path", ["", "/", "//", "a\0b"])
def test_what_names_nothing_is_refused(path):
    for check in (check_file, check_folder):
        with pytest.raises(OutputError, match="path of a file or folder"):
            check(path)


def test_a_hostile_name_cannot_steer_a_terminal(tmp_path):
    (tmp_path / "a\x1b[2J\u202eb\n").touch()
    with pytest.raises(OutputError) as caught:
        check_file(tmp_path / "a\x1b[2J\u202eb\n")
    assert str(caught.value).isprintable()
