"""What `thatch.warm` leaves to be compiled later: nothing that engines come to."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import gc, time
import thatch
from numba.core.dispatcher import Dispatcher

def compiled():
    found = [each for each in gc.get_objects() if isinstance(each, Dispatcher)]
    return {each.py_func.__qualname__: list(each.signatures) for each in found if "thatch" in each.py_func.__module__}

thatch.warm()
before = compiled()
from thatch.workloads import generate
for name in ("W1", "W3", "W5"):
    workload = generate(name, 2_000, 40, 5)
    engine = thatch.Engine(background=False)
    for number, filter in enumerate(workload.filters()):
        engine.subscribe(f"s{number}", filter)
    events = list(workload.events())
    for event in events:
        engine.match(event)
        engine.any(event)
    engine.unsubscribe("s7")
    engine.compact()
    for event in events:
        engine.count(event)
engine = thatch.Engine(background=False)
for number in range(300):
    engine.subscribe(f"s{number}", f"lower(text) like '%a_{number}%' or lower(text) like '%é{number}' and x > {number}")
for number in range(100):
    for event in ({"text": f"É{number}", "x": number}, {"text": ["xA-7", "y"]}, {"text": f"a-{number}"}, {"x": number}):
        engine.match(event)
        engine.any(event)
later = compiled()
print({name: kinds for name, kinds in later.items() if before.get(name) != kinds})
"""


@pytest.mark.slow
def test_an_engine_compiles_nothing_after_warming() -> None:
    root = Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, cwd=root
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "{}\n"
