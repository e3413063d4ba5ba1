"""The guide of placement: its example prints what it says, in examples/quotes, and its tree is one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from thatch.formats.broker_tree import sites_of

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "how-to" / "place.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_example_prints_what_it_says() -> None:
    code, printed = re.search(r"```python\n(.*?)```\nprints\n```\n(.*?)```", GUIDE, re.DOTALL).groups()
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT / "examples" / "quotes",
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == printed


def test_the_tree_is_one() -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)
    sites = sites_of(yaml.safe_load(text))
    assert sites.capacities.tolist() == [2.0, 1.0]
    assert sites.complexities.tolist() == [3, 3, 5]
