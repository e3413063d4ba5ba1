"""Hypothesis profiles, compiled kernels, shared servers, the order of tests, and seconds per package at the end of a run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile(
    "fast", max_examples=15, stateful_step_count=15, deadline=None, suppress_health_check=_QUIET
)
settings.register_profile(
    "ci",
    max_examples=60,  # always the same; `make deep` looks further
    stateful_step_count=20,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],  # a failing run ends soon; `make fast` shrinks
    suppress_health_check=_QUIET,
)
settings.register_profile("deep", max_examples=1_500, deadline=None, suppress_health_check=_QUIET)
settings.load_profile(os.environ.get("THATCH_HYPOTHESIS_PROFILE", "fast"))


# A Java that compiles quickly, collects garbage in one thread and trusts Spark's classes: tests are over before better
# code would pay.
os.environ.setdefault(
    "JDK_JAVA_OPTIONS",
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote",
)


# --- kernels ---------------------------------------------------------------------------------------------------------

# Each is a process that fills the cache on disk, so that parallel workers do not compile the same kernels.
KERNELS = {
    "matching": """
from thatch import parse
from thatch.matching.segments import SegmentIndex
from thatch.model.events import read_event
index = SegmentIndex(capacity=1)
index.add(0, parse("a = 1 and b like '%c%' or d > 5 and e < 'x'"))
index.match(read_event({"a": 1, "b": ["c", "d"]}))
""",
    "reduction": """
from thatch import ForwardingSet
from thatch.reduction import ApproximateNegativeSpace, Exact, NegativeSpace, Pairwise, Probabilistic
policies = Pairwise(demote=True), Exact(demote=True), Probabilistic(delta=0.1), NegativeSpace(), ApproximateNegativeSpace()
for policy in policies:
    link = ForwardingSet(policy)
    for number, filter in enumerate(("x < 5", "x >= 4 and y < 3", "x >= 4 and y >= 3", "x < 9")):
        link.add(str(number), filter)
    link.remove("0")
""",
    "placement": """
from tests.placement.instances import drawn
from thatch.placement import solve
for algorithm in ("gr_star_search", "slp1", "closest"):
    solve(drawn(3, inner=2), algorithm)
""",
}


def pytest_configure(config: pytest.Config) -> None:
    """Compile the kernels, a process for each package, before parallel workers start."""
    if getattr(config.option, "numprocesses", None):
        processes = {
            name: subprocess.Popen([sys.executable, "-c", code], cwd=config.rootpath)
            for name, code in KERNELS.items()
        }
        failed = [name for name, process in processes.items() if process.wait() != 0]
        if failed:
            raise pytest.UsageError(f"The kernels of {', '.join(failed)} do not compile (see above).")


# --- who runs where and when -----------------------------------------------------------------------------------------


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run whole groups first: a worker that took one last would keep the others waiting.

    Not in `make deep`, whose time is over before all tests have run: no test must always be among the last.
    """
    if os.environ.get("THATCH_HYPOTHESIS_PROFILE") != "deep":
        items.sort(key=_turn)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse to run if pytest-xdist does not see the groups: every worker would start every server."""
    if getattr(session.config.option, "loadgroup", False) and hasattr(session.config, "workerinput"):
        lost = [item.nodeid for item in session.items if _groups(item) and "@" not in item.nodeid]
        if lost:
            raise pytest.UsageError(f"pytest-xdist ignores the group of {lost[0]} and {len(lost) - 1} others")


def _groups(item: pytest.Item) -> set[str]:
    return {mark.args[0] for mark in item.iter_markers("xdist_group")}


def _turn(item: pytest.Item) -> int:
    """When a test runs: the longest groups before the others."""
    groups = _groups(item)
    return 0 if "cluster" in groups else 1 if "spark" in groups else 2 if groups else 3


# --- what tests share ------------------------------------------------------------------------------------------------

# A fifth of the work of Java on small tables is to compile queries; those of clusters and of programs are compiled.
_SPARK_SETTINGS = {
    "spark.sql.shuffle.partitions": 2,
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.ui.explainMode": "simple",
}


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    """The one Spark session of a run, on one core; tests that use it are in the group `spark`."""
    from thatch.pipeline import session

    made = session("thatch tests", master="local[1]", settings=_SPARK_SETTINGS)
    yield made
    made.stop()


@pytest.fixture(scope="session")
def postgres() -> Iterator[object]:
    """The one PostgreSQL server of a run; tests that use it are in the group `postgres`."""
    from thatch.stores import EmbeddedPostgres

    with EmbeddedPostgres() as server:
        yield server


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Seconds per package: where the time of a run went."""
    seconds: dict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                parts = Path(report.nodeid.split("::")[0]).parts
                seconds[parts[1] if len(parts) > 2 else "."] += report.duration
    if seconds:
        listed = sorted(seconds.items(), key=lambda each: -each[1])
        terminalreporter.write_sep("-", "seconds per package")
        terminalreporter.write_line("  ".join(f"{package} {spent:.1f}" for package, spent in listed))
