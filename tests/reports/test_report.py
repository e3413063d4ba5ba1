"""The report as one file."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reports.specimen import full_report, hostile_report
from tests.reports.test_texts import ANY_TEXT, Reader
from thatch import __version__
from thatch.errors import OutputError
from thatch.reports import Report


def test_equal_calls_give_equal_files():
    assert full_report().html() == full_report().html()
    assert hostile_report().html() == hostile_report().html()


@pytest.mark.slow
def test_equal_runs_give_equal_files_whatever_the_hash_seed():
    program = "import hashlib\nfrom tests.reports.specimen import *\n"
    program += "print(hashlib.sha256((full_report().html() + hostile_report().html()).encode()).hexdigest())"
    root = Path(__file__).parents[2]
    runs = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=root,
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


def test_a_page_is_small_and_has_the_script_that_draws_once_and_only_for_figures():
    report = Report("Small")
    report.facts({"events": 1})
    assert len(report.html()) < 20_000
    assert "class Plot" not in report.html()
    report.bars(["a"], [1])
    report.bars(["b"], [1])
    assert report.html().count("class Plot") == 1
    assert len(report.html()) < 50_000
    assert len(full_report().html()) < 200_000


def test_a_page_says_what_made_it_and_when_that_is_given():
    report = Report("Origin")
    assert f'<p class="made">Thatch {__version__}</p>' in report.html()
    made = datetime(2026, 11, 18, 23, 5, 9, tzinfo=timezone(timedelta(hours=1)))
    stamped = f'Thatch {__version__} · <time datetime="2026-11-18T22:05:09Z">2026-11-18 22:05 UTC</time>'
    assert stamped in report.html(made=made)
    assert report.html(made=made) == report.html(made=made)


def test_tiles_have_large_numbers_and_smaller_wider_texts():
    report = Report("Tiles")
    report.facts(
        {
            "n": 12_345_678,
            "how": "product of assumed distributions of single attributes",
            "id": "subscriptions",
        }
    )
    assert "<div><dt>n</dt><dd>12,345,678</dd></div>" in report.html()
    assert '<div class="wide"><dt>how</dt><dd class="t">product of' in report.html()
    assert '<div><dt>id</dt><dd class="t">subscriptions</dd></div>' in report.html()


def test_importing_reports_loads_no_large_package():
    program = "import sys, thatch.reports; print(sorted({'pandas', 'pyspark', 'numba'} & sys.modules.keys()))"
    assert (
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
        == "[]\n"
    )


@pytest.mark.parametrize(("count", "expected"), [(3, False), (4, True)])
def test_more_than_three_sections_have_a_table_of_contents(count, expected):
    report = Report("Sections")
    for number in range(count):
        report.section(f"Section {number}")
    assert ("<nav" in report.html()) is expected


def test_parts_stand_where_they_were_added():
    report = Report("Order", command="thatch …")
    report.note("first")
    report.section("A", "second")
    report.note("third")
    words = Reader(report.html()).words
    places = [words.index(word) for word in ("Order", "thatch …", "first", "second", "third")]
    assert places == sorted(places)


def test_a_note_has_paragraphs_and_code():
    report = Report("Note")
    report.note("One `<b>`.\n\nTwo.")
    assert "<p>One <code>&lt;b&gt;</code>.</p>\n<p>Two.</p>" in report.html()


@given(st.lists(ANY_TEXT, min_size=4, max_size=4))
def test_no_text_adds_an_element_to_the_page(texts):
    def tags(title: str, fact: str, cell: str, note: str) -> list[str]:
        report = Report(title, command=fact)
        report.facts({fact: cell})
        report.section(title)
        report.table([{note: cell}], caption=title)
        return [tag for tag, _ in Reader(report.html()).tags if tag not in {"details", "summary"}]

    plain = [text.replace("`", "")[:100] or "x" for text in texts]
    assert tags(*plain) == tags("title", "fact", "cell", "note")


def test_a_file_is_written_with_its_folders_and_replaced_whole(tmp_path):
    path = tmp_path / "new" / "report.html"
    Report("One").write(path)
    with pytest.raises(OutputError, match="already exists"):
        Report("Two").write(path)
    Report("Two").write(str(path), overwrite=True)
    assert "<h1>Two</h1>" in path.read_text(encoding="utf-8")
    assert list(path.parent.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    Report("Old").write(path)

    def refuse(source, target):
        raise OSError("no space")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OutputError, match="no space"):
        Report("New").write(path, overwrite=True)
    assert list(tmp_path.iterdir()) == [path]
    assert "Old" in path.read_text(encoding="utf-8")


def test_a_device_is_written_to_and_stays_a_device():
    Report("Gone").write("/dev/null")
    assert Path("/dev/null").is_char_device()
