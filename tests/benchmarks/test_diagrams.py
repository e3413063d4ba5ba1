"""The benchmark of diagrams runs, and all ways answer alike before they are compared."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks import store
from benchmarks.diagrams.command import main
from benchmarks.diagrams.workload import SETS


@pytest.mark.slow
def test_covering_is_measured_in_one_walk_and_in_two(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(store, "STORE", tmp_path)
    rows = main(["--quick", "--only", "covering", "dependencies"])
    assert {"two phases, groups by axes, no diagrams", "the same diagrams, two walks"} <= {
        row.peer for row in rows
    }
    assert all(row.ratio is None or row.ratio > 0 for row in rows)
    assert "covering in one walk, set A" in capsys.readouterr().out
    assert len(json.loads((tmp_path / "diagrams-part.json").read_text())["rows"]) == len(rows)


@pytest.mark.parametrize("name", SETS)
def test_filters_boxes_and_intervals_of_a_set_are_the_same(name):
    some = SETS[name](np.random.default_rng(5), 40)
    points = some.publications(np.random.default_rng(6), 30)
    rows = np.arange(0, 40, 3)
    filters, scanned = some.filters(rows), some.intervals(rows)
    boxes = list(some.boxes)
    for point in points.tolist():
        event = {f"a{number:02}": value for number, value in enumerate(point)}
        for place, row in enumerate(rows.tolist()):
            axes, lows, highs = boxes[row]
            values = np.array(point)[19 - axes]
            wanted = bool(((lows <= values) & (values <= highs)).all())
            assert filters[place].matches(event) == wanted
            sides = slice(scanned.offsets[place], scanned.offsets[place + 1])
            values = np.array(point)[scanned.attribute[sides]]
            assert bool(((scanned.low[sides] <= values) & (values <= scanned.high[sides])).all()) == wanted
