"""Filters as chains of predicates that share their ends: decision diagrams with many roots (paper L, section 3)."""

from __future__ import annotations

from thatch.matching.diagrams.index import DiagramIndex

__all__ = ["DiagramIndex"]
