"""Hypothesis profiles, compiled kernels, shared servers, the order of tests, and seconds per package at the end of a run."""

from __future__ import annotations

import atexit
import gc
import hashlib
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile(
    "fast", max_examples=10, stateful_step_count=15, deadline=None, suppress_health_check=_QUIET
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
    "rules": """
from thatch import parse
from thatch.matching.segments import SegmentIndex
from thatch.model.events import read_event
index = SegmentIndex(capacity=2)
for slot, needle in enumerate(("cmd", "whoami", "x", "net user", "a_b", "cmd")):
    text = f"lower(a) like '%{needle}%' and (b like '%c_d%' or c > {slot} or lower(o.p) = 'a' and not d ~ 'a+b')"
    index.add(slot, parse(text))
    index.merge()
for a in ("cmd.exe", "Whoami /all", ["x", "axb"]):
    index.match(read_event({"a": a, "b": "cxd", "c": 9, "o": {"p": "A"}, "d": "ab"}))
    index.view.match_plain({"a": a, "c": 9}, lambda slots: slots.tolist())
""",
    "tables": """
import pyarrow
import thatch
from thatch.matching import growing
growing.FEW = 1
for texts in (["x > 1 and y < 3", "x = 2", "z like 'a%'"], ["lower(z) like '%b%' and x > 1", "z like '%a_b%'"]):
    engine, texts = thatch.Engine(), texts * 40
    engine.subscribe_many(pyarrow.table({"subscription": list(map(str, range(len(texts)))), "filter": texts}))
    engine.match({"x": 2, "y": 1.5, "z": ["ab", "b"]})
    engine.match_batch(pyarrow.table({"x": [1, 2] * 50, "y": [0.5, 7] * 50, "z": ["ab", None] * 50}))
    engine.compact()
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
    """Compile the kernels, a process for each package, before parallel workers start; and hold the garbage collector."""
    gc.disable()
    if getattr(config.option, "numprocesses", None):
        _compile_kernels(config.rootpath)


def _compile_kernels(root: Path) -> None:
    """Fill the cache on disk, unless this was done since a source file was last changed."""
    known = Path(os.environ.get("NUMBA_CACHE_DIR", root / ".venv" / "cache"), "compiled for tests")
    state = _state_of_kernels(root)
    if known.is_file() and known.read_text() == state:
        return
    processes = {
        name: subprocess.Popen([sys.executable, "-c", code], cwd=root) for name, code in KERNELS.items()
    }
    failed = [name for name, process in processes.items() if process.wait() != 0]
    if failed:
        raise pytest.UsageError(f"The kernels of {', '.join(failed)} do not compile (see above).")
    known.parent.mkdir(parents=True, exist_ok=True)
    known.write_text(state)


def _state_of_kernels(root: Path) -> str:
    """What changes whenever kernels have to be compiled anew: sources, compiler, and what is compiled."""
    files = sorted((root / "src" / "thatch").rglob("*.py"))
    stamps = [(each.as_posix(), each.stat().st_mtime_ns, each.stat().st_size) for each in files]
    return hashlib.sha256(repr((sys.version, version("numba"), KERNELS, stamps)).encode()).hexdigest()


# --- who runs where and when -----------------------------------------------------------------------------------------


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run whole groups first: a worker that took one last would keep the others waiting.

    Not in `make deep`, whose time is over before all tests have run: no test must always be among the last.
    """
    if os.environ.get("THATCH_HYPOTHESIS_PROFILE") != "deep":
        items.sort(key=_turn)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse to run if pytest-xdist does not see the groups: every worker would start every server."""
    _collect_garbage_seldom()
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


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object | None:
    """Hand tests out as `--dist=loadgroup` does."""
    if config.option.dist != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling

    class Schedule(LoadGroupScheduling):
        """Forgets what is done: theirs counts all tests that a worker ever had after each of its tests."""

        def mark_test_complete(self, node: object, item_index: int, duration: float = 0) -> None:
            units = self.assigned_work[node]
            for scope in [scope for scope, unit in units.items() if all(unit.values())]:
                del units[scope]
            super().mark_test_complete(node, item_index, duration)

    return Schedule(config, log)


# --- garbage ---------------------------------------------------------------------------------------------------------

_SELDOM = (50_000, 10, 10)


def _collect_garbage_seldom() -> None:
    """Let the garbage collector look at what tests make, not at half a million objects that were there before.

    With the usual thresholds it would take a seventh of the time. `make deep` keeps them.
    """
    gc.freeze()
    atexit.register(gc.unfreeze)  # so that extension modules do not report what is frozen as lost
    if os.environ.get("THATCH_HYPOTHESIS_PROFILE") != "deep":
        gc.set_threshold(*_SELDOM)
    gc.enable()


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
