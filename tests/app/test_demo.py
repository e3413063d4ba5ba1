"""The second half of the demonstration: a log on Spark, in a process and a session of its own, as people run it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from thatch.formats.manifest import read_manifest
from thatch.formats.profile import read_profile

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("cluster")]

THATCH = Path(sys.executable).with_name("thatch")


def test_the_demo_profiles_and_matches_a_log_and_says_where_the_pages_lie(tmp_path):
    arguments = ["--subscriptions", "500", "--seconds", "0.2", "--spark", "demo", "--events", "2000"]
    ran = subprocess.run(
        [THATCH, "demo", *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert (ran.returncode, "Traceback" in ran.stderr) == (0, False), ran.stderr
    assert "2,000 logged quotes against 500 alerts on Spark" in ran.stdout
    pages = [line.split()[0] for line in ran.stdout.splitlines() if line.strip().startswith("file://")]
    assert pages == [(tmp_path / "demo" / name / "report.html").as_uri() for name in ("profile", "matches")]
    assert read_profile(tmp_path / "demo" / "profile").events == 2_000
    assert read_manifest(tmp_path / "demo" / "matches", "match")["rows"]["matches"] > 0
