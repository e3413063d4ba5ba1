"""Hypothesis profiles, one Spark and one PostgreSQL for all who need them, and seconds per room at the end of a run."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from thatch import parse
from thatch.model.events import read_event

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile(
    "fast", max_examples=15, stateful_step_count=15, deadline=None, suppress_health_check=_QUIET
)
settings.register_profile(
    "ci",
    max_examples=250,
    stateful_step_count=20,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],  # a failing run ends soon; `make fast` shrinks
    suppress_health_check=_QUIET,
)
settings.register_profile("deep", max_examples=1_500, deadline=None, suppress_health_check=_QUIET)
settings.load_profile(os.environ.get("THATCH_HYPOTHESIS_PROFILE", "fast"))


def pytest_configure(config: pytest.Config) -> None:
    """Compile the kernels once, before parallel workers would each do it."""
    if getattr(config.option, "numprocesses", None):
        from thatch.matching.segments import SegmentIndex

        index = SegmentIndex(capacity=1)
        index.add(0, parse("a = 1 and b like '%c%' or d > 5 and e < 'x'"))
        index.match(read_event({"a": 1, "b": ["c", "d"]}))
        _compile_reduction()
        _compile_placement()


def _compile_reduction() -> None:
    """The kernels of forwarding sets, one policy after the other."""
    from thatch import ForwardingSet
    from thatch.reduction import ApproximateNegativeSpace, Exact, NegativeSpace, Pairwise, Probabilistic

    policies = (
        Pairwise(demote=True),
        Exact(demote=True),
        Probabilistic(delta=0.1),
        NegativeSpace(),
        ApproximateNegativeSpace(),
    )
    for policy in policies:
        link = ForwardingSet(policy)
        for number, filter in enumerate(("x < 5", "x >= 4 and y < 3", "x >= 4 and y >= 3", "x < 9")):
            link.add(str(number), filter)
        link.remove("0")


def _compile_placement() -> None:
    """The kernels of placement: a dozen seconds, which every worker would spend by itself."""
    from tests.placement.instances import drawn
    from thatch.placement import solve

    for algorithm in ("gr_star_search", "slp1", "closest"):
        solve(drawn(3, inner=2), algorithm)


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    """The one Spark session of a run, on two cores of this machine; tests that use it are in the group `spark`."""
    from thatch.pipeline import session

    made = session("thatch tests", master="local[2]", settings={"spark.sql.shuffle.partitions": 2})
    yield made
    made.stop()


@pytest.fixture(scope="session")
def postgres() -> Iterator[object]:
    """The one PostgreSQL server of a run; tests that use it are in the group `postgres`."""
    from thatch.stores import EmbeddedPostgres

    with EmbeddedPostgres() as server:
        yield server


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Seconds per room: where the time of a run went."""
    seconds: dict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                parts = Path(report.nodeid.split("::")[0]).parts
                seconds[parts[1] if len(parts) > 2 else "."] += report.duration
    if seconds:
        listed = sorted(seconds.items(), key=lambda each: -each[1])
        terminalreporter.write_sep("-", "seconds per room")
        terminalreporter.write_line("  ".join(f"{room} {spent:.1f}" for room, spent in listed))
