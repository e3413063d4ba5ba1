"""How many rules are read, and how long it takes until one can match."""

from __future__ import annotations

import time

import thatch
from benchmarks.console import note
from benchmarks.matching.rows import Row, at_least, at_most
from benchmarks.rules.corpus import Bench

__all__ = ["loading_rows"]

_MICRO = 1e6


def loading_rows(bench: Bench) -> list[Row]:
    """The share of rules that is accepted; a rule from YAML, and from Thatch's text to the engine."""
    thatch.warm()
    start = time.process_time()
    file = bench.file
    read = time.process_time() - start
    filters = bench.filters
    # Rules over time are not filters: windows have them.
    refused = [reason for _, reason in file.rejects if "orrelation" not in reason]
    texts = {identity: str(filter) for identity, filter in filters.items()}
    note("loading rules from text")
    seconds = []
    for _ in range(min(3, bench.rounds)):
        engine = thatch.Engine(background=False)
        start = time.process_time()
        for identity, text in texts.items():
            engine.subscribe(identity, text)
        engine.compact()
        seconds.append(time.process_time() - start)
    stats = engine.stats()
    count = len(filters)
    return [
        Row(
            what="rules accepted",
            subscriptions=count,
            ours=100 * count / (count + len(refused)),
            unit="%",
            goal=at_least(99, 100),
            details={"refused": len(refused), "correlations": len(file.rejects) - len(refused)},
        ),
        Row(
            what="a rule from YAML, pySigma included",
            subscriptions=count,
            ours=read / count * _MICRO,
            unit="µs",
        ),
        Row(
            what="loading a rule",
            subscriptions=count,
            ours=min(seconds) / count * _MICRO,
            unit="µs",
            goal=at_most(1_000, 300),
            details={"MB": stats["bytes_rules"] / 1e6, "rules": stats["rules"], "boxes": stats["boxes"]},
        ),
    ]
