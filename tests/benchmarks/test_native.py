"""Results of native peers beside ours: the file is checked, and a quicker peer is shown as one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.export import main as export
from benchmarks.matching.native import native_rows, read_native
from benchmarks.matching.rows import Row
from thatch.workloads import generate

RESULT = {
    "name": "Boost R-tree",
    "version": "1.81",
    "workload": "W2-3D",
    "subscriptions": 100_000,
    "seed": 1,
    "microseconds_per_event": 4.6,
    "matches_per_event": 97.0,
}
OURS = [
    Row(what="W2-3D batch", subscriptions=100_000, matches=97.0, ours=2.3, unit="µs", workload="W2-3D", way="batch"),
    Row(what="W2-3D single", subscriptions=100_000, matches=97.0, ours=9.2, unit="µs", workload="W2-3D", way="single"),
    Row(what="W1 single", subscriptions=100_000, matches=23.0, ours=4.0, unit="µs", workload="W1", way="single"),
]  # fmt: skip


def written(folder: Path, content: object) -> Path:
    path = folder / "results.json"
    path.write_text(json.dumps(content))
    return path


def test_a_result_stands_beside_every_figure_of_its_workload_and_size(tmp_path):
    results = read_native(written(tmp_path, {"results": [RESULT]}), seed=1)
    rows = native_rows(OURS, results)
    assert [(row.what, row.peer, row.ratio) for row in rows] == [
        ("W2-3D batch", "Boost R-tree 1.81, native", 2.0),
        ("W2-3D single", "Boost R-tree 1.81, native", 0.5),  # one Python call may lose; the table says so
    ]


def test_a_peer_with_other_matches_gets_no_ratio(tmp_path):
    results = read_native(written(tmp_path, {"results": [{**RESULT, "matches_per_event": 60}]}), seed=1)
    assert [(row.ratio, row.details) for row in native_rows(OURS, results)] == [
        (None, {"other matches": 60})
    ] * 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([], 'Expected {"results": [...]}, got []'),
        ({"results": 5}, 'Expected {"results": [...]}'),
        ({"results": [5]}, "Expected the fields matches_per_event, microseconds_per_event, name"),
        ({"results": [{**RESULT, "more": 1}]}, "Expected the fields"),
        ({"results": [{**RESULT, "name": 5}]}, "Expected text as name, got 5"),
        (
            {"results": [{**RESULT, "microseconds_per_event": "4"}]},
            "a number from 0 up as microseconds_per_event",
        ),
        ({"results": [{**RESULT, "subscriptions": True}]}, "a number from 0 up as subscriptions, got True"),
        ({"results": [{**RESULT, "seed": 7}]}, "Expected results of seed 1, as this run has, got 7"),
    ],
)
def test_a_wrong_file_is_told(tmp_path, content, words):
    with pytest.raises(ValueError) as raised:
        read_native(written(tmp_path, content), seed=1)
    assert words in str(raised.value)
    assert "results.json" in str(raised.value)


def test_a_workload_is_exported_as_plain_arrays(tmp_path):
    export(["W2-3D", "50", str(tmp_path / "out"), "--events", "7", "--seed", "3"])
    workload = generate("W2-3D", 50, 7, 3)
    assert np.array_equal(np.fromfile(tmp_path / "out" / "low.f64", "<f8"), workload.subscriptions.low)
    assert np.array_equal(
        np.fromfile(tmp_path / "out" / "offsets.i64", "<i8"), workload.subscriptions.offsets
    )
    events = np.fromfile(tmp_path / "out" / "events.f64", "<f8").reshape(7, 3)
    assert np.array_equal(events, workload.publications.values)
    assert json.loads((tmp_path / "out" / "description.json").read_text())["attributes"] == 3
