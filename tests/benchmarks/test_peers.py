"""Every peer finds what the engine finds, so that their times may be compared."""

from __future__ import annotations

import pytest

from benchmarks.contest import agree
from benchmarks.ours import batch, event_table, ids_of, prepare, single
from benchmarks.peers.duck import duckdb_join
from benchmarks.peers.r_tree import r_tree
from benchmarks.peers.rules import rule_engine_rules, zen_rules, zen_table
from benchmarks.peers.scans import naive, numpy_scan


@pytest.mark.parametrize("name", ["W1", "W1c", "W2-3D", "W3", "W4A", "W4B", "W6"])
def test_scans_agree_with_the_engine(name):
    prepared = prepare(name, 600, 12, 1)
    scans = [scan(prepared.boxes, prepared.points) for scan in (numpy_scan, naive)]
    agree([single(prepared), *scans])


@pytest.mark.parametrize("name", ["W1", "W2-3D", "W3", "W4A"])
def test_a_batch_agrees_with_single_events(name):
    prepared = prepare(name, 600, 12, 1)
    agree([single(prepared), batch(prepared)])


def test_spatial_peers_agree_with_the_engine():
    prepared = prepare("W2-3D", 2_000, 16, 1)
    boxes, points = prepared.boxes, prepared.points
    assert agree([single(prepared), *r_tree(boxes, points, 8), duckdb_join(boxes, points)]) > 0


@pytest.mark.slow
def test_rule_engines_agree_with_the_engine():
    prepared = prepare("W1F", 400, 16, 1)
    boxes, names, events = prepared.boxes, prepared.workload.attributes, prepared.events
    makers = (rule_engine_rules, zen_rules, zen_table)
    assert agree([single(prepared), *(maker(boxes, names, events) for maker in makers)]) > 0


def test_events_become_columns_with_null_for_what_is_missing():
    prepared = prepare("W1", 1, 8, 1)
    rows = event_table(prepared.workload).to_pylist()
    assert [{k: v for k, v in row.items() if v is not None} for row in rows] == prepared.events


def test_ids_tell_the_row():
    assert ids_of(3).to_pylist() == ["s0", "s1", "s2"]
