"""Hypothesis profiles, loud skips, and seconds per room at the end of a run."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile(
    "fast", max_examples=60, stateful_step_count=20, deadline=None, suppress_health_check=_QUIET
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

TESTS = Path(__file__).parent


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
