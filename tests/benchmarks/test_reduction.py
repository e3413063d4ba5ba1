"""The benchmark of reduction runs, and both ways decide alike before they are compared."""

from __future__ import annotations

import json

import pytest

from benchmarks import store
from benchmarks.reduction.command import main


@pytest.mark.slow
def test_the_checker_is_measured_beside_the_negative_space(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(store, "STORE", tmp_path)
    rows = main(["--quick", "--only", "checker", "decisions"])
    assert [row.peer for row in rows[:2]] == ["negative space"] * 2
    assert all(row.ratio > 0 for row in rows)
    assert "exact checker, 4-D" in capsys.readouterr().out
    assert len(json.loads((tmp_path / "reduction-part.json").read_text())["rows"]) == len(rows)
