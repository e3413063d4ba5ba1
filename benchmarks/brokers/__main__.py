"""`python -m benchmarks.brokers`."""

from __future__ import annotations

from benchmarks.brokers.command import main

if __name__ == "__main__":
    main()
