"""`python -m benchmarks.rules`."""

from __future__ import annotations

from benchmarks.rules.command import main

if __name__ == "__main__":
    main()
