"""Two-level matching: a fast tier in memory with a budget, and a cold one in a database (paper C, section 5.2)."""

from __future__ import annotations
