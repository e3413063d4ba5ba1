"""The benchmark of merging runs in quick size, and its mergers keep to their budget."""

from __future__ import annotations

import json

import pytest

from benchmarks import store
from benchmarks.merging.command import main


@pytest.mark.slow
def test_merging_is_measured_beside_covering(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(store, "STORE", tmp_path)
    rows = main(["--quick"])
    by_name = {row.what: row for row in rows}
    active = [by_name[name].details["active"] for name in ("merging at once, perfect", "covering alone")]
    assert active[0] < active[1]
    assert by_name["events let through in vain"].ours <= 5
    assert "unsubscribing, imperfect" in capsys.readouterr().out
    assert len(json.loads((tmp_path / "merging-part.json").read_text())["rows"]) == len(rows)
