"""Results that are kept: each trial once, whole files or none, the version that was asked for."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from tests.experiments.made_up import counting
from thatch.errors import TableError
from thatch.experiments.running import run
from thatch.experiments.store import ResultStore
from thatch.experiments.trials import grid

GRID = grid(2, size=(1, 2), form=("x",))


def filled(folder, version=1) -> ResultStore:
    store = ResultStore(folder, counting(version))
    run(counting(version), GRID, store)
    return store


def test_nothing_is_finished_at_first(tmp_path):
    store = ResultStore(tmp_path, counting())
    assert store.finished_trials() == set()
    assert len(store.results(GRID)) == 0
    assert store.missing_trials(GRID) == list(GRID)
    assert list(tmp_path.iterdir()) == []


def test_results_are_parquet_that_others_can_read(tmp_path):
    filled(tmp_path)
    tables = [pq.read_table(path) for path in tmp_path.glob("nobody2000/counting/*.parquet")]
    assert sum(table.num_rows for table in tables) == 8
    assert set(tables[0].column_names) == {
        "trial", "seed", "row", "seconds", "size", "form", "mark", "told", "share",
    }  # fmt: skip


def test_results_are_those_of_the_grid(tmp_path):
    store = filled(tmp_path)
    found = store.results(grid(1, size=(2, 3), form=("x",)))
    assert (found.trials, found.done, len(found)) == (2, 1, 2)
    assert found.values("told").tolist() == [20, 21]


def test_results_of_another_version_are_not_used(tmp_path):
    filled(tmp_path, version=1)
    newer = ResultStore(tmp_path, counting(version=2))
    assert newer.finished_trials() == set()
    assert len(newer.results(GRID)) == 0


def test_a_trial_that_was_done_twice_counts_once(tmp_path):
    store = filled(tmp_path)
    for path in list(tmp_path.glob("nobody2000/counting/*.parquet")):
        path.with_name(f"again-{path.name}").write_bytes(path.read_bytes())
    found = store.results(GRID)
    assert (found.done, len(found)) == (4, 8)


def test_a_part_that_was_not_finished_is_not_looked_at(tmp_path):
    store = filled(tmp_path)
    (tmp_path / "nobody2000/counting/.part.parquet").write_bytes(b"half a fi")
    assert store.results(GRID).done == 4


@pytest.mark.parametrize("damage", [b"", b"PAR1 and nothing"])
def test_a_damaged_file_is_reported_by_name(tmp_path, damage):
    store = filled(tmp_path)
    (tmp_path / "nobody2000/counting/bad.parquet").write_bytes(damage)
    with pytest.raises(TableError, match=r"results of nobody2000/counting as Parquet.*bad\.parquet"):
        store.finished_trials()
