"""Covering of pairs by diagrams: one walk finds who covers a box and whom it covers (li2005, section 4)."""

from __future__ import annotations

from thatch.reduction.diagrams.box_diagrams import find_covers
from thatch.reduction.diagrams.judge import DiagramJudge

__all__ = ["DiagramJudge", "find_covers"]
