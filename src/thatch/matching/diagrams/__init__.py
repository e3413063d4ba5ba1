"""Filters as chains of predicates that share their ends: decision diagrams with many roots (li2005, section 3)."""

from __future__ import annotations

from thatch.matching.diagrams.index import DiagramIndex

__all__ = ["DiagramIndex"]
