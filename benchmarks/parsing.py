"""How many filters a second one core parses and normalises, and how long `import thatch` takes.

Best of several runs in CPU time: the machine may be shared.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import rule_engine

import thatch
from thatch.workloads import generate

WORKLOADS = ("W1", "W2-3D", "W3", "W4A", "W5", "W6")
COUNT = 10_000
REPEATS = 5


def run() -> list[dict[str, Any]]:
    """One row per workload: filters a second from text and from patterns, and rule-engine's for the same rules."""
    rows = [_importing()]
    for name in WORKLOADS:
        texts = generate(name, COUNT, 1, 1).filter_texts()
        patterns = list(_patterns(texts))
        row = {
            "what": f"parse {name}",
            "text_per_second": round(_rate(thatch.parse, texts)),
            "pattern_per_second": round(_rate(thatch.parse, patterns)),
            "patterns": len(patterns),
        }
        if name == "W1":
            rules = [as_rule(text) for text in texts[:500]]
            row["rule_engine_per_second"] = round(_rate(rule_engine.Rule, rules))
        rows.append(row)
    return rows


def _patterns(texts: Iterable[str]) -> Iterable[dict[str, Any]]:
    for text in texts:
        try:
            yield thatch.pattern_of(thatch.parse(text))
        except thatch.PatternError:
            continue


def as_rule(text: str) -> str:
    """A W1 filter in the language of rule-engine."""
    words = text.split()
    parts = []
    while words:
        if words[1] == "between":
            parts.append(f"{words[0]} >= {words[2]} and {words[0]} <= {words[4]}")
            words = words[6:]
        else:
            parts.append(f"{words[0]} == {words[2]}")
            words = words[4:]
    return " and ".join(parts)


def _rate(call: Callable[[Any], Any], sources: list[Any]) -> float:
    best = float("inf")
    for _ in range(REPEATS):
        started = time.process_time()
        for source in sources:
            call(source)
        best = min(best, time.process_time() - started)
    return len(sources) / best


def _importing() -> dict[str, Any]:
    best = float("inf")
    for _ in range(REPEATS):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import thatch"], check=True)
        best = min(best, time.perf_counter() - started)
    return {"what": "import thatch", "seconds": round(best, 3)}
