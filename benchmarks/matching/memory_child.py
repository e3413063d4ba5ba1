"""What a process grows by when it holds an engine and nothing else of a workload.

The kernels are loaded before, by a small engine that is dropped. What was only needed to make the subscriptions is
dropped after; what the engine keeps of it counts.
"""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa

import thatch
from benchmarks.child import answer
from benchmarks.ours import engine_of, ids_of
from thatch.workloads import generate

__all__: list[str] = []

_WARM = 5_000  # subscriptions, enough for every kernel to be used


def _measured(request: dict[str, Any]) -> dict[str, Any]:
    name, seed = request["name"], request["seed"]
    _matched(_loaded(name, _WARM, seed), name, seed)
    before = _resident()
    engine = _loaded(name, request["count"], seed)
    _matched(engine, name, seed)  # buffers that matching needs count too
    after = _resident()
    sizes = {key: size for key, size in engine.stats().items() if key.startswith("bytes_")}
    return {"growth": after - before, "bytes": sizes}


def _loaded(name: str, count: int, seed: int) -> thatch.Engine:
    return engine_of(generate(name, count, 0, seed), ids_of(count))


def _matched(engine: thatch.Engine, name: str, seed: int) -> None:
    for event in generate(name, 0, 16, seed).events():
        engine.match(event)


def _resident() -> int:
    """Bytes of this process in memory, after all that is free was given back."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:  # glibc keeps freed memory for later unless asked
        trim(0)
    told = Path("/proc/self/statm")
    if told.exists():
        return int(told.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    ran = subprocess.run(["ps", "-o", "rss=", "-p", str(os.getpid())], stdout=subprocess.PIPE, check=True)
    return int(ran.stdout) * 1024


if __name__ == "__main__":
    answer(_measured)
