"""Floods in small size: the shapes of figures 4, 5 and 6, on both databases."""

from __future__ import annotations

from functools import cache

import pytest

from thatch.experiments.commonality.flood import FLOOD, MIGRATED


@cache
def flood(defence: str, sharing: str, store: str = "sqlite", count: int = 1_600) -> list[dict]:
    parameters = {"defence": defence, "sharing": sharing, "store": store, "fast": "diagrams"}
    return list(FLOOD.trial(0, **parameters, count=count, budget=2.5))


@cache
def migrated(sharing: str) -> list[dict]:
    return list(MIGRATED.trial(0, sharing=sharing, store="sqlite", count=1_600, budget=2.5))


@pytest.mark.slow
def test_without_defence_the_broker_dies_and_with_migration_it_does_not():
    undefended, defended = flood("none", "low"), flood("migration", "low")
    assert undefended[0]["alive"]
    assert not undefended[-1]["alive"]
    assert undefended[-1]["shared_ms"] is None
    assert all(row["alive"] and row["memory"] <= 0.6 for row in defended)
    assert defended[-1]["moves"] > 0
    assert defended[-1]["in_memory"] < defended[-1]["arrived"]


@pytest.mark.slow
def test_with_more_sharing_more_fits_before_the_first_move():
    def first_move(rows: list[dict]) -> int:
        return next(row["arrived"] for row in rows if row["moves"])

    assert first_move(flood("migration", "high")) > first_move(flood("migration", "low"))


@pytest.mark.slow
def test_clusters_that_moved_share_less_where_there_is_little_sharing():
    low, high = migrated("low"), migrated("high")
    for row in low + high:
        assert row["weighted"] == pytest.approx(row["nodes"] * row["ratio"])
    assert min(row["ratio"] for row in low) > 0.6
    mean = [sum(row["ratio"] for row in rows) / len(rows) for rows in (low, high)]
    assert mean[1] < mean[0] - 0.05


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.xdist_group("postgres")
def test_the_flood_runs_against_postgres():
    rows = flood("migration", "low", "postgres", 1_200)
    assert all(row["alive"] for row in rows)
    assert rows[-1]["moves"] > 0
