"""Open a small engine to load the kernels, then a big one against the clock."""

from __future__ import annotations

import time
from typing import Any

import thatch
from benchmarks.child import answer

__all__: list[str] = []


def _measured(request: dict[str, Any]) -> dict[str, float]:
    event, expected = request["event"], request["matches"]
    warm = thatch.Engine.open(request["small"], mode="a")
    warm.match(event)
    warm.unsubscribe(next(iter(warm)))
    with open(request["big"], "rb") as file:  # noqa: PTH123 - only to have it in the page cache
        while file.read(1 << 24):
            pass
    started = time.perf_counter()
    engine = thatch.Engine.open(request["big"], mode="a")
    opened = time.perf_counter()
    found = engine.match(event)
    matched = time.perf_counter()
    engine.unsubscribe(expected[0] if expected else "s0")
    changed = time.perf_counter()
    assert found == expected, "the opened engine answers otherwise than the saved one"
    assert engine.match(event) == expected[1:], "the unsubscribed one is still there, or others went too"
    return {"opened": opened - started, "matched": matched - started, "changed": changed - started}


if __name__ == "__main__":
    answer(_measured)
