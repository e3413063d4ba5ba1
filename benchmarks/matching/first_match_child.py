"""From `import thatch` done to the first answer. Nothing here may load a kernel before the clock runs."""

from __future__ import annotations

import sys
import time
from typing import Any

from benchmarks.child import answer
from benchmarks.ours import engine_of, ids_of
from thatch.workloads import generate

__all__: list[str] = []


def _measured(request: dict[str, Any]) -> dict[str, float]:
    workload, ids = generate("W1", request["count"], 2, request["seed"]), ids_of(request["count"])
    first, second = workload.events()
    assert "numba" not in sys.modules, "`import thatch` has loaded Numba"
    started = time.perf_counter()
    engine = engine_of(workload, ids)
    engine.match(first)
    matched = time.perf_counter()
    engine.match(second)
    ended = time.perf_counter()
    return {"seconds": matched - started, "second": ended - matched}


if __name__ == "__main__":
    answer(_measured)
