"""Over Spark Connect, matching works as on classic Spark; what cannot work is refused by name."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("cluster")]


def test_a_log_is_matched_over_connect_and_folders_are_refused_by_name(tmp_path):
    told = subprocess.run(
        [sys.executable, "-m", "tests.integration.connect_driver", str(tmp_path / "out")],
        env={**os.environ, "SPARK_REMOTE": "local[2]"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    lines = [line for line in told.stdout.splitlines() if line.startswith("ANSWER ")]
    assert lines, told.stderr[-4000:]
    answer = json.loads(lines[-1].removeprefix("ANSWER "))
    wanted = sorted([n, f"s{s}"] for n in range(200) for s in range(300) if n % 40 > s)
    assert answer["is_connect"]
    assert answer["pairs"] == wanted
    assert answer["counted"] == len(wanted)
    assert "Spark Connect" in answer["refused"]
    assert list(tmp_path.iterdir()) == []
