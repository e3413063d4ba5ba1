"""A `thatch` process that starts a Spark of its own."""

from __future__ import annotations

import signal
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


# Java is asked about its stages all the time, so that it is gone while it is asked, and Python works for it.
_INTERRUPTED = """
import os, signal, sys, threading
from thatch.app.cli import main, progress
from thatch.pipeline import adapter

def report(meter, done, known):
    if threading.active_count() < 100:
        threading.Timer(0.5, os.kill, (os.getpid(), {number})).start()

adapter._INTERVAL = 0.001
progress.Meter.report = report
sys.argv = ["thatch", "match", "subscriptions.csv", "events.jsonl", "--spark", "--out", "new/found", "--master", "local[2]"]
main()
"""


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.xdist_group("cluster")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_job_that_is_ended_while_tasks_run_leaves_one_line_and_no_files(number, tmp_path):
    (tmp_path / "subscriptions.csv").write_text("subscription,filter\ncheap,price < 5\n")
    (tmp_path / "events.jsonl").write_text('{"price": 4}\n' * 300_000)
    ran = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED.format(number=int(number))],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    told = "thatch: interrupted\n" if number == signal.SIGINT else ""
    assert (ran.returncode, ran.stdout, ran.stderr) == (128 + number, "", told)
    assert {each.name for each in tmp_path.iterdir()} == {"subscriptions.csv", "events.jsonl"}
