"""On a cluster of separate processes, of which some are killed midway, the answer is that of the embedded engine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import thatch
from tests.integration.cluster import PATIENCE, command_of, running_cluster
from tests.integration.cluster_driver import PARTS

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("cluster")]

SUBSCRIPTIONS = pa.table(
    {
        "subscription": [f"s{number}" for number in range(300)],
        "filter": [f"x >= {number} and y = 'k{number % 7}' or z is null" for number in range(300)],
    }
)
EVENTS = pa.table(
    {
        "id": list(range(600)),
        "x": [float(number % 330) for number in range(600)],
        "y": [f"k{number % 9}" for number in range(600)],
    }
)


def wait_for(what, condition, driver: subprocess.Popen, log: Path):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if value := condition():
            return value
        if driver.poll() is not None:
            break
        time.sleep(0.05)
    raise AssertionError(f"the driver never came to {what}:\n{log.read_text()[-4000:]}")


def kill_an_executor(folder: Path, driver: subprocess.Popen, log: Path) -> int:
    """Kill one of two executors that both have a task waiting at the gate, then open the gate."""

    def waiting() -> set[int]:
        parts = [each.name.split("-") for each in (folder / "reached").iterdir()]
        found = {int(pid) for part, pid in parts if int(part) >= PARTS // 2}
        return found if len(found) == 2 else set()

    victim = min(wait_for(f"the gate of {folder.name} on both executors", waiting, driver, log))
    assert "CoarseGrainedExecutorBackend" in command_of(victim)
    os.kill(victim, signal.SIGKILL)
    (folder / "gate").touch()
    return victim


def test_the_answers_are_the_embedded_engines_though_executors_are_killed(tmp_path):
    pq.write_table(SUBSCRIPTIONS, tmp_path / "subscriptions.parquet")
    pq.write_table(EVENTS, tmp_path / "events.parquet")
    for strategy in ("mapped", "partitioned"):
        (tmp_path / strategy / "reached").mkdir(parents=True)
    (tmp_path / "cluster").mkdir()
    log = tmp_path / "driver.log"
    with running_cluster(tmp_path / "cluster") as cluster:
        with log.open("wb") as output:
            driver = subprocess.Popen(
                [sys.executable, "-m", "tests.integration.cluster_driver", cluster.url, str(tmp_path)],
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            victims = [
                kill_an_executor(tmp_path / strategy, driver, log) for strategy in ("mapped", "partitioned")
            ]
            assert driver.wait(2 * PATIENCE) == 0, log.read_text()[-4000:]
        finally:
            driver.kill()
            driver.wait()
        assert not set(victims) & set(cluster.executors())
    expected = thatch.Engine.from_table(SUBSCRIPTIONS).match_batch(EVENTS.drop_columns("id"))
    for strategy in ("mapped", "partitioned"):
        assert pairs_of(pq.read_table(tmp_path / strategy / "pairs.parquet")) == pairs_of(expected)
    check_reduced(tmp_path / "reduced.parquet")


def pairs_of(table: pa.Table) -> list[tuple[int, str]]:
    return sorted(zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True))


def check_reduced(path: Path) -> None:
    """The active subscriptions are those of a forwarding set."""
    link = thatch.ForwardingSet()
    for row in SUBSCRIPTIONS.to_pylist():
        link.add(row["subscription"], row["filter"])
    found = pq.read_table(path).to_pylist()
    assert {row["subscription"] for row in found if row["active"]} == set(link.active)
    assert len(found) == len(link)
    assert all(set(row["proof"]) <= set(link.active) for row in found)
