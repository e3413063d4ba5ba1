"""Exact group subsumption: branch and bound with geometric resolution and learned boxes."""

from __future__ import annotations

from thatch.reduction.branch_and_bound.checker import UNLIMITED, decide, default_budget, search

__all__ = ["UNLIMITED", "decide", "default_budget", "search"]
