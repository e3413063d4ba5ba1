"""A `thatch` process that starts a Spark of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from thatch.formats.folders import read_manifest

THATCH = Path(sys.executable).with_name("thatch")


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.xdist_group("cluster")
def test_a_process_starts_its_own_spark_and_exits_with_status_0(tmp_path):
    (tmp_path / "subscriptions.csv").write_text("subscription,filter\ncheap,price < 5\nbroken,price >\n")
    ran = subprocess.run(
        [THATCH, "load", "subscriptions.csv", "--out", "loaded", "--no-index", "--master", "local[1]"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert (ran.returncode, "Traceback" in ran.stderr) == (0, False), ran.stderr
    assert ran.stdout.splitlines()[0] == "1 subscriptions accepted, 1 refused"
    assert read_manifest(tmp_path / "loaded", "load")["rows"] == {"subscriptions": 1, "rejects": 1}
