"""On a cluster of separate processes, of which one is killed in the middle, the answer is the embedded engine's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import thatch
from tests.integration.cluster import PATIENCE, Cluster, command_of, running_cluster

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("cluster")]

SUBSCRIPTIONS = pa.table(
    {
        "subscription": [f"s{number}" for number in range(600)],
        "filter": [f"x >= {number} and y = 'k{number % 7}' or z is null" for number in range(600)],
    }
)
EVENTS = pa.table(
    {
        "id": list(range(3_000)),
        "x": [float(number % 650) for number in range(3_000)],
        "y": [f"k{number % 9}" for number in range(3_000)],
    }
)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory) -> Iterator[Cluster]:
    """One cluster for the run."""
    with running_cluster(tmp_path_factory.mktemp("cluster")) as made:
        yield made


def wait_for(what, condition, driver: subprocess.Popen, log: Path):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if value := condition():
            return value
        if driver.poll() is not None:
            break
        time.sleep(0.05)
    raise AssertionError(f"the driver never came to {what}:\n{log.read_text()[-4000:]}")


def check_reduced(path: Path) -> None:
    """What the cluster has left out is what a set on a link leaves out."""
    link = thatch.ForwardingSet()
    for row in SUBSCRIPTIONS.to_pylist():
        link.add(row["subscription"], row["filter"])
    found = pq.read_table(path).to_pylist()
    assert {row["subscription"] for row in found if row["active"]} == set(link.active)
    assert len(found) == len(link)
    assert all(set(row["proof"]) <= set(link.active) for row in found)


@pytest.mark.parametrize("strategy", ["mapped", "partitioned"])
def test_the_answer_is_the_embedded_engines_though_an_executor_is_killed(cluster, tmp_path, strategy):
    pq.write_table(SUBSCRIPTIONS, tmp_path / "subscriptions.parquet")
    pq.write_table(EVENTS, tmp_path / "events.parquet")
    (tmp_path / "reached").mkdir()
    log = tmp_path / "driver.log"
    with log.open("wb") as told:
        driver = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.cluster_driver", cluster.url, str(tmp_path), strategy],
            stdout=told,
            stderr=subprocess.STDOUT,
        )
    try:

        def waiting() -> set[int]:
            """The executors that have a task waiting at the gate, once both have."""
            parts = [each.name.split("-") for each in (tmp_path / "reached").iterdir()]
            found = {int(pid) for part, pid in parts if int(part) >= 3}
            return found if len(found) == 2 else set()

        victim = min(wait_for("the gate on both executors", waiting, driver, log))
        assert "CoarseGrainedExecutorBackend" in command_of(victim)
        os.kill(victim, signal.SIGKILL)
        (tmp_path / "gate").touch()
        assert driver.wait(2 * PATIENCE) == 0, log.read_text()[-4000:]
    finally:
        driver.kill()
        driver.wait()
    assert victim not in cluster.executors()
    found = pq.read_table(tmp_path / "pairs.parquet")
    pairs = sorted(zip(found["event"].to_pylist(), found["subscription"].to_pylist(), strict=True))
    engine = thatch.Engine.from_table(SUBSCRIPTIONS)
    expected = engine.match_batch(EVENTS.drop_columns("id"))
    assert pairs == sorted(
        zip(expected["event"].to_pylist(), expected["subscription"].to_pylist(), strict=True)
    )
    if strategy == "mapped":
        check_reduced(tmp_path / "reduced.parquet")
