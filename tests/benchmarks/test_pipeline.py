"""The benchmark of the pipeline runs, compares answers before it compares times, and keeps what it measured."""

from __future__ import annotations

import json

import pytest

from benchmarks import store
from benchmarks.pipeline.command import main
from benchmarks.pipeline.processes import cpu_seconds, descendants, private_bytes

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("cluster")]


def test_joins_are_measured_beside_ours_and_find_the_same(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(store, "STORE", tmp_path)
    rows = main(["--count", "4000", "--events", "400", "--rounds", "1", "--only", "join"])
    assert [row.peer for row in rows] == ["join in Spark SQL"] * 2
    assert all(row.ratio > 0 and row.matches > 0 for row in rows)
    assert "bounds in columns" in capsys.readouterr().out
    kept = json.loads((tmp_path / "pipeline-part.json").read_text())
    assert [row["verdict"] for row in kept["rows"]] == [row.verdict() for row in rows]


def test_processes_are_told():
    import os

    assert cpu_seconds() > 0
    assert os.getpid() not in descendants()
    assert private_bytes(os.getpid()) > 1_000_000
