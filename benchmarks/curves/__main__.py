"""`python -m benchmarks.curves`."""

from __future__ import annotations

from benchmarks.curves.command import main

if __name__ == "__main__":
    main()
