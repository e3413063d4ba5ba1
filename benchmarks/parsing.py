"""How many filters a second one core parses and normalises, how long a rule of a hundred conditions and `import thatch` take.

Best of several runs in CPU time: the machine may be shared. `--only hundred` measures the rules of a hundred conditions
alone, beside Python's `compile` and rule-engine: what those take, divided by our time.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import rule_engine  # type: ignore[import-untyped]

import thatch
from benchmarks.console import note
from benchmarks.hundred import hundred_rules
from benchmarks.machine import machine
from benchmarks.store import keep
from thatch.workloads import generate

WORKLOADS = ("W1", "W2-3D", "W3", "W4A", "W5", "W6")
COUNT = 10_000
REPEATS = 5
ROUNDS = (
    50  # of a rule of a hundred conditions; its best one is less disturbed than that of ten thousand filters
)


def main(arguments: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Measure, print the figures, keep them as JSON; the rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.parsing", description=__doc__)
    parser.add_argument(
        "--count", type=int, default=COUNT, help=f"filters of a workload, {COUNT:,} by default"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the rules of a hundred conditions")
    parser.add_argument("--only", choices=("hundred",), help="what to measure, everything by default")
    parser.add_argument("--quick", action="store_true", help="few filters, to see that all runs")
    given = parser.parse_args(arguments)
    count = 50 if given.quick else max(1, given.count)
    rows = [] if given.only else _measured(count)
    rows += _hundred(given.seed, 1 if given.quick else ROUNDS)
    print(machine())
    for row in rows:
        print("  ".join(f"{key} {value:,}" if key != "what" else value for key, value in row.items()))
    path = keep(
        "parsing" if count == COUNT and not given.only else "parsing-part", rows
    )  # a short run must not hide a full one
    note(f"kept in {path}")
    return rows


def _measured(count: int) -> list[dict[str, Any]]:
    """One row per workload: filters a second from text and from patterns, and rule-engine's for the same rules."""
    rows = [_importing()]
    for name in WORKLOADS:
        note(f"parsing {name}")
        texts = generate(name, count, 1, 1).filter_texts()
        patterns = list(_patterns(texts))
        row = {
            "what": f"parse {name}",
            "text_per_second": round(_rate(thatch.parse, texts)),
            "pattern_per_second": round(_rate(thatch.parse, patterns)),
            "patterns": len(patterns),
        }
        if name == "W1":
            rules = [_as_rule(text) for text in texts[:500]]
            row["rule_engine_per_second"] = round(_rate(rule_engine.Rule, rules))
        rows.append(row)
    return rows


def _hundred(seed: int, rounds: int) -> list[dict[str, Any]]:
    """One row per shape: µs to parse a rule, and how many times as long peers take."""
    rows = []
    for rule in hundred_rules(seed):
        note(f"parsing {rule.name}")
        ours = _microseconds(lambda: thatch.parse(rule.thatch), rounds)  # noqa: B023 - called at once
        python = _microseconds(lambda: compile(rule.python, rule.name, "eval"), rounds)  # noqa: B023 - called at once
        peer = _microseconds(lambda: rule_engine.Rule(rule.rule_engine), min(rounds, REPEATS))  # noqa: B023 - called at once
        rows.append(
            {
                "what": f"100 conditions, {rule.name}",
                "microseconds": round(ours),
                "python_compile": round(python / ours, 1),
                "rule_engine": round(peer / ours),
            }
        )
    return rows


def _microseconds(call: Callable[[], object], rounds: int) -> float:
    call()
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time_ns()
        call()
        best = min(best, time.process_time_ns() - started)
    return best / 1_000


def _patterns(texts: Iterable[str]) -> Iterable[dict[str, Any]]:
    for text in texts:
        try:
            yield thatch.parse(text).to_pattern()
        except thatch.errors.PatternError:
            continue


def _as_rule(text: str) -> str:
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


if __name__ == "__main__":
    main()
