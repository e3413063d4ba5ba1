"""The README example, pasted, prints what the README says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_example_prints_what_it_says() -> None:
    code, printed = re.search(r"```python\n(.*?)```\nprints\n```\n(.*?)```", README, re.DOTALL).groups()
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == printed


def test_the_readme_fits_on_a_screen_and_its_links_lead_somewhere() -> None:
    assert len(README.splitlines()) < 75
    root = Path(__file__).parents[2]
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (root / target).exists(), target
