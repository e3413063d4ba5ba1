"""`python -m benchmarks.reduction`."""

from __future__ import annotations

from benchmarks.reduction.command import main

if __name__ == "__main__":
    main()
