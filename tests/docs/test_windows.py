"""The guide of windows: its example prints what it says, and its lines for the shell are windows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import thatch

GUIDE = (Path(__file__).parents[2] / "docs" / "how-to" / "windows.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_example_prints_what_it_says() -> None:
    code, printed = re.search(r"```python\n(.*?)```\nprints\n```\n(.*?)```", GUIDE, re.DOTALL).groups()
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == printed


def test_the_windows_for_the_command_line_are_windows() -> None:
    texts = re.findall(r'--window "(.*?)"', GUIDE)
    assert len(texts) == 3
    for text in texts:
        thatch.Window.parse(text)
