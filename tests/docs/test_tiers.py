"""The guide of tiers: its example prints what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = (Path(__file__).parents[2] / "docs" / "how-to" / "tiers.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_example_prints_what_it_says() -> None:
    code, printed = re.search(r"```python\n(.*?)```\nprints\n```\n(.*?)```", GUIDE, re.DOTALL).groups()
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == printed
