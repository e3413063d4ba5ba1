"""`python -m benchmarks.tiering`."""

from __future__ import annotations

from benchmarks.tiering.command import main

if __name__ == "__main__":
    main()
