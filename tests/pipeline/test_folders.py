"""Folders appear whole or not at all, on this machine and through Hadoop."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from thatch.errors import OutputError, SparkError, TableError
from thatch.formats.folders import MANIFEST, read_manifest
from thatch.pipeline.adapter import file_system
from thatch.pipeline.folders import atomic_folder, local_path

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]


@pytest.fixture(params=["local", "hadoop"])
def place(request, tmp_path, monkeypatch):
    """A folder, reached as folders of this machine are, or as Hadoop reaches others."""
    if request.param == "hadoop":
        monkeypatch.setattr("thatch.pipeline.folders.local_path", lambda *_: None)
    return tmp_path / "a b"


def write(spark, path, content="x", **options):
    with atomic_folder(spark, str(path), **options) as folder:
        folder.put("note.txt", content)
        spark.range(5).write.parquet(folder / "numbers")
        folder.put_manifest("test", command="thatch test", parameters={"a": 1}, rows={"numbers": 5})


def write_and_fail(spark, path, **options):
    with atomic_folder(spark, str(path), **options) as folder:
        folder.put("note.txt", "half")
        spark.range(5).write.parquet(folder / "numbers")
        raise ZeroDivisionError


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir() if not each.name.endswith(".crc"))


def test_a_folder_appears_whole_with_its_manifest(spark, place):
    place.mkdir()
    with atomic_folder(spark, str(place / "out")) as folder:
        folder.put("note.txt", "é")
        assert not (place / "out").exists()
        assert [name[:5] for name in names(place)] == [".out."]
        spark.range(5).write.parquet(folder / "numbers")
        folder.put_manifest("test", command="thatch test", parameters={"a": 1}, rows={"numbers": 5})
    assert names(place) == ["out"]
    assert spark.read.parquet(str(place / "out" / "numbers")).count() == 5
    manifest = read_manifest(place / "out", "test")
    assert manifest["parameters"] == {"a": 1}
    assert manifest["rows"] == {"numbers": 5}
    files = manifest["files"]
    assert "note.txt" in files
    assert all(name == "note.txt" or name.startswith("numbers/part-") for name in files)
    assert all(set(each) == {"bytes", "sha256"} for each in files.values())


def test_a_failure_leaves_nothing(spark, place):
    with pytest.raises(ZeroDivisionError):
        write_and_fail(spark, place / "deep" / "out")
    assert not (place / "deep").exists() or names(place / "deep") == []


def test_an_older_folder_is_replaced_only_when_asked_for_and_only_by_a_whole_one(spark, place):
    write(spark, place / "out", "old")
    with pytest.raises(OutputError, match="already exists"):
        write(spark, place / "out", "new")
    with pytest.raises(ZeroDivisionError):
        write_and_fail(spark, place / "out", overwrite=True)
    assert (place / "out" / "note.txt").read_text() == "old"
    write(spark, place / "out", "new", overwrite=True)
    assert (place / "out" / "note.txt").read_text() == "new"
    assert names(place) == ["out"]


def test_what_no_job_has_written_is_never_removed(spark, place):
    (place / "mine").mkdir(parents=True)
    (place / "mine" / "letters.txt").touch()
    (place / "file").touch()
    (place / "empty").mkdir()
    for name in ("mine", "file"):
        with pytest.raises(OutputError, match="what no command"):
            write(spark, place / name, overwrite=True)
    write(spark, place / "empty", overwrite=True)
    assert names(place) == ["empty", "file", "mine"]
    assert names(place / "mine") == ["letters.txt"]


def test_somebody_who_was_quicker_is_not_overwritten(spark, place):
    def slow():
        with atomic_folder(spark, str(place / "out")) as folder:
            folder.put("note.txt", "slow")
            (place / "out").mkdir()
            (place / "out" / "note.txt").write_text("quick")

    with pytest.raises(OutputError, match="already exists"):
        slow()
    assert (place / "out" / "note.txt").read_text() == "quick"
    assert names(place) == ["out"]


def test_a_place_where_nothing_can_be_written_is_told(spark, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="can be written"), atomic_folder(spark, f"{tmp_path}/file/out"):
        pytest.fail("there is no such folder")
    with pytest.raises(OutputError, match="path of a file or folder"), atomic_folder(spark, "/"):
        pytest.fail("there is no such folder")


def test_a_folder_that_was_changed_is_told_by_its_manifest(spark, tmp_path):
    write(spark, tmp_path / "out")
    with pytest.raises(TableError, match="of kind profile"):
        read_manifest(tmp_path / "out", "profile")
    (tmp_path / "out" / "note.txt").write_text("y")
    with pytest.raises(TableError, match=r"content is not .*note\.txt"):
        read_manifest(tmp_path / "out")
    (tmp_path / "out" / "note.txt").unlink()
    with pytest.raises(TableError, match="No such file"):
        read_manifest(tmp_path / "out")
    manifest = tmp_path / "out" / MANIFEST
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"format": 99}))
    with pytest.raises(TableError, match="format 99"):
        read_manifest(tmp_path / "out")
    manifest.write_text("[]")
    with pytest.raises(TableError, match=MANIFEST):
        read_manifest(tmp_path / "out")


def test_files_of_this_machine_are_not_reached_through_hadoop(spark, tmp_path):
    for path in (str(tmp_path / "a"), f"file://{tmp_path}/a", f"{tmp_path}/b/../a/"):
        assert local_path(file_system(spark, path)[0], path) == str(tmp_path / "a")


def test_spark_connect_is_told_what_it_cannot_do(tmp_path):
    remote = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    with pytest.raises(SparkError, match="atomically"), atomic_folder(remote, str(tmp_path / "out")):
        pytest.fail("it cannot")
