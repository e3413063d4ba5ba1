"""An index over very many boxes: which contain a box, meet it or lie inside it, and whether they cover it together."""

from __future__ import annotations

from thatch.reduction.index.boxindex import BoxIndex
from thatch.reduction.index.questions import DEFAULT_BUDGET
from thatch.reduction.index.workspace import Answers, SparsePoint

__all__ = ["DEFAULT_BUDGET", "Answers", "BoxIndex", "SparsePoint"]
