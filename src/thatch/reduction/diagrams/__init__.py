"""Covering of pairs by diagrams: who covers a box and whom it covers, in one walk (paper L, section 4)."""

from __future__ import annotations

from thatch.reduction.diagrams.box_diagrams import covers_of
from thatch.reduction.diagrams.judge import DiagramJudge

__all__ = ["DiagramJudge", "covers_of"]
