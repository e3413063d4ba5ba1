"""A standalone Spark cluster of separate processes: one master, two workers of one core each."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from thatch.pipeline.java import cache_folder, find_java, make_java_home

PATIENCE = 300.0  # seconds for a process to say that it is there; a machine may be slow and busy
_EXECUTOR = "CoarseGrainedExecutorBackend"


@dataclass
class Cluster:
    """Where the master listens, and the processes."""

    url: str
    folder: Path
    processes: list[subprocess.Popen] = field(default_factory=list)

    def executors(self) -> list[int]:
        """The process numbers of all executors."""
        return [pid for pid in below({each.pid for each in self.processes}) if _EXECUTOR in command_of(pid)]


def below(roots: set[int]) -> set[int]:
    """All processes that descend from these."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:  # gone meanwhile
                continue
    found = set(roots)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - roots


def command_of(pid: int) -> str:
    """The command line of a process, empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


@contextmanager
def running_cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A cluster that lives as long as the block."""
    import pyspark

    home = Path(pyspark.__file__).parent
    environ = {
        **os.environ,
        "JAVA_HOME": str(make_java_home(find_java(os.environ), cache_folder())),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_NO_DAEMONIZE": "1",
    }

    def start(name: str, *arguments: str) -> subprocess.Popen:
        with (folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                [str(home / "bin" / "spark-class"), *arguments],
                env=environ,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=folder,
                start_new_session=True,
            )

    cluster = Cluster("", folder)
    try:
        master = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
        cluster.processes.append(start("master", "org.apache.spark.deploy.master.Master", *master))
        cluster.url = told(folder / "master.log", r"(spark://127\.0\.0\.1:\d+)")
        for number in range(workers):
            worker = ["--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", "1g"]
            work = ["--work-dir", str(folder / f"work-{number}"), cluster.url]
            name = f"worker-{number}"
            cluster.processes.append(start(name, "org.apache.spark.deploy.worker.Worker", *worker, *work))
        for number in range(workers):
            told(folder / f"worker-{number}.log", "Successfully registered with master")
        yield cluster
    finally:
        stop(cluster)


def told(log: Path, pattern: str) -> str:
    """What a process says in its log, as soon as it does."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = re.search(pattern, log.read_text(errors="replace")) if log.exists() else None
        if found is not None:
            return found[found.re.groups]
        time.sleep(0.1)
    raise TimeoutError(f"{log.name} does not say {pattern}:\n{log.read_text(errors='replace')[-3000:]}")


def stop(cluster: Cluster) -> None:
    """End all processes, and those that they started."""
    descendants = below({each.pid for each in cluster.processes})
    for process in reversed(cluster.processes):
        process.terminate()
    for process in cluster.processes:
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for pid in descendants:
        if _EXECUTOR in command_of(pid) or "-m thatch.pipeline.daemon" in command_of(pid):
            os.kill(pid, signal.SIGKILL)
