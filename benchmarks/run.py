"""`make bench`: run benchmarks by name, all by default; options go to each of them.

make bench ARGS=parsing
make bench ARGS='matching --count 100000'
make bench ARGS='--quick'
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import takewhile

from benchmarks import parsing
from benchmarks.brokers import command as brokers
from benchmarks.curves import command as curves
from benchmarks.diagrams import command as diagrams
from benchmarks.matching import command as matching
from benchmarks.merging import command as merging
from benchmarks.pipeline import command as pipeline
from benchmarks.placement import command as placement
from benchmarks.planning import command as planning
from benchmarks.reduction import command as reduction
from benchmarks.rules import command as rules
from benchmarks.tiering import command as tiering

__all__ = ["BENCHMARKS", "main"]

BENCHMARKS: dict[str, Callable[[Sequence[str]], object]] = {
    "parsing": parsing.main,
    "matching": matching.main,
    "curves": curves.main,
    "pipeline": pipeline.main,
    "reduction": reduction.main,
    "diagrams": diagrams.main,
    "brokers": brokers.main,
    "planning": planning.main,
    "placement": placement.main,
    "merging": merging.main,
    "tiering": tiering.main,
    "rules": rules.main,
}


def main(arguments: Sequence[str]) -> None:
    """Run the named benchmarks; names come before options."""
    names = list(takewhile(lambda each: not each.startswith("-"), arguments))
    options = arguments[len(names) :]
    for name in names:
        if name not in BENCHMARKS:
            sys.exit(f"No benchmark {name!r}; there are {', '.join(BENCHMARKS)}.")
    for name in names or BENCHMARKS:
        BENCHMARKS[name](options)


if __name__ == "__main__":
    main(sys.argv[1:])
