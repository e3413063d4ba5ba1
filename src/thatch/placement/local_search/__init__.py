"""Local search with rebalancing, from any start: beyond paper 003."""

from __future__ import annotations

from thatch.placement.local_search.search import improved

__all__ = ["improved"]
