"""`python -m benchmarks.merging`."""

from __future__ import annotations

from benchmarks.merging.command import main

if __name__ == "__main__":
    main()
