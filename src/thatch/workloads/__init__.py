"""Seeded generators of subscriptions and events: the workloads W1 to W6, and those of the papers."""

from __future__ import annotations

from thatch.workloads.catalogue import NAMES, generate
from thatch.workloads.columns import Cells, Intervals, Kind, Matrix, TextConditions, TextEvents
from thatch.workloads.workload import Workload

__all__ = [
    "NAMES",
    "Cells",
    "Intervals",
    "Kind",
    "Matrix",
    "TextConditions",
    "TextEvents",
    "Workload",
    "generate",
]
