"""The guide of Sigma rules: its example prints what it says, and its pipeline does what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import thatch
from thatch.model.language.sigma.pipelines import pipeline_of

GUIDE = (Path(__file__).parents[2] / "docs" / "how-to" / "sigma.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_example_prints_what_it_says() -> None:
    code, printed = re.search(r"```python\n(.*?)```\nprints\n```\n(.*?)```", GUIDE, re.DOTALL).groups()
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == printed


def test_the_pipeline_maps_names_adds_a_condition_and_knows_the_placeholder() -> None:
    pipeline = pipeline_of([("guide", re.search(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)[1])])
    rule = {
        "title": "x",
        "logsource": {"category": "process_creation"},
        "detection": {"sel": {"Image": "a", "User|expand": "%admins%"}, "condition": "sel"},
    }
    found = thatch.parse(rule, language="sigma", pipeline=pipeline)
    assert found == thatch.parse(
        "lower(process.executable) = 'a' and lower(User) in ('root', 'eve') and lower(event.category) = 'process'"
    )
