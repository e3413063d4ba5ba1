"""The big table at tiny sizes: every section runs, its answers are compared, its rows have what the table shows."""

from __future__ import annotations

import json

import pytest

from benchmarks.matching.command import SECTIONS, main
from benchmarks.matching.rows import Row, at_least, at_most, slower_than, times_faster
from benchmarks.matching.session import Session, Sizes
from benchmarks.matching.table import matching_table

TINY = Sizes(count=1_500, events=24, rounds=1, floor=0.0)
SLOW = ("opening", "memory", "first", "rules", "kin")  # the first three compile or load kernels anew


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in SECTIONS],
)
def test_every_section_runs(name, monkeypatch):
    if name == "first":
        monkeypatch.setenv(
            "NUMBA_OPT", "0"
        )  # it compiles into a cache of its own; so it takes a third of the time
    rows = SECTIONS[name](Session(TINY))
    assert rows
    for row in rows:
        assert row.ours > 0
        assert row.subscriptions > 0
        assert (row.theirs is None) == (row.peer == "")
        assert row.as_dict()["verdict"] in {"aim", "yes", "no", "reported"}


@pytest.mark.slow
def test_the_command_prints_one_table_and_keeps_it(capsys, tmp_path):
    rows = main(["--quick", "--count", "1000", "--rounds", "1", "--only", "rules", "w3"])
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == len(rows) + 3  # the machine, the head, a ruler
    assert "not judged" in printed.out
    assert "[2/2] w3" in printed.err
    kept = json.loads((tmp_path / "matching-part.json").read_text())
    assert {"machine", "versions", "command", "sizes", "rows"} <= kept.keys()
    assert [row["what"] for row in kept["rows"]] == [row.what for row in rows]


@pytest.mark.parametrize("arguments", [["--count", "0"], ["--only", "w9"], ["--native", "nothing.json"]])
def test_wrong_arguments_are_told(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "error: " in capsys.readouterr().err


def test_goals_tell_what_is_reached():
    more, less = at_least(30, 100), at_most(5, 2)
    assert [more.verdict(value) for value in (29, 30, 100)] == ["no", "yes", "aim"]
    assert [less.verdict(value) for value in (5.1, 5, 2)] == ["no", "yes", "aim"]
    assert at_most(10).verdict(0) == "yes"


def test_ratios_say_how_much_quicker_than_a_peer_and_how_much_slower_than_the_base():
    row = Row(what="x", subscriptions=1_000_000, ours=10.0, unit="µs")
    peer, base = times_faster(row, "peer", 500.0, at_least(30)), slower_than(row, "base", 4.0, at_most(2))
    assert (peer.ratio, peer.verdict()) == (50.0, "yes")
    assert (base.ratio, base.verdict()) == (2.5, "no")
    printed = matching_table([row, peer, base], is_full=True)
    assert "≥ 30×" in printed
    assert "50×" in printed
    assert "2.5×" in printed
    assert "not judged" not in printed
