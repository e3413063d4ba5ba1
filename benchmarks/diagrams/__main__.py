"""`python -m benchmarks.diagrams`."""

from __future__ import annotations

from benchmarks.diagrams.command import main

if __name__ == "__main__":
    main()
