"""The benchmark of two tiers runs, and every answer in it is right before it is timed."""

from __future__ import annotations

import json

import pytest

from benchmarks import store
from benchmarks.tiering.command import main


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.xdist_group("postgres")
def test_the_database_tier_is_measured_beside_scans(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(store, "STORE", tmp_path)
    rows = main(["--quick", "--only", "databases"])
    assert [row.what for row in rows] == [
        f"{kind}, {load}" for load in ("conjunctions", "boxes") for kind in ("sqlite", "postgres")
    ]
    assert all(row.ratio > 0 for row in rows)
    assert "scan in the same database" in capsys.readouterr().out
    assert len(json.loads((tmp_path / "tiering-part.json").read_text())["rows"]) == len(rows)
