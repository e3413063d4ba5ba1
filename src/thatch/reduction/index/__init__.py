"""Which boxes contain a box, which meet it, and whether they cover it together: an index over very many."""

from __future__ import annotations

from thatch.reduction.index.answers import Answers, SparsePoint
from thatch.reduction.index.boxindex import BoxIndex
from thatch.reduction.index.questions import DEFAULT_BUDGET

__all__ = ["DEFAULT_BUDGET", "Answers", "BoxIndex", "SparsePoint"]
