"""`python -m benchmarks.planning`."""

from __future__ import annotations

from benchmarks.planning.command import main

if __name__ == "__main__":
    main()
