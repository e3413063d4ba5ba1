"""Where the browser for tests comes from, and what happens without one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.browser import missing

SCRIPT = Path(__file__).parents[2] / "scripts" / "browser"


def find(**environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), "--find"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_the_script_takes_the_browser_it_is_reported_to():
    assert find(CHROMIUM=sys.executable).stdout.strip() == sys.executable


def test_the_script_says_in_a_sentence_that_there_is_no_browser(tmp_path):
    for found in (find(PATH=str(tmp_path)), find(CHROMIUM=str(tmp_path / "none"), PATH=os.environ["PATH"])):
        if sys.platform != "darwin" or "CHROMIUM" in found.stderr:
            assert found.returncode == 1
            assert found.stdout == ""
            assert found.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["CI", "THATCH_REQUIRE_ALL"])
def test_a_missing_browser_is_a_failure_only_where_all_is_required(monkeypatch, name):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("THATCH_REQUIRE_ALL", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no browser"):
        missing("no browser")
    monkeypatch.setenv(name, "1")
    with pytest.raises(pytest.fail.Exception, match="no browser"):
        missing("no browser")
