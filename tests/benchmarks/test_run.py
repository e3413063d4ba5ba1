"""`make bench` runs benchmarks by name and hands them their options."""

from __future__ import annotations

import json

import pytest

from benchmarks import console, parsing, run


def test_names_choose_benchmarks_and_options_go_to_them(monkeypatch):
    asked = []
    for name in run.BENCHMARKS:
        monkeypatch.setitem(run.BENCHMARKS, name, lambda options, name=name: asked.append((name, options)))
    run.main(["curves", "--quick", "--count", "5"])
    run.main(["--quick"])
    assert asked == [
        ("curves", ["--quick", "--count", "5"]),
        ("parsing", ["--quick"]), ("matching", ["--quick"]), ("curves", ["--quick"]),
        ("pipeline", ["--quick"]), ("reduction", ["--quick"]), ("diagrams", ["--quick"]),
        ("brokers", ["--quick"]), ("planning", ["--quick"]), ("placement", ["--quick"]),
        ("merging", ["--quick"]), ("tiering", ["--quick"]), ("rules", ["--quick"]),
    ]  # fmt: skip


def test_an_unknown_name_is_told_before_anything_runs():
    with pytest.raises(
        SystemExit,
        match="No benchmark 'speed'; there are parsing, matching, curves, pipeline, reduction, diagrams, brokers",
    ):
        run.main(["parsing", "speed"])


@pytest.mark.slow
def test_parsing_is_measured_printed_and_kept(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(parsing, "REPEATS", 1)
    rows = parsing.main(["--quick"])
    assert "parse W1" in capsys.readouterr().out
    assert [row["what"] for row in json.loads((tmp_path / "parsing-part.json").read_text())["rows"]] == [
        row["what"] for row in rows
    ]


def test_figures_have_three_digits_and_their_unit():
    shown = [console.figure(value, "µs") for value in (0.01234, 1.2345, 12.345, 123.45, 12345.6, 5)]
    assert shown == ["0.0123 µs", "1.23 µs", "12.3 µs", "123 µs", "12,346 µs", "5 µs"]
    assert (console.figure(None), console.figure(2.5, "×")) == ("", "2.5×")


def test_tables_have_words_left_and_numbers_right():
    text = console.table_text(("what", "n"), [("a", "5"), ("long", "1,000")])
    assert text.splitlines() == ["what      n", "-----------", "a         5", "long  1,000"]
