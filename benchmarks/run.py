"""`make bench`: run the benchmarks, print them, and keep them as JSON under .venv/cache/benchmarks."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks import matching, parsing
from benchmarks.machine import machine

BENCHMARKS = {"parsing": parsing.run, "matching": matching.run}
STORE = Path(".venv/cache/benchmarks")


def main() -> None:
    """Run the named benchmarks, all by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which of {', '.join(BENCHMARKS)}; all by default")
    names = parser.parse_args().names or list(BENCHMARKS)
    for name in names:
        if name not in BENCHMARKS:
            parser.error(f"no benchmark {name!r}; there are {', '.join(BENCHMARKS)}")
    STORE.mkdir(parents=True, exist_ok=True)
    print(machine())
    for name in names:
        rows = BENCHMARKS[name]()
        for row in rows:
            print(
                f"{name}: "
                + "  ".join(
                    f"{key} {value:,}" if not isinstance(value, str) else value for key, value in row.items()
                )
            )
        (STORE / f"{name}.json").write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
