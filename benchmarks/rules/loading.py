"""How many rules are read, and how long it takes until one can match."""

from __future__ import annotations

import time
from collections.abc import Callable

import pyarrow as pa

import thatch
from benchmarks.console import note
from benchmarks.matching.rows import Row, at_least, at_most
from benchmarks.rules.corpus import Bench
from thatch.model.tree_printing import tree_text

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
    texts = {identity: tree_text(filter.tree, None) for identity, filter in filters.items()}
    note("loading rules from text")
    table = pa.table({"subscription": list(texts), "filter": list(texts.values())})
    single, many = [], []
    for _ in range(min(3, bench.rounds)):
        single.append(_seconds(lambda engine: [engine.subscribe(*each) for each in texts.items()]))
        many.append(_seconds(lambda engine: engine.subscribe_many(table)))
    engine = bench.engine
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
            what="loading a rule, all at once",
            subscriptions=count,
            ours=min(many) / count * _MICRO,
            unit="µs",
            goal=at_most(1_000, 300),
            details={
                "MB": stats.get("bytes_rules", 0) / 1e6,
                "rules": stats.get("rules", 0),
            },  # a small set has neither
        ),
        Row(
            what="loading a rule, one by one",
            subscriptions=count,
            ours=min(single) / count * _MICRO,
            unit="µs",
            goal=at_most(1_000, 300),
        ),
    ]


def _seconds(load: Callable[[thatch.Engine], object]) -> float:
    """Processor time until all rules can be matched, merges included."""
    engine = thatch.Engine()
    start = time.process_time()
    load(engine)
    engine.compact()
    return time.process_time() - start
