"""Rules over time: how many matches a key has within some time, how many different values, or which in a row.

    event, ids of those who want it
       │ occurrences.py      what counts: when, for which key, as what
       ▼
    waiting ── watermark ──▶ progress.py, one per key ──▶ alerts

`problem.py` says what is asked, `reference.py` what the answer is, `window.py` puts the parts together.
"""

from __future__ import annotations

from thatch.windows.problem import Alert
from thatch.windows.window import Window

__all__ = ["Alert", "Window"]
