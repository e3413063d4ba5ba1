"""`python -m benchmarks.matching`."""

from __future__ import annotations

from benchmarks.matching.command import main

if __name__ == "__main__":
    main()
