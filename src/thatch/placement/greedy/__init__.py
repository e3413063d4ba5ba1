"""The greedy algorithms of paper 003, section 3: Gr, Gr*, Gr with eviction, Gr without latency."""

from __future__ import annotations

from thatch.placement.greedy.gr import Eviction, gr, gr_evict, gr_star, gr_without_latency

__all__ = ["Eviction", "gr", "gr_evict", "gr_star", "gr_without_latency"]
