"""The folder of a profile: written, read again, and refused where it is damaged, foreign or too new."""

from __future__ import annotations

import json
from math import inf, nan
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import thatch
from thatch.errors import OutputError, TableError
from thatch.formats.folders import FORMAT
from thatch.formats.profile import profile_tables, read_profile, write_profile
from thatch.model.profile import ErrorBounds, Profile

EVENTS = [
    {"x": 1, "t": "a", "d-t": [1, 2.5, "é"]},
    {"x": 2**53 + 1, "t": None},
    {"x": nan, "t": "b\0", "o": {"p": True}},
    {"x": -inf},
    {"bad": 2**70},
]
FILTERS = {"one": thatch.parse("x < 5 and t = 'a'"), "none": thatch.parse("x = 77")}


@pytest.fixture
def profile() -> Profile:
    return Profile.of(EVENTS, FILTERS)


@pytest.fixture
def folder(tmp_path: Path, profile: Profile) -> Path:
    path = tmp_path / "somewhere" / "profile"
    write_profile(path, profile, command="thatch profile", parameters={"fraction": 1.0})
    return path


def test_a_profile_is_read_as_it_was_written(folder, profile):
    assert read_profile(folder) == profile
    assert read_profile(str(folder)).matches == profile.matches


def test_profiles_without_subscriptions_or_events_are_read_too(tmp_path):
    for number, each in enumerate((Profile.of(EVENTS), Profile.of([]), Profile.of([], {}))):
        write_profile(tmp_path / str(number), each)
        assert read_profile(tmp_path / str(number)) == each


def test_bounds_are_kept(tmp_path):
    bounds = ErrorBounds(
        fraction=0.1, quantiles=1e-4, text_quantiles=0.03, distinct=0.01, heavy=2e-4, text_length=9
    )
    write_profile(tmp_path / "p", Profile(events=3, bounds=bounds))
    assert read_profile(tmp_path / "p").bounds == bounds


def test_the_manifest_tells_what_made_it(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["format"], manifest["kind"], manifest["command"]) == (
        FORMAT,
        "profile",
        "thatch profile",
    )
    assert manifest["parameters"] == {"fraction": 1.0}
    assert manifest["rows"]["predicates"] == 3
    assert set(manifest["files"]) == {path.name for path in folder.iterdir()} - {"manifest.json"}


def test_tables_are_plain_parquet(folder, profile):
    table = pq.read_table(folder / "attributes.parquet")
    assert table.column("attribute").to_pylist() == [each.key for each in profile.attributes]
    assert profile_tables(profile)["predicates"].column("predicate").to_pylist()[0] == "t = 'a'"


def test_a_folder_that_is_there_is_not_replaced(folder, profile):
    with pytest.raises(OutputError, match="already exists"):
        write_profile(folder, profile)
    assert read_profile(folder) == profile


def test_nothing_is_left_where_nothing_can_be_written(tmp_path, profile):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="can be written"):
        write_profile(tmp_path / "file" / "profile", profile)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def rewritten(folder: Path, **changes: object) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, **changes}))


def test_what_is_no_profile_is_refused(tmp_path, folder):
    with pytest.raises(TableError, match="manifest"):
        read_profile(tmp_path / "nowhere")
    (folder / "manifest.json").write_text("[1")
    with pytest.raises(TableError, match="manifest"):
        read_profile(folder)
    (folder / "manifest.json").write_text("[]")
    with pytest.raises(TableError, match="manifest"):
        read_profile(folder)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"format": FORMAT + 1}, "got format 2"),
        ({"kind": "load"}, "got kind 'load'"),
        ({"files": {}}, "does not"),
        ({"files": 5}, "manifest"),
    ],
)
def test_foreign_and_newer_folders_are_refused(folder, changes, told):
    rewritten(folder, **changes)
    with pytest.raises(TableError, match=told):
        read_profile(folder)


def test_damage_is_refused_with_the_name_of_the_file(folder):
    path = folder / "frequent.parquet"
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    with pytest.raises(TableError, match=r"bytes.*frequent"):
        read_profile(folder)
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(TableError, match=r"The content is not.*frequent"):
        read_profile(folder)
    path.unlink()
    with pytest.raises(TableError, match="frequent"):
        read_profile(folder)


def test_tables_that_are_whole_but_wrong_are_refused(folder):
    files = json.loads((folder / "manifest.json").read_text())["files"]
    for name, content in (("sets", b"no parquet"), ("overview", (folder / "sets.parquet").read_bytes())):
        kept = (folder / f"{name}.parquet").read_bytes()
        (folder / f"{name}.parquet").write_bytes(content)
        rewritten(folder, files={**files, f"{name}.parquet": {"bytes": len(content)}})
        with pytest.raises(TableError, match="profile"):
            read_profile(folder)
        (folder / f"{name}.parquet").write_bytes(kept)
    rewritten(folder, files=files)
    assert read_profile(folder).events == 4
