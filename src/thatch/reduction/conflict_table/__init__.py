"""Paper 000's conflict table: entries, the decisions that need only counting, and the minimised cover set."""

from __future__ import annotations

from thatch.reduction.conflict_table.table import ConflictTable, Reduction, decide

__all__ = ["ConflictTable", "Reduction", "decide"]
