"""`python -m benchmarks.pipeline`."""

from __future__ import annotations

from benchmarks.pipeline.command import main

if __name__ == "__main__":
    main()
