"""`python -m benchmarks.compare`."""

from __future__ import annotations

from benchmarks.compare.command import main

if __name__ == "__main__":
    main()
