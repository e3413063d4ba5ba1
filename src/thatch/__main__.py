"""`python -m thatch`: the command line, where the command `thatch` is not on the path."""

from __future__ import annotations

from thatch.app.cli import main

if __name__ == "__main__":
    main()
