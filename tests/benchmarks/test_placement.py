"""The benchmark of placement runs, and the best answer is never below the proved bound."""

from __future__ import annotations

import json

import pytest

from benchmarks import store
from benchmarks.placement.command import main
from benchmarks.placement.sections import Bench


@pytest.mark.slow
def test_placements_are_measured_beside_each_other(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(store, "STORE", tmp_path)
    monkeypatch.setattr(Bench, "size", lambda bench, count: count // 200)
    rows = main(["--quick", "--only", "shapes", "levels"])
    assert all(row.ratio > 0 for row in rows)
    assert [row.ratio <= 1 for row in rows if row.what == "load factor of slp, tight"] == [True]
    assert all(row.ratio < 1 for row in rows if row.what.startswith("Gr* with the load of Gr"))
    assert "Gr*, set 1" in capsys.readouterr().out
    assert len(json.loads((tmp_path / "placement-part.json").read_text())["rows"]) == len(rows)
