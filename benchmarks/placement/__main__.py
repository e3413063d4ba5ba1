"""`python -m benchmarks.placement`."""

from __future__ import annotations

from benchmarks.placement.command import main

if __name__ == "__main__":
    main()
