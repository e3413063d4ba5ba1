"""The benchmark of planning runs, and predictions are set beside counts."""

from __future__ import annotations

import gzip
import json

import pytest

from benchmarks import store
from benchmarks.planning.command import main


@pytest.mark.slow
def test_plans_are_counted_beside_the_order_of_arrival(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(store, "STORE", tmp_path)
    edits = [
        {"channel": f"#{number % 7}", "added": number % 90, "delta": number % 90, "isRobot": number % 3 == 0}
        for number in range(300)
    ]
    with gzip.open(tmp_path / "wikipedia-edits.json.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(edit) + "\n" for edit in edits)
    with gzip.open(tmp_path / "stock-quotes.csv.gz", "wt", encoding="utf-8") as file:
        file.write("symbol,date,open,high,low,close,volume\n")
        file.writelines(f"S{n % 9},2004-01-01,{n},{n + 2},{n - 2},{n + 1},{n * n}\n" for n in range(300))
    rows = main(["--quick", "--data", str(tmp_path)])
    evaluations = [row for row in rows if row.what.startswith("evaluations")]
    assert len(evaluations) == 6 + 2 * 2 * 2
    assert all(row.ours <= row.theirs * 1.05 for row in evaluations)
    assert all(row.ratio > 0.999 for row in rows if row.what.startswith("link-cluster"))
    assert "prediction, W3 from a profile" in capsys.readouterr().out
    assert len(json.loads((tmp_path / "planning-part.json").read_text())["rows"]) == len(rows)
