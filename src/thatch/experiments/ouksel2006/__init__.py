"""Ouksel and others, Middleware 2006: one file for each scenario, with its figures."""

from __future__ import annotations

from thatch.experiments.ouksel2006.comparison import FIG11, FIG12
from thatch.experiments.ouksel2006.extreme_non_cover import FIG9, FIG10
from thatch.experiments.ouksel2006.non_cover import FIG7, FIG8
from thatch.experiments.ouksel2006.redundant_cover import FIG5, FIG6

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (FIG5, FIG6, FIG7, FIG8, FIG9, FIG10, FIG11, FIG12)
