"""Jafarpour and others, Middleware 2008: figures and tables that share a simulation stand in one file."""

from __future__ import annotations

from thatch.experiments.jafarpour2008.boxes import TABLE1, TABLE2
from thatch.experiments.jafarpour2008.choices import FIG12, FIG13, FIG14, FIG15
from thatch.experiments.jafarpour2008.found import FIG10, FIG11
from thatch.experiments.jafarpour2008.rebuild import REBUILD

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (FIG10, FIG11, TABLE1, TABLE2, FIG12, FIG13, FIG14, FIG15, REBUILD)
