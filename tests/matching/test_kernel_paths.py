"""Both paths of the kernels give the same answers: the permute, where the processor has it, and the gather."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROGRAM = """
import sys
from thatch.matching.segments import SegmentIndex
from thatch.matching.segments.kernels.blocks import HAS_PERMUTE
from thatch.model.events import read_event
from thatch.workloads import generate

assert not HAS_PERMUTE or len(sys.argv) == 1
for name in ("W1", "W1c", "W2-3D", "W3", "W4A", "W5", "W6"):
    workload = generate(name, 2_000, 40, 5)
    index = SegmentIndex()
    index.extend(dict(enumerate(workload.filters())))
    for event in workload.events():
        print(name, index.match(read_event(event)))
"""


@pytest.mark.deep
def test_the_portable_path_answers_like_the_one_of_this_processor() -> None:
    answers = []
    for portable in ("0", "1"):
        arguments = ["portable"] if portable == "1" else []
        # A cache of its own: compiled kernels know nothing of the variable that chose them.
        environment = {**os.environ, "THATCH_PORTABLE": portable, "THATCH_KERNEL_CACHE": "0"}
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        )
        answers.append(run.stdout)
    assert answers[0] == answers[1]
    assert "[" in answers[0]
    assert any(line.count(",") > 20 for line in answers[0].splitlines())
